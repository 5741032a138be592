package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// Diagnostic is a look beside the metrics of a comparison. What is not telling
// folds away: in a healthy campaign it only takes room.
type Diagnostic struct {
	Label   string // at most seven letters
	Title   string
	Text    string // all that was seen
	Nothing string // what it comes to where it is not telling
	Telling bool
}

// Diagnostics are the looks that were taken, in the order of reports.
func Diagnostics(c *view.Comparison) (list []Diagnostic) {
	if c.Outputs != nil {
		differs := slices.ContainsFunc(c.Outputs, func(o view.Outputs) bool { return o.Differ() || o.Requests == 0 })
		list = append(list, Diagnostic{"timed", "Timed outputs", view.OutputsLine(c), "no timed request with another output", differs})
	}
	if s := c.Stalls; s != nil {
		list = append(list, Diagnostic{"stalls", "Stalls", view.StallLine(c), "no stalls", s.Baseline+s.Candidate > 0})
	}
	if c.Growth != nil {
		text, flagged := growthLine(c.Growth)
		list = append(list, Diagnostic{"within", "Within runs", text, "no effect that grows within runs", flagged})
	}
	if c.ProbeLag != nil {
		text, telling := lagLine(c.ProbeLag)
		list = append(list, Diagnostic{"lag", "Client lateness", text, "no bias by the client's own lateness", telling})
	}
	return list
}

// Quiet joins what the looks that are not telling come to; "" if all are.
func Quiet(list []Diagnostic) string {
	var parts []string
	for _, d := range list {
		if !d.Telling {
			parts = append(parts, d.Nothing)
		}
	}
	return strings.Join(parts, " · ")
}

// leastLagPct is a bias that begins to matter: a sixth of the limit at a margin of
// 3 %, and the least that shows as more than 0.0 %.
const leastLagPct = 0.05

func lagLine(list []view.ProbeLag) (text string, telling bool) {
	var parts []string
	for _, l := range list {
		parts = append(parts, fmt.Sprintf("%s %s %s %% [%s, %s]", l.Phase, l.Of, view.Hundredths(l.MeanPct), view.Hundredths(l.Lower), view.Hundredths(l.Upper)))
		telling = telling || l.Invalid || max(math.Abs(l.Lower), math.Abs(l.Upper)) >= leastLagPct
	}
	return "bias by the client's own lateness, 99 %: " + strings.Join(parts, " · "), telling
}

func growthLine(list []view.Growth) (text string, flagged bool) {
	var parts []string
	for _, g := range list {
		part := fmt.Sprintf("%s, %s %s (p = %.2g)", g.Metric, g.Phase, view.Percent(g.Pct, view.NoMargin), g.P)
		if g.Flagged {
			part = moves(g.Pct) + ": " + part
		}
		parts, flagged = append(parts, part), flagged || g.Flagged
	}
	return "effect at the end of a run minus that at its beginning: " + strings.Join(parts, " · "), flagged
}

// moves says which way an effect goes within runs.
func moves(pct float64) string {
	if pct < 0 {
		return "SHRINKS"
	}
	return "GROWS"
}
