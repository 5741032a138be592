package rates

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// correlated is the share in percent of simulated campaigns of so many blocks that
// pass at a cost of exactly the margin where neighbouring blocks are correlated by 0.3
// and by 0.5 (CALIBRATION.md; a test holds them against it).
var correlated = []neighbours{{6, 4.4, 8.3}, {8, 5.2, 9.6}, {10, 5.5, 10.1}}

type neighbours struct {
	blocks     int
	some, much float64
}

// Show fills in what a PASS rests on beside its bound: how many bad starts so few
// blocks do not exclude, the randomisation p value that needs no shape of the noise
// but its symmetry, and whether neighbouring blocks resemble each other. d is in the
// order of the blocks. Adjusted effects (of orders or hosts) are not symmetric about
// one centre, so their signs are not flipped.
func Show(m *view.Metric, d []float64, adjusted bool, seed uint64) {
	if r, err := stat.Lag1(d); err == nil {
		m.Detail.Lag1 = &r
	}
	if m.Verdict != stat.Pass {
		return
	}
	m.Detail.BadStartsPct = view.Finite(100 * stat.BadStarts(len(d), stat.DefaultAlpha))
	if p, err := stat.SignFlip(d, m.Detail.Margin, seed); err == nil && !adjusted {
		m.Detail.SignFlipP = &p
	}
}

// Robustness sums up in one line what the PASS of a campaign rests on.
func Robustness(gating []*view.Comparison) string {
	var list []view.Placed
	for _, c := range gating {
		list = append(list, c.Primaries()...)
	}
	share := largest(list, func(d *view.Detail) *float64 { return d.BadStartsPct })
	if share == nil {
		return ""
	}
	n := list[0].Detail.N
	line := fmt.Sprintf("%d blocks do not exclude that up to %.0f %% of starts are bad ones", n, *share)
	if p := largest(list, func(d *view.Detail) *float64 { return d.SignFlipP }); p != nil {
		line += fmt.Sprintf("; sign-flip p at the margin at most %.2g", *p)
	}
	if high := largest(list, func(d *view.Detail) *float64 { return d.Lag1 }); high != nil {
		of := nearest(n)
		line += fmt.Sprintf("; lag-1 r of neighbouring blocks at most %+.2f (with an r of 0.3 / 0.5 a cost of the margin passes in %.1f / %.1f %% of campaigns of %d blocks)",
			*high, of.some, of.much, of.blocks)
	}
	return line
}

func largest(list []view.Placed, of func(*view.Detail) *float64) (most *float64) {
	for _, p := range list {
		if p.Detail == nil {
			continue
		}
		if x := of(p.Detail); x != nil && (most == nil || *x > *most) {
			most = x
		}
	}
	return most
}

// nearest is the calibrated number of blocks next to n.
func nearest(n int) neighbours {
	return slices.MinFunc(correlated, func(a, b neighbours) int {
		return cmp.Compare(math.Abs(float64(a.blocks-n)), math.Abs(float64(b.blocks-n)))
	})
}
