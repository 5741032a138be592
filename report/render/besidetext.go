package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// amount formats counts without decimals that say nothing.
func amount(x float64, unit string) string {
	switch {
	case unit == "s":
		return view.Amount(&x, unit)
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strings.TrimSpace(view.Group(fmt.Sprintf("%.0f", x)) + " " + unit)
	}
	s := view.Significant(x)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strings.TrimSpace(s + " " + unit)
}

// cell is the mean over the runs, and the worst of them by name.
func cell(q *view.Quantity, r view.Recorded) string {
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

// Cells are the arms' columns of a quantity in tables.
func Cells(q view.Quantity) []string {
	var cells []string
	for _, r := range q.Arms {
		cells = append(cells, cell(&q, r))
	}
	return cells
}

// besideRequests shows the means that are not zero; the rest is left to the page.
func (t textWriter) besideRequests(v *view.View) {
	hasCPU := slices.ContainsFunc(v.Comparisons, func(c view.Comparison) bool { return c.CPU != nil })
	for _, rows := range v.Beside.ByPhase() {
		rows = slices.DeleteFunc(slices.Clone(rows), func(q view.Quantity) bool { return hasCPU && strings.HasPrefix(q.Name, view.CPUOf) })
		if len(rows) > 0 {
			t.item("beside", besideLine(rows))
		}
	}
	if s := v.Beside.Missing(); s != "" {
		t.item("beside", s)
	}
	if v.Beside != nil {
		for _, p := range v.Beside.Problems {
			t.item("beside", p)
		}
	}
}

func besideLine(rows []view.Quantity) string {
	var arms, parts []string
	zeros := 0
	for _, r := range rows[0].Arms {
		arms = append(arms, r.Arm)
	}
	for _, q := range rows {
		if zero(&q) {
			zeros++
			continue
		}
		parts = append(parts, q.Name+" "+means(&q))
	}
	if zeros > 0 {
		parts = append(parts, view.Plural(zeros, "more is", "more are")+" 0 in every run")
	}
	return fmt.Sprintf("%s (%s): %s", rows[0].Where(), strings.Join(arms, " / "), strings.Join(parts, " · "))
}

// means are the arms' means in one expression.
func means(q *view.Quantity) string {
	var list []string
	for _, r := range q.Arms {
		if r.Runs == 0 {
			list = append(list, "not recorded")
			continue
		}
		list = append(list, amount(r.Mean, q.Unit))
	}
	return strings.Join(list, " / ")
}

// zero reports whether all runs of all arms recorded nothing but zeros.
func zero(q *view.Quantity) bool {
	for _, r := range q.Arms {
		if r.Runs == 0 || r.Runs < r.Of || r.Mean != 0 || r.Worst != 0 {
			return false
		}
	}
	return true
}

func (*markdown) besideRequests(v *view.View) string {
	m := &markdown{}
	for _, rows := range v.Beside.ByPhase() {
		m.f("| beside %s%s |", md(rows[0].Where()), simulatedMark(v))
		for _, r := range rows[0].Arms {
			m.f(" %s |", md(r.Arm))
		}
		m.f("\n|---|%s\n", strings.Repeat("---|", len(rows[0].Arms)))
		for _, q := range rows {
			m.f("| %s |", md(q.Name))
			for _, cell := range Cells(q) {
				m.f(" %s |", md(cell))
			}
			m.f("\n")
		}
		m.f("\n")
	}
	if s := v.Beside.Missing(); s != "" {
		m.f("%s\n", md(s))
	}
	if v.Beside != nil {
		for _, p := range v.Beside.Problems {
			m.f("- %s\n", md(p))
		}
	}
	return m.String()
}
