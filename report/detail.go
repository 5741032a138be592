package report

import (
	"fmt"
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
