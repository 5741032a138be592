package report

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
)

// Heights of a forest plot in pixels.
const (
	forestRowHeight = 46
	forestHead      = 24 // the name of a phase above its rows
	forestTop       = 8
)

// tick is a labelled line of an axis. Anchor keeps its label inside the image.
type tick struct{ At, Label, Anchor string }

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
	Marker          string // path of the estimate's shape
	Margin          float64
	LowerText       string
	EffectText      string
	UpperText       string
}

// markers give every verdict a shape of its own, and a metric that a control did
// not reach.
var markers = map[stat.Verdict]string{
	stat.Pass:         "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",                       // circle
	stat.Fail:         "M-5,-5h10v10h-10z",                                           // square
	stat.Inconclusive: "M0,-6.5L6.5,0L0,6.5L-6.5,0z",                                 // diamond
	"":                "M0,-5.5L6,5H-6z",                                             // triangle
	stat.Invalid:      "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0z", // cross
}

func newForestPlot(c *Comparison, index int) *forestPlot {
	rows := forestRows(c)
	if len(rows) == 0 {
		return nil
	}
	a := forestAxis(rows)
	p := &forestPlot{
		ID:         fmt.Sprintf("forest-%d", index),
		Of:         c.Candidate + " against " + c.Baseline,
		Zero:       share(a.at(0)),
		Limit:      share(a.at(rows[0].limit)),
		LimitLabel: plainNumber(rows[0].limit) + " %",
		Ticks:      percentTicks(a, 6),
	}
	if slices.ContainsFunc(rows, a.cuts) {
		p.Cut = goesOn
	}
	top := forestTop
	for i, r := range rows {
		if i == 0 || r.phase != rows[i-1].phase {
			p.Heads = append(p.Heads, forestName{r.phase, top, top + 15})
			top += forestHead
		}
		p.Rows = append(p.Rows, forestMark{
			Name: r.label, Label: r.label + " · " + r.phase, Text: trimmed(percent(r.upper, r.limit)) + " " + r.word,
			MaskY: top, TextY: top + 14, Y: top + 29, From: share(a.at(r.lower)), To: share(a.at(r.upper)), At: share(a.at(r.effect)),
			Tone: r.tone, Word: r.word, Marker: markers[r.tone], Margin: r.limit,
			LowerText: trimmed(percent(r.lower, r.limit)), EffectText: trimmed(percent(r.effect, r.limit)), UpperText: trimmed(percent(r.upper, r.limit)),
		})
		top += forestRowHeight
	}
	p.Base = top
	p.Height = p.Base + 22
	return p
}

// percentTicks keeps the labels at the ends inside the image.
func percentTicks(a axis, n int) []tick {
	var ticks []tick
	for _, x := range a.ticks(n) {
		t := tick{At: share(a.at(x)), Label: plainNumber(x) + " %", Anchor: "middle"}
		switch at := a.at(x); {
		case at < 0.04:
			t.Anchor = "start"
		case at > 0.96:
			t.Anchor = "end"
		}
		ticks = append(ticks, t)
	}
	return ticks
}
