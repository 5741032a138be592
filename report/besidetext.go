package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// allRuns is what a quantity of no single phase stands under.
const allRuns = "whole run"

// byPhase splits the quantities, which are in the order of the phases.
func (s *Beside) byPhase() (groups [][]Quantity) {
	if s == nil {
		return nil
	}
	for i, q := range s.Quantities {
		if i == 0 || q.Phase != s.Quantities[i-1].Phase {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], q)
	}
	return groups
}

func (q *Quantity) where() string {
	if q.Phase == "" {
		return allRuns
	}
	return q.Phase
}

// missing says what was not recorded; empty if nothing is missing.
func (s *Beside) missing() string {
	if s == nil || len(s.NotRecorded) == 0 {
		return ""
	}
	return "not recorded: " + strings.Join(s.NotRecorded, ", ")
}

// amount formats counts without decimals that say nothing.
func amount(x float64, unit string) string {
	switch {
	case unit == "s":
		return quantity(&x, unit)
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strings.TrimSpace(group(fmt.Sprintf("%.0f", x)) + " " + unit)
	}
	s := significant(x)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strings.TrimSpace(s + " " + unit)
}

// cell is the mean over the runs, and the worst of them by name.
func (q *Quantity) cell(r Recorded) string {
	if r.Runs == 0 {
		return "not recorded"
	}
	s := amount(r.Mean, q.Unit)
	if r.WorstRun != "" {
		s += fmt.Sprintf("; worst %s (%s)", amount(r.Worst, q.Unit), r.WorstRun)
	}
	if r.Runs < r.Of {
		s += fmt.Sprintf("; in %d of %d runs", r.Runs, r.Of)
	}
	return s
}

// Cells are the arms' columns in tables.
func (q Quantity) Cells() []string {
	var cells []string
	for _, r := range q.Arms {
		cells = append(cells, q.cell(r))
	}
	return cells
}

// besideRequests shows the means that are not zero; the rest is left to the page.
func (t textWriter) besideRequests(v *View) {
	hasCPU := slices.ContainsFunc(v.Comparisons, func(c Comparison) bool { return c.CPU != nil })
	for _, rows := range v.Beside.byPhase() {
		rows = slices.DeleteFunc(slices.Clone(rows), func(q Quantity) bool { return hasCPU && strings.HasPrefix(q.Name, cpuOf) })
		if len(rows) > 0 {
			t.item("beside", besideLine(rows))
		}
	}
	if s := v.Beside.missing(); s != "" {
		t.item("beside", s)
	}
	if v.Beside != nil {
		for _, p := range v.Beside.Problems {
			t.item("beside", p)
		}
	}
}

func besideLine(rows []Quantity) string {
	var arms, parts []string
	zero := 0
	for _, r := range rows[0].Arms {
		arms = append(arms, r.Arm)
	}
	for _, q := range rows {
		if q.zero() {
			zero++
			continue
		}
		parts = append(parts, q.Name+" "+q.means())
	}
	if zero > 0 {
		parts = append(parts, fmt.Sprintf("%d more are 0 in every run", zero))
	}
	return fmt.Sprintf("%s (%s): %s", rows[0].where(), strings.Join(arms, " / "), strings.Join(parts, " · "))
}

// means are the arms' means in one expression.
func (q *Quantity) means() string {
	var means []string
	for _, r := range q.Arms {
		if r.Runs == 0 {
			means = append(means, "not recorded")
			continue
		}
		means = append(means, amount(r.Mean, q.Unit))
	}
	return strings.Join(means, " / ")
}

// zero reports whether all runs of all arms recorded nothing but zeros.
func (q *Quantity) zero() bool {
	for _, r := range q.Arms {
		if r.Runs == 0 || r.Runs < r.Of || r.Mean != 0 || r.Worst != 0 {
			return false
		}
	}
	return true
}

func (*markdown) besideRequests(v *View) string {
	m := &markdown{}
	for _, rows := range v.Beside.byPhase() {
		m.f("| beside %s%s |", md(rows[0].where()), simulatedMark(v))
		for _, r := range rows[0].Arms {
			m.f(" %s |", md(r.Arm))
		}
		m.f("\n|---|%s\n", strings.Repeat("---|", len(rows[0].Arms)))
		for _, q := range rows {
			m.f("| %s |", md(q.Name))
			for _, cell := range q.Cells() {
				m.f(" %s |", md(cell))
			}
			m.f("\n")
		}
		m.f("\n")
	}
	if s := v.Beside.missing(); s != "" {
		m.f("%s\n", md(s))
	}
	if v.Beside != nil {
		for _, p := range v.Beside.Problems {
			m.f("- %s\n", md(p))
		}
	}
	return m.String()
}
