package sizing

import (
	"fmt"
	"math"
	"slices"

	"github.com/aituner/opprof/report/view"
)

// powerSlack is an error of the last digits of a float: 90 % is 90 %.
const powerSlack = 1e-9

// concludePower says whether the most blocks of the table are enough for the campaign:
// for all metrics at once. It counts the spreads as observed or given and the effects
// that are assumed; the upper spread and the observed mean are shown beside them, and so
// is what metrics would have that move as one.
func concludePower(t *view.PowerTable) {
	most, least, worst := t.Blocks[len(t.Blocks)-1], 0, 1.0
	var short *view.PowerGroup
	several := slices.ContainsFunc(t.Groups, func(g view.PowerGroup) bool { return g.Whole })
	for i := range t.Groups {
		g := &t.Groups[i]
		for _, c := range g.Curves {
			if several && !g.Whole || g.Correlation != nil && *g.Correlation == 1 || c.Spread == "upper" || c.Seen {
				continue
			}
			least = max(least, c.Needed)
			if p := c.Power[len(c.Power)-1]; p < t.PowerPct/100-powerSlack && p < worst {
				worst, short = p, g
			}
		}
	}
	wanted := view.Plain(t.PowerPct)
	if short == nil {
		t.Result, t.ExitCode = view.Enough, view.ExitPass
		t.Sentence = fmt.Sprintf("A plan of %s passes on all metrics with a power of %s %%", view.Plural(least, "block", "blocks"), wanted)
	} else {
		t.Result, t.ExitCode = view.Underpowered, view.ExitUnderpowered
		t.Sentence = fmt.Sprintf("%s do not have a power of %s %% that all metrics pass: they have %.0f %%", view.Plural(most, "block", "blocks"), wanted, math.Floor(100*worst))
		if short.Correlation != nil {
			t.Sentence += fmt.Sprintf(" with an SD of %s, if metrics have nothing in common", short.Curves[0].SpreadText())
		} else if !several {
			t.Sentence += " on " + short.Title(short.Curves[0])
		}
	}
	if t.Simulated {
		t.Sentence = "Simulated engine, not vLLM: " + t.Sentence
	}
	t.Sentence += "."
}
