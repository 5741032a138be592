package sizing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// powerSlack is an error of the last digits of a float: 90 % is 90 %.
const powerSlack = 1e-9

// concludePower says whether the most blocks of the table are enough for every metric.
// It counts the spreads as observed or given and the effects that are assumed;
// the upper spread and the observed mean are shown beside them.
func concludePower(t *view.PowerTable) {
	most, least := t.Blocks[len(t.Blocks)-1], 0
	var short []string
	for _, g := range t.Groups {
		for _, c := range g.Curves {
			if c.Spread == "upper" || c.Seen {
				continue
			}
			if c.Power[len(c.Power)-1] >= t.PowerPct/100-powerSlack {
				least = max(least, c.Needed)
				continue
			}
			if name := g.Title(c); !slices.Contains(short, name) {
				short = append(short, name)
			}
		}
	}
	if short == nil {
		t.Result, t.ExitCode = view.Enough, view.ExitPass
		t.Sentence = fmt.Sprintf("A plan of %s has a power of %s %% on every metric", view.Plural(least, "block", "blocks"), view.Plain(t.PowerPct))
	} else {
		t.Result, t.ExitCode = view.Underpowered, view.ExitUnderpowered
		t.Sentence = fmt.Sprintf("%s do not have a power of %s %% on %s", view.Plural(most, "block", "blocks"), view.Plain(t.PowerPct), strings.Join(short, ", "))
	}
	if t.Simulated {
		t.Sentence = "Simulated engine, not vLLM: " + t.Sentence
	}
	t.Sentence += "."
}
