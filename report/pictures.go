package report

// pictures are what the page draws beside the numbers. They decide nothing, and
// verdict.json is without them.
type pictures struct {
	Arms      []armStyle
	Latencies []ecdfPlot
	StepTimes []stepPlot
	TimeLine  *timeLine
}

// pictures draws an examined campaign. What could show an effect waits for the
// end of the campaign.
func (b *builder) pictures() *pictures {
	p := &pictures{Arms: b.armStyles(), TimeLine: b.timeLine()}
	if b.view.Finished {
		p.Latencies, p.StepTimes = b.ecdfPlots(), b.stepPlots()
	}
	return p
}
