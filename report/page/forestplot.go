package page

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Heights of a forest plot in pixels.
const (
	forestRowHeight = 46
	forestHead      = 24 // the name of a phase above its rows
	forestTop       = 8
)

// forestPlot is a forest plot, ready to be drawn.
type forestPlot struct {
	ID, Of       string // Of names the arms
	Height, Base int    // of the image and of its axis line
	Zero, Limit  string
	LimitLabel   string
	Cut          string // said where an interval goes on beyond the edge
	Ticks        []tick
	Heads        []forestName // one for each phase
	Rows         []forestMark
}

// forestName is the name of a phase above its metrics: together on one line they
// would not fit a phone.
type forestName struct {
	Name         string
	MaskY, TextY int
}

// forestMark is one interval of a forest plot, with its text above it.
type forestMark struct {
	Name            string // within the phase
	Label, Text     string
	MaskY, TextY, Y int
	From, To, At    string
	Tone            stat.Verdict
	Word            string // the verdict
	Marker          string // path of the estimate's shape; "" if it lies beyond an edge
	Arrows          []edgeArrow
	Margin          float64
	LowerText       string
	EffectText      string
	UpperText       string
}

func newForestPlot(c *view.Comparison, index int) *forestPlot {
	rows := render.ForestRows(c)
	if len(rows) == 0 {
		return nil
	}
	a := render.ForestAxis(rows)
	p := &forestPlot{
		ID:         fmt.Sprintf("forest-%d", index),
		Of:         c.Candidate + " against " + c.Baseline,
		Zero:       share(a.At(0)),
		Limit:      share(a.At(rows[0].Limit)),
		LimitLabel: view.Plain(rows[0].Limit) + " %",
		Ticks:      percentTicks(a, 6),
	}
	if slices.ContainsFunc(rows, a.Cuts) {
		p.Cut = "arrow: " + render.GoesOn
	}
	top := forestTop
	for i, r := range rows {
		if i == 0 || r.Phase != rows[i-1].Phase {
			p.Heads = append(p.Heads, forestName{r.Phase, top, top + 15})
			top += forestHead
		}
		mark := forestMark{
			Name: r.Label, Label: r.Label + " · " + r.Phase, Text: view.Percent(r.Upper, r.Limit) + " " + r.Word,
			MaskY: top, TextY: top + 14, Y: top + 29, From: share(a.At(r.Lower)), To: share(a.At(r.Upper)), At: share(a.At(r.Effect)),
			Tone: r.Tone, Word: r.Word, Marker: markers[r.Tone], Margin: r.Limit,
			LowerText: view.Percent(r.Lower, r.Limit), EffectText: view.Percent(r.Effect, r.Limit), UpperText: view.Percent(r.Upper, r.Limit),
			Arrows: forestArrows(a, r.Lower, r.Upper),
		}
		if a.Beyond(r.Effect) != 0 {
			mark.Marker = ""
		}
		p.Rows = append(p.Rows, mark)
		top += forestRowHeight
	}
	p.Base = top
	p.Height = p.Base + 22
	return p
}

// edgeArrow points over an edge of a plot, beyond which something goes on.
type edgeArrow struct{ X, Path string }

// forestArrows are those of an interval that does not fit.
func forestArrows(a render.Axis, lower, upper float64) (arrows []edgeArrow) {
	if a.Beyond(lower) < 0 {
		arrows = append(arrows, edgeArrow{"0%", "M0,0L7,-5V5z"})
	}
	if a.Beyond(upper) > 0 {
		arrows = append(arrows, edgeArrow{"100%", "M0,0L-7,-5V5z"})
	}
	return arrows
}

// percentTicks keeps the labels at the ends inside the image.
func percentTicks(a render.Axis, n int) []tick {
	var ticks []tick
	for _, x := range a.Ticks(n) {
		t := tick{At: share(a.At(x)), Label: view.Plain(x) + " %", Anchor: "middle"}
		switch at := a.At(x); {
		case at < 0.04:
			t.Anchor = "start"
		case at > 0.96:
			t.Anchor = "end"
		}
		ticks = append(ticks, t)
	}
	return ticks
}
