package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results/validity"
)

// JUnit writes JUnit XML: a test case for the verdict and, of a finished
// campaign, one for each metric, each validity rule, reliability and stalls. FAIL is
// a failure, INVALID and UNFINISHED are errors, INCONCLUSIVE is a failure with
// its words, or skipped if inconclusivePasses. What decides nothing is skipped, and
// so is a metric that fails by its own bound only.
// A rule's case passes if the rule found nothing. There is a failure or an error
// exactly if opbench gate gives another exit code than 0.
func JUnit(w io.Writer, v *view.View, inconclusivePasses bool) error {
	j := junit{view: v, lenient: inconclusivePasses}
	doc := xmlSuites{Name: "opbench " + line(v.Subject.Scenario)}
	doc.add(j.campaign())
	for i := range v.Comparisons {
		if v.Finished {
			doc.add(j.comparison(&v.Comparisons[i]))
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junit makes test cases of a view.
type junit struct {
	view    *view.View
	lenient bool
}

// grade gives a test case its result.
func (j *junit) grade(t *xmlCase, verdict stat.Verdict, result, words string) {
	o := &xmlOutcome{Type: line(result), Message: line(words)}
	switch {
	case verdict == stat.Pass:
		t.Out = o.Message
	case verdict == stat.Fail, verdict == stat.Inconclusive && !j.lenient:
		t.Failure = o
	case verdict == stat.Inconclusive:
		t.skip(result + ": " + words)
	default:
		t.Error = o
	}
}

func (j *junit) campaign() xmlSuite {
	v := j.view
	s := &v.Subject
	suite := xmlSuite{Name: "campaign", Properties: properties(
		"campaign", s.Campaign, "scenario", s.Scenario, "purpose", s.Purpose, "plan_hash", s.PlanHash, "workload_hash", s.WorkloadHash,
		"engine", s.Engine, "model", s.Model, "hardware", s.Hardware, "versions", s.Versions, "opbench", v.Tool, "rules", v.Rules,
		"result", v.Headline(), "exit_code", strconv.Itoa(v.ExitCode), "error_rate", v.ErrorRate, "aa", v.AA, "reproduce", v.Reproduce)}
	if s.Date != "" {
		suite.Timestamp = line(s.Date) + "T00:00:00"
	}
	t := xmlCase{Class: line(s.Scenario), Name: "verdict"}
	j.grade(&t, v.Verdict, v.Headline(), v.Sentence)
	if o := t.reason(); o != nil {
		o.Text = lines(slices.Concat(v.Notes, v.Next, v.Needs))
	}
	suite.Cases = []xmlCase{t}
	return suite
}

func (j *junit) comparison(c *view.Comparison) xmlSuite {
	suite := xmlSuite{Name: line(c.Candidate) + " against " + line(c.Baseline), Properties: properties("result", c.Result.String(), "identity", c.Identity)}
	class := line(j.view.Subject.Scenario) + "." + suite.Name + "."
	for _, p := range c.Phases {
		for i := range p.Metrics {
			suite.Cases = append(suite.Cases, j.metric(c, &p.Metrics[i], class+line(p.Name)))
		}
	}
	for _, name := range checkNames(c) {
		suite.Cases = append(suite.Cases, j.check(c, name, class+"validity"))
	}
	if c.Stalls != nil {
		suite.Cases = append(suite.Cases, j.stalls(c, class+"validity"))
	}
	return suite
}

func (j *junit) metric(c *view.Comparison, m *view.Metric, class string) xmlCase {
	t := xmlCase{Class: class, Name: m.Label, Properties: properties("metric", m.Name, "unit", m.Unit,
		"baseline", number(m.Baseline), "candidate", number(m.Candidate), "effect_pct", number(m.Effect), "lower_pct", number(m.Lower),
		"upper_pct", number(m.Upper), "margin_pct", number(&m.MarginPct), "pairs", strconv.Itoa(len(m.Pairs)), "result", m.Shown())}
	words := m.Words(j.view)
	switch {
	case !m.Primary:
		t.skip("not primary, decides nothing: " + words)
	case !c.Gating:
		t.skip("equal arms, not gated, " + m.Shown() + ": " + words)
	case m.Unadjusted():
		t.skip(fmt.Sprintf("%s, p %.2g for all %d metrics together: %s", m.Shown(), *m.Detail.PAdjusted, m.Detail.Tests, words))
	case m.Control == nil:
		j.grade(&t, m.Verdict, m.Shown(), words)
	case m.Control.Missed():
		j.grade(&t, stat.Fail, m.Shown(), words)
	case !m.Control.Applied():
		t.skip(m.Shown() + ": " + words)
	default:
		j.grade(&t, stat.Pass, m.Shown(), m.Shown()+": "+words)
	}
	if o := t.reason(); o != nil {
		o.Text = lines(m.Remarks)
	}
	return t
}

// checkNames are the validity rules, reliability, and the reasons of this
// comparison that are neither: those that the report adds.
func checkNames(c *view.Comparison) []view.Reason {
	var names []view.Reason
	for _, rule := range append(validity.Rules(), validity.RuleReliability) {
		names = append(names, view.Reason(rule.Words()))
	}
	for _, r := range slices.Concat(c.Failed, c.Invalid) {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

func (j *junit) check(c *view.Comparison, name view.Reason, class string) xmlCase {
	t := xmlCase{Class: class, Name: line(string(name))}
	failed, invalid := reasons(c.Failed, name), reasons(c.Invalid, name)
	switch {
	case failed == nil && invalid == nil:
	case !c.Gating:
		t.skip("equal arms, not gated: " + strings.Join(append(failed, invalid...), "; "))
	case failed != nil:
		j.grade(&t, stat.Fail, view.NewResult(stat.Fail, name).String(), strings.Join(failed, "; "))
	default:
		j.grade(&t, stat.Invalid, view.NewResult(stat.Invalid, name).String(), strings.Join(invalid, "; "))
	}
	return t
}

func reasons(list []view.Finding, name view.Reason) []string {
	var found []string
	for _, r := range list {
		if r.Name == name {
			found = append(found, r.String())
		}
	}
	return found
}

// stalls decide only where they were flagged and the comparison did not pass
// all the same: a positive control waits on purpose.
func (j *junit) stalls(c *view.Comparison, class string) xmlCase {
	s := c.Stalls
	t := xmlCase{Class: class, Name: "stalls"}
	words := fmt.Sprintf("%s against %d (p = %.2g)", view.Plural(s.Candidate, "stall event", "stall events"), s.Baseline, s.P)
	switch {
	case !s.Flagged || c.Verdict == stat.Pass:
		t.Out = words
	case !c.Gating:
		t.skip("equal arms, not gated: " + words)
	default:
		j.grade(&t, stat.Inconclusive, view.NewResult(stat.Inconclusive, view.ReasonStalls).String(), words)
	}
	return t
}

// number has all digits: it is read back as the number of verdict.json.
func number(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

func lines(list []string) string {
	var clean []string
	for _, s := range list {
		clean = append(clean, line(s))
	}
	return strings.Join(clean, "\n")
}
