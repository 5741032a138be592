package evidence

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

const (
	// leastThrottled is by how much the share of throttled samples has to differ.
	leastThrottled = 0.1
	// covariateConfidence is the two-sided confidence with which arms have to differ.
	covariateConfidence = 0.99
	// idleReason says that a GPU had nothing to do, which is no throttling.
	idleReason = throttledBy + "gpu_idle"
)

// Covariates says where the two arms of a comparison ran on a host of another speed:
// GPU clocks that differ by more than a third of the margin, and throttling by more
// than ten points of the samples, in the mean of the blocks and surely (t over the
// blocks, 99 %). An effect may be that of the host then; or it is the candidate that
// heats the GPU. It is told and decides nothing. Empty if nothing differs.
func Covariates(in *accept.Accepted, c *view.Comparison) string {
	var told []string
	for _, phase := range in.Scenario.Phases {
		for _, one := range gpuProbes(in) {
			clock := strings.HasSuffix(one.name, "clock")
			if !clock && (!strings.HasPrefix(one.name, throttledBy) || one.name == idleReason) {
				continue
			}
			if s := conditionOf(in, c, phase.Name, one, clock); s != "" {
				told = append(told, s)
			}
		}
	}
	if told == nil {
		return ""
	}
	return fmt.Sprintf("the host ran at another speed under %s than under %s, so an effect may be the host's: %s", c.Candidate, c.Baseline, strings.Join(told, "; "))
}

// conditionOf compares one quantity block by block; "" if it does not differ.
func conditionOf(in *accept.Accepted, c *view.Comparison, phase string, one probe, clock bool) string {
	var d []float64
	var base, cand float64
	for i := range in.Blocks {
		x, found := read(in.Blocks[i].Runs[c.Baseline], phase, one)
		y, also := read(in.Blocks[i].Runs[c.Candidate], phase, one)
		if !found || !also || clock && !(x > 0 && y > 0) {
			continue
		}
		base, cand = base+x, cand+y
		if clock {
			d = append(d, math.Log(y/x))
		} else {
			d = append(d, (y-x)/100)
		}
	}
	least := leastThrottled
	if clock {
		least = in.Scenario.Gate.Margin / 3
	}
	if !differs(d, least) {
		return ""
	}
	n := float64(len(d))
	base, cand = base/n, cand/n
	return fmt.Sprintf("%s in %s: %.0f %s under %s, %.0f %s under %s", one.name, phase, base, one.unit, c.Baseline, cand, one.unit, c.Candidate)
}

func read(a *accept.Run, phase string, one probe) (float64, bool) {
	if a == nil || a.Run == nil {
		return 0, false
	}
	p := a.Phase(phase)
	if p == nil {
		return 0, false
	}
	x, ok := one.read(p)
	return x.mean, ok
}

// differs reports whether the mean lies beyond least, and surely on its side of zero.
func differs(d []float64, least float64) bool {
	if len(d) < 2 {
		return false
	}
	mean := 0.0
	for _, x := range d {
		mean += x / float64(len(d))
	}
	if math.Abs(mean) <= least {
		return false
	}
	within, err := stat.TInterval(d, covariateConfidence)
	return errors.Is(err, stat.ErrZeroVariance) || within.Lo > 0 || within.Hi < 0
}
