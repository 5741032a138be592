package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results/validity"
)

// JUnit writes JUnit XML: a test case for the verdict and, of a finished
// campaign, one for each metric, each validity rule, reliability and stalls. FAIL is
// a failure, INVALID and UNFINISHED are errors, INCONCLUSIVE is a failure with
// its words, or skipped if inconclusivePasses. What decides nothing is skipped.
// A rule's case passes if the rule found nothing. There is a failure or an error
// exactly if opbench gate gives another exit code than 0.
func JUnit(w io.Writer, v *report.View, inconclusivePasses bool) error {
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
	view    *report.View
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
		"result", v.Result, "exit_code", strconv.Itoa(v.ExitCode), "error_rate", v.ErrorRate, "aa", v.AA, "reproduce", v.Reproduce)}
	if s.Date != "" {
		suite.Timestamp = line(s.Date) + "T00:00:00"
	}
	t := xmlCase{Class: line(s.Scenario), Name: "verdict"}
	j.grade(&t, v.Verdict, v.Result, v.Sentence)
	if o := t.reason(); o != nil {
		o.Text = lines(slices.Concat(v.Notes, v.Next, v.Needs))
	}
	suite.Cases = []xmlCase{t}
	return suite
}

func (j *junit) comparison(c *report.Comparison) xmlSuite {
	suite := xmlSuite{Name: line(c.Candidate) + " against " + line(c.Baseline), Properties: properties("result", c.Result, "identity", c.Identity)}
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

func (j *junit) metric(c *report.Comparison, m *report.Metric, class string) xmlCase {
	t := xmlCase{Class: class, Name: m.Label, Properties: properties("metric", m.Name, "unit", m.Unit,
		"baseline", number(m.Baseline), "candidate", number(m.Candidate), "effect_pct", number(m.Effect), "lower_pct", number(m.Lower),
		"upper_pct", number(m.Upper), "margin_pct", number(&m.MarginPct), "pairs", strconv.Itoa(len(m.Pairs)), "result", m.Result)}
	words := m.Words(j.view)
	switch {
	case !m.Primary:
		t.skip("not primary, decides nothing: " + words)
	case !c.Gating:
		t.skip("equal arms, not gated, " + m.Result + ": " + words)
	case m.Control == nil:
		j.grade(&t, m.Verdict, m.Result, words)
	case m.Control.Missed():
		j.grade(&t, stat.Fail, m.Result, words)
	case !m.Control.Applied():
		t.skip(m.Result + ": " + words)
	default:
		j.grade(&t, stat.Pass, m.Result, m.Result+": "+words)
	}
	if o := t.reason(); o != nil {
		o.Text = lines(m.Remarks)
	}
	return t
}

// checkNames are the validity rules, reliability, and the reasons of this
// comparison that are neither: those that the report adds.
func checkNames(c *report.Comparison) []string {
	var names []string
	for _, rule := range append(validity.Rules(), validity.RuleReliability) {
		names = append(names, rule.Words())
	}
	for _, r := range slices.Concat(c.Failed, c.Invalid) {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

func (j *junit) check(c *report.Comparison, name, class string) xmlCase {
	t := xmlCase{Class: class, Name: line(name)}
	failed, invalid := reasons(c.Failed, name), reasons(c.Invalid, name)
	switch {
	case failed == nil && invalid == nil:
	case !c.Gating:
		t.skip("equal arms, not gated: " + strings.Join(append(failed, invalid...), "; "))
	case failed != nil:
		j.grade(&t, stat.Fail, "FAIL("+name+")", strings.Join(failed, "; "))
	default:
		j.grade(&t, stat.Invalid, "INVALID("+name+")", strings.Join(invalid, "; "))
	}
	return t
}

func reasons(list []report.Reason, name string) []string {
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
func (j *junit) stalls(c *report.Comparison, class string) xmlCase {
	s := c.Stalls
	t := xmlCase{Class: class, Name: "stalls"}
	words := fmt.Sprintf("%d stall events against %d (p = %.2g)", s.Candidate, s.Baseline, s.P)
	switch {
	case !s.Flagged || c.Verdict == stat.Pass:
		t.Out = words
	case !c.Gating:
		t.skip("equal arms, not gated: " + words)
	default:
		j.grade(&t, stat.Inconclusive, "INCONCLUSIVE(stalls)", words)
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
