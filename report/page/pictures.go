package page

import (
	"github.com/aituner/opprof/report/view"
)

// pictures are the plots of a view, ready to be drawn.
type pictures struct {
	Arms      []armStyle
	Latencies []ecdfPlot
	StepTimes []stepPlot
	TimeLine  *timeLinePlot
}

// newPictures draws the points of a view; one without any has no pictures.
func newPictures(v *view.View) *pictures {
	p := &pictures{Arms: armStyles(v.Subject.Arms)}
	if v.Plots == nil {
		return p
	}
	p.Latencies, p.StepTimes = ecdfPlots(p.Arms, v.Plots.Latencies), stepPlots(p.Arms, v.Plots.StepTimes)
	if v.Plots.TimeLine != nil {
		p.TimeLine = newTimeLine(p.Arms, v.Plots.TimeLine)
	}
	return p
}
