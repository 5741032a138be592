package report

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/stat"
)

// detailColumns head the table of interval parts.
var detailColumns = []string{
	"blocks", "SD of d", "t", "bootstrap-t", "one-sided 95 %",
	"percentile (not used: undercovers at this n)", "BCa (not used: undercovers at this n)", "order effect (adjusted p)",
}

// DetailCells are the cells of a metric below detailColumns. It is exported for
// the page template only, which can call nothing else.
func (p primary) DetailCells() []string {
	d := p.Detail
	cells := []string{
		fmt.Sprint(d.N), fmt.Sprintf("%.4f", d.SD), p.span(&d.T), p.span(d.BootT),
		"≤ " + trimmed(percent(d.OneSided95, p.MarginPct)), p.span(d.Percentile), p.span(d.BCa), "-",
	}
	if d.OrderPct != nil && d.OrderP != nil {
		cells[len(cells)-1] = fmt.Sprintf("%s (%.2g)", trimmed(percent(*d.OrderPct, noMargin)), *d.OrderP)
	}
	return cells
}

// span writes an interval without brackets, which Markdown would read as a link.
func (p primary) span(i *[2]float64) string {
	if i == nil {
		return "-"
	}
	return trimmed(percent(i[0], p.MarginPct)) + " to " + trimmed(percent(i[1], p.MarginPct))
}

// hostRemark shows the effect on every host and whether they differ by more than
// their noise. Hosts have numbers: their names are nobody's business.
func (m *Metric) hostRemark(e stat.Estimate) {
	if len(e.Hosts) < 2 {
		return
	}
	text := ""
	for i, h := range e.Hosts {
		text += fmt.Sprintf("host %d: %s in %s, ", i+1, trimmed(percent(m.percent(h.Mean), noMargin)), plural(h.N, "block", "blocks"))
	}
	m.Remarks = append(slices.Clone(m.Remarks), text+fmt.Sprintf("Cochran's Q %.2f (p = %.2g)", e.Q, e.QP))
}
