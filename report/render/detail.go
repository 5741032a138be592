package render

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// DetailColumns head the table of interval parts.
var DetailColumns = []string{
	"blocks", "SD of d", "t", "bootstrap-t", "one-sided 95 %",
	"percentile (not used: undercovers at this n)", "BCa (not used: undercovers at this n)", "order effect (adjusted p)",
	"robustness: sign-flip p at the margin, lag-1 r, bad starts not excluded",
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
	return append(cells, robustness(d))
}

// robustness is what a metric rests on beside its bound.
func robustness(d *view.Detail) string {
	var parts []string
	if d.SignFlipP != nil {
		parts = append(parts, fmt.Sprintf("p %.2g", *d.SignFlipP))
	}
	if d.Lag1 != nil {
		parts = append(parts, fmt.Sprintf("r %+.2f", *d.Lag1))
	}
	if d.BadStartsPct != nil {
		parts = append(parts, fmt.Sprintf("≤ %.0f %%", *d.BadStartsPct))
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// span writes an interval without brackets, which Markdown would read as a link.
func span(p view.Placed, i *[2]float64) string {
	if i == nil {
		return "-"
	}
	return view.Percent(i[0], p.MarginPct) + " to " + view.Percent(i[1], p.MarginPct)
}
