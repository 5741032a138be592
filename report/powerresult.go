package report

import (
	"fmt"
	"slices"
	"strings"
)

// resultEnough is the other result of a table of power than UNDERPOWERED.
const resultEnough = "ENOUGH"

// powerSlack is an error of the last digits of a float: 90 % is 90 %.
const powerSlack = 1e-9

// conclude says whether the most blocks of the table are enough for every metric.
// It counts the spreads as observed or given and the effects that are assumed;
// the upper spread and the observed mean are shown beside them.
func (t *PowerTable) conclude() {
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
			if name := g.name(c); !slices.Contains(short, name) {
				short = append(short, name)
			}
		}
	}
	if short == nil {
		t.Result, t.ExitCode = resultEnough, ExitPass
		t.Sentence = fmt.Sprintf("A plan of %s has a power of %s %% on every metric", plural(least, "block", "blocks"), plainNumber(t.PowerPct))
	} else {
		t.Result, t.ExitCode = resultUnderpowered, ExitUnderpowered
		t.Sentence = fmt.Sprintf("%s do not have a power of %s %% on %s", plural(most, "block", "blocks"), plainNumber(t.PowerPct), strings.Join(short, ", "))
	}
	if t.Simulated {
		t.Sentence = "Simulated engine, not vLLM: " + t.Sentence
	}
	t.Sentence += "."
}

// name is a metric of a phase, or one at a given spread.
func (g PowerGroup) name(c PowerCurve) string {
	if g.Phase == "" {
		return g.Label + " with an SD of " + c.spreadText()
	}
	return g.Label + " of " + g.Phase
}
