package render

import (
	"fmt"

	"github.com/aituner/opprof/report/view"
)

// DetailColumns head the table of interval parts.
var DetailColumns = []string{
	"blocks", "SD of d", "t", "bootstrap-t", "one-sided 95 %",
	"percentile (not used: undercovers at this n)", "BCa (not used: undercovers at this n)", "order effect (adjusted p)",
}

// DetailCells are the cells of a metric below DetailColumns.
func DetailCells(p view.Placed) []string {
	d := p.Detail
	cells := []string{
		fmt.Sprint(d.N), fmt.Sprintf("%.4f", d.SD), span(p, &d.T), span(p, d.BootT),
		"≤ " + view.Percent(d.OneSided95, p.MarginPct), span(p, d.Percentile), span(p, d.BCa), "-",
	}
	if d.OrderPct != nil && d.OrderP != nil {
		cells[len(cells)-1] = fmt.Sprintf("%s (%.2g)", view.Percent(*d.OrderPct, view.NoMargin), *d.OrderP)
	}
	return cells
}

// span writes an interval without brackets, which Markdown would read as a link.
func span(p view.Placed, i *[2]float64) string {
	if i == nil {
		return "-"
	}
	return view.Percent(i[0], p.MarginPct) + " to " + view.Percent(i[1], p.MarginPct)
}
