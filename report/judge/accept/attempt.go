package accept

import (
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/results/validity"
)

// Run is one sealed run with what was computed from it again.
type Run struct {
	*results.Attempt
	Values   map[string]map[string]float64 // by phase and metric
	Live     map[string]Live               // by phase
	Findings []Finding                     // make the run INVALID
	Warnings []string
	// StepTimes counts the step times of its records by phase; nil where they are
	// not there.
	StepTimes map[string]StepTimes
}

// Live is the mean number of requests in flight from the first timed send on.
type Live struct {
	ToLastSend  float64 // what the rule of concurrency asks for
	ToLastToken float64 // over the time that throughput divides by: with the drain
}

// Finding is what speaks against a run.
type Finding struct {
	view.Finding
	Rule validity.Rule // that fired; "" if it is none of these rules that speaks
	Said string        // what a server or the system said, where Detail only repeats it
}

// Phase returns what a run says about a phase, or nil.
func (a *Run) Phase(name string) *results.Phase {
	if a.Run == nil {
		return nil
	}
	for i := range a.Run.Phases {
		if a.Run.Phases[i].Name == name {
			return &a.Run.Phases[i]
		}
	}
	return nil
}

// TimedSeconds is how long a phase's timed requests took, without the slices of
// other arms.
func (a *Run) TimedSeconds(phase string) float64 {
	return metrics.TimedSeconds(RequestsByPhase(a.Attempt)[phase])
}

// MedianTokens is the median output length of a phase's timed requests.
func (a *Run) MedianTokens(phase string) float64 {
	var tokens []float64
	for i := range a.Requests {
		if r := &a.Requests[i]; r.Phase == phase && !r.Warmup && r.OK() {
			tokens = append(tokens, float64(r.OutputTokens))
		}
	}
	slices.Sort(tokens)
	return metrics.Quantile(tokens, 0.5)
}

// host is the host group that a run belongs to, "" for a damaged run.
func (a *Run) host() string {
	if a.Environment == nil {
		return ""
	}
	return a.Environment.Group()
}

// RequestsByPhase sorts the requests of a run.
func RequestsByPhase(a *results.Attempt) map[string][]results.Request {
	byPhase := map[string][]results.Request{}
	for _, r := range a.Requests {
		byPhase[r.Phase] = append(byPhase[r.Phase], r)
	}
	return byPhase
}

// SameRequests pairs the values of the timed requests that both runs have, in
// the order of b.
func SameRequests(a, b []results.Request, phase string, of func(*results.Request) (float64, bool)) (x, y []float64) {
	values := map[int]float64{}
	for i := range a {
		if r := &a[i]; r.Phase == phase && !r.Warmup && r.OK() {
			if v, ok := of(r); ok {
				values[r.Index] = v
			}
		}
	}
	for i := range b {
		r := &b[i]
		v, both := values[r.Index]
		if !both || r.Phase != phase || r.Warmup || !r.OK() {
			continue
		}
		if w, ok := of(r); ok {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}
