package evidence

import (
	"slices"
	"time"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// Plots gathers what the page draws. What could show an effect waits for the end
// of the campaign.
func Plots(in *accept.Accepted, runs []view.Run) *view.Plots {
	p := &view.Plots{TimeLine: timeLine(in.Campaign.Entries, runs)}
	if in.Campaign.Complete {
		p.Latencies, p.StepTimes = latencies(in), stepTimes(in)
	}
	return p
}

// requestTimes are the times of a request that are drawn.
var requestTimes = []struct {
	name string
	of   func(*results.Request) (seconds float64, ok bool)
}{{"TPOT", metrics.TPOT}, {"TTFT", metrics.TTFT}}

// latencies are the times of the requests of every phase. A correctness campaign
// says nothing about how fast an arm is.
func latencies(in *accept.Accepted) (list []view.Latency) {
	if !accept.HasEffects(in.Scenario) {
		return nil
	}
	for _, phase := range in.Scenario.Phases {
		for _, t := range requestTimes {
			l := view.Latency{Phase: phase.Name, Of: t.name}
			for _, arm := range in.Scenario.Arms {
				if sorted := pool(in, arm.Name, phase.Name, t.of); len(sorted) > 0 {
					l.Arms = append(l.Arms, distribution(arm.Name, sorted))
				}
			}
			if l.Arms != nil {
				list = append(list, l)
			}
		}
	}
	return list
}

// pool collects a time of all timed requests of an arm's analysed runs, in
// seconds, ascending.
func pool(in *accept.Accepted, arm, phase string, of func(*results.Request) (float64, bool)) (values []float64) {
	for i := range in.Blocks {
		requests := in.Blocks[i].Runs[arm].Requests
		for k := range requests {
			r := &requests[k]
			if x, ok := of(r); ok && r.Phase == phase && !r.Warmup && r.OK() {
				values = append(values, x)
			}
		}
	}
	slices.Sort(values)
	return values
}

func distribution(arm string, sorted []float64) view.Distribution {
	d := view.Distribution{Arm: arm, N: len(sorted)}
	for k := range view.QuantileParts + 1 {
		d.Quantiles = append(d.Quantiles, metrics.Quantile(sorted, float64(k)/view.QuantileParts))
	}
	return d
}

// stepTimes are those of every phase that has step records.
func stepTimes(in *accept.Accepted) (list []view.Steps) {
	for _, phase := range in.Scenario.Phases {
		s := view.Steps{Phase: phase.Name}
		for _, arm := range in.Scenario.Arms {
			sum := accept.StepTimes{}
			for k := range in.Blocks {
				sum.AddAll(in.Blocks[k].Runs[arm.Name].StepTimes[phase.Name])
			}
			if len(sum) > 0 {
				s.Arms = append(s.Arms, view.Histogram{Arm: arm.Name, Bins: sum.Bins()})
			}
		}
		if s.Arms != nil {
			list = append(list, s)
		}
	}
	return list
}

// timeLine dates runs and sessions, both in the ledger's order; nil if no run
// began. The run's own files are not asked: a damaged run has its place too.
func timeLine(entries []results.Entry, runs []view.Run) *view.TimeLine {
	t := &view.TimeLine{}
	open := map[results.Key]int{}
	for _, e := range entries {
		if e.Event == results.EventSession || len(t.Sessions) == 0 {
			t.Sessions = append(t.Sessions, view.Span{From: e.Time.UTC(), To: e.Time.UTC()})
		}
		here := len(t.Sessions)
		if last := &t.Sessions[here-1]; e.Time.After(last.To) {
			last.To = e.Time.UTC()
		}
		switch i, running := open[e.Key()]; {
		case e.Event == results.EventRunStart:
			open[e.Key()] = len(t.Runs)
			t.Runs = append(t.Runs, view.TimedRun{Block: e.Block, Attempt: e.Attempt, Arm: e.Arm, From: e.Time.UTC(), Session: here, State: view.RunNotEnded})
		case running && (e.Event == results.EventRunEnd || e.Event == results.EventRunAbort):
			delete(open, e.Key())
			endRun(&t.Runs[i], e, here)
		}
	}
	if len(t.Runs) == 0 {
		return nil
	}
	nameStates(t.Runs, runs)
	return t
}

// endRun takes the entry that closes a run. One that a later session wrote only
// says that the run was found without an end.
func endRun(r *view.TimedRun, e results.Entry, session int) {
	r.State = view.RunLost
	if e.Event == results.EventRunEnd {
		r.State = view.RunSealed
	}
	if r.Session == session {
		r.To = at(e.Time)
	}
}

func at(t time.Time) *time.Time {
	t = t.UTC()
	return &t
}

// nameStates says what the ended runs are worth.
func nameStates(timed []view.TimedRun, runs []view.Run) {
	states := map[results.Key]view.RunState{}
	for _, r := range runs {
		states[results.Key{Block: r.Block, Attempt: r.Attempt, Arm: r.Arm}] = r.State
	}
	for i := range timed {
		r := &timed[i]
		if s, known := states[results.Key{Block: r.Block, Attempt: r.Attempt, Arm: r.Arm}]; known && r.State == view.RunSealed {
			r.State = s
		}
	}
}
