package render

import (
	"fmt"
	"slices"
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
	for _, c := range v.Causes {
		if !c.Told {
			t.item("cause", c.Line())
		}
	}
	for _, line := range runLines(v.Runs) {
		t.item("run", line)
	}
	for _, a := range v.Aborted {
		t.item("aborted", fmt.Sprintf("block %s, attempt %d, arm %s: %s", a.Block, a.Attempt, a.Arm, a.Why))
	}
}

// runLines shows every run that did not simply count; those of a block's attempt to
// which the same happened share a line, and so do attempts.
func runLines(runs []view.Run) (lines []string) {
	var list []*fated
	for i := 0; i < len(runs); {
		first := &runs[i]
		one := &fated{runs: []string{runName(first)}, attempts: []string{fmt.Sprint(first.Attempt)}, words: fate(runs, i)}
		for i++; i < len(runs) && sameAttempt(&runs[i], first) && fate(runs, i) == one.words; i++ {
			one.runs = append(one.runs, runName(&runs[i]))
		}
		if first.State != view.RunValid && first.State != view.RunBurnIn || len(first.Findings)+len(first.Warnings) > 0 {
			list = append(list, one)
		}
	}
	for i := 0; i < len(list); {
		one := list[i]
		for i++; i < len(list) && list[i].like(one); i++ {
			one.attempts = append(one.attempts, list[i].attempts...)
		}
		lines = append(lines, one.String())
	}
	return lines
}

// fated are runs of a block to which the same happened.
type fated struct {
	runs, attempts []string
	words          string
}

func (f *fated) like(other *fated) bool {
	sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
	return f.words == other.words && slices.Equal(sorted(f.runs), sorted(other.runs))
}

func (f *fated) String() string {
	attempt := "attempt "
	if len(f.attempts) > 1 {
		attempt = "attempts "
	}
	return strings.Join(f.runs, ", ") + " " + attempt + strings.Join(f.attempts, ", ") + ": " + f.words
}

func sameAttempt(x, y *view.Run) bool { return x.Block == y.Block && x.Attempt == y.Attempt }

// fate says what a run is worth. That of a void run is the words of one that broke no
// rule, if its attempt has one: they name the rules and arms of the others.
func fate(runs []view.Run, i int) string {
	r := &runs[i]
	if r.State == view.RunVoid && len(r.Warnings) == 0 {
		for k := range runs {
			if x := &runs[k]; sameAttempt(x, r) && x.State == view.RunVoid && len(x.Findings)+len(x.Warnings) == 0 {
				return runWords(x)
			}
		}
	}
	return runWords(r)
}

func runLine(r *view.Run) string {
	return fmt.Sprintf("%s attempt %d: %s", runName(r), r.Attempt, runWords(r))
}

func runName(r *view.Run) string { return r.Block + "/" + r.Arm }

// runWords says what a run is worth and names the rules that it broke: the findings
// and the causes have their words.
func runWords(r *view.Run) string {
	line := string(r.State)
	if why := RunWhy(r); why != "" {
		line += ": " + why
	}
	for _, w := range r.Warnings {
		line += " · warning: " + w
	}
	return line
}

// RunWhy is why a run does not count, or not without doubt.
func RunWhy(r *view.Run) string {
	var parts []string
	for _, part := range []string{r.Why, view.Names(r.Findings)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// context ends the report: earlier campaigns, machine, how to do it again.
func (t textWriter) context(v *view.View) {
	for _, e := range v.Earlier {
		t.item("earlier", fmt.Sprintf("%s: %s (plan %s)", e.Campaign, e.Verdict, view.ShortHash(e.PlanHash)))
	}
	if !v.Nothing() { // else it says nothing about a measurement; the page has it
		t.environment(v.Environment)
		for _, a := range v.Subject.Arms {
			t.item("arm", armLine(&a))
		}
		t.item("seeds", seedLine(v.Subject.Seeds))
	}
	if v.ErrorRate != "" {
		t.item("error", v.ErrorRate)
	}
	t.item("again", v.Reproduce)
	t.item("tool", fmt.Sprintf("opbench %s, rules %s, campaign %s", v.Tool, v.RulesLine(), v.Subject.Campaign))
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
