package render

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/view"
)

func (t textWriter) recorders(v *view.View) {
	for _, r := range v.Recorders {
		t.item("steps", RecorderLine(&r))
	}
}

func RecorderLine(r *view.Recorder) string {
	line := fmt.Sprintf("%s: %s bytes/step, backlog high watermark %d of %d, %d dropped, %s in %s", r.Arm,
		view.Significant(r.BytesPerStep), r.BacklogMax, r.BacklogLimit, r.Dropped,
		view.Plural(int(r.Records), "record", "records"), view.Plural(r.Runs, "run", "runs"))
	for _, s := range r.StepTimes {
		line += fmt.Sprintf(" · step time p50 %s (%s)", view.Amount(&s.P50, "s"), s.Phase)
	}
	return line
}

// runs counts the attempts and shows every one that did not simply count.
func (t textWriter) runs(v *view.View) {
	n := v.Blocks
	t.item("valid", fmt.Sprintf("%d of %d blocks (%s), %s void, %s · A/A: %s", n.Valid, n.Planned,
		view.Plural(n.ValidRuns, "run", "runs"), view.Plural(n.Voided, "attempt", "attempts"), view.Plural(n.BurnIn, "burn-in block", "burn-in blocks"), v.AA))
	for _, r := range v.Runs {
		if r.State != view.RunValid && r.State != view.RunBurnIn || len(r.Findings)+len(r.Warnings) > 0 {
			t.item("run", runLine(&r))
		}
	}
	for _, a := range v.Aborted {
		t.item("aborted", fmt.Sprintf("block %s, attempt %d, arm %s: %s", a.Block, a.Attempt, a.Arm, a.Why))
	}
}

func runLine(r *view.Run) string {
	line := fmt.Sprintf("%s/%s attempt %d: %s", r.Block, r.Arm, r.Attempt, r.State)
	if r.Why != "" {
		line += ": " + r.Why
	}
	for _, f := range r.Findings {
		line += " · " + f.String()
	}
	for _, w := range r.Warnings {
		line += " · warning: " + w
	}
	return line
}

// context ends the report: earlier campaigns, machine, how to do it again.
func (t textWriter) context(v *view.View) {
	for _, e := range v.Earlier {
		t.item("earlier", fmt.Sprintf("%s: %s (plan %s)", e.Campaign, e.Verdict, view.ShortHash(e.PlanHash)))
	}
	t.environment(v.Environment)
	for _, a := range v.Subject.Arms {
		t.item("arm", armLine(&a))
	}
	t.item("seeds", seedLine(v.Subject.Seeds))
	if v.ErrorRate != "" {
		t.item("error", v.ErrorRate)
	}
	t.item("again", v.Reproduce)
	t.item("tool", fmt.Sprintf("opbench %s, rules %s, campaign %s", v.Tool, v.Rules, v.Subject.Campaign))
}

// shortFact is the length up to which facts share a paragraph. Longer ones that
// are equal in all runs are left to the page, but for the command.
const shortFact = 50

func (t textWriter) environment(facts []view.Fact) {
	var short []string
	for _, f := range facts {
		if line := factLine(&f); f.By == nil && len(line) <= shortFact {
			short = append(short, line)
		}
	}
	if short != nil {
		t.item("host", strings.Join(short, " · "))
	}
	left := 0
	for _, f := range facts {
		line := factLine(&f)
		switch {
		case f.By == nil && len(line) <= shortFact:
		case f.By == nil && !strings.HasPrefix(f.Name, "command"):
			left++
		default:
			t.item("host", line)
		}
	}
	if left > 0 {
		t.item("host", fmt.Sprintf("%s equal in all runs: see report.html", view.Plural(left, "longer fact is", "longer facts are")))
	}
}

func factLine(f *view.Fact) string {
	if f.By == nil {
		return f.Name + ": " + f.Value
	}
	var parts []string
	for _, d := range f.By {
		parts = append(parts, fmt.Sprintf("%s (%s)", d.Value, strings.Join(d.Runs, ", ")))
	}
	return f.Name + " DIFFERS: " + strings.Join(parts, " · ")
}

func armLine(a *view.Arm) string {
	line := a.Name + ": patch " + a.Patch
	if a.PatchSHA256 != "" {
		line += fmt.Sprintf(" (sha256 %.12s)", a.PatchSHA256)
	}
	if a.Records {
		line += ", recorder on"
	}
	return line
}

func seedLine(seeds []view.Seed) string {
	var parts []string
	for _, s := range seeds {
		parts = append(parts, fmt.Sprintf("%s %d", s.Of, s.Seed))
	}
	return strings.Join(parts, " · ")
}
