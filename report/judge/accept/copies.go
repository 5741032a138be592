package accept

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxAlike is the share of a phase's requests whose times may agree to the
// nanosecond between two runs. Those of a clock that ticks are never the same for
// more than a few.
const maxAlike = 0.5

// phaseOf names the requests of one phase of one run.
type phaseOf struct {
	run   int // index
	phase string
}

// span is what a request took, ns: whoever moves a run in time keeps it.
type span struct{ first, rest int64 }

// checkCopies finds runs that are copies of each other, of any block and arm: more
// than half of the requests of a phase took the same time to the nanosecond in both,
// in whatever order. Requests of a single chunk have too little to compare. Looking
// up who shares a time costs less than going through all pairs of runs.
func checkCopies(s *scenarios.Scenario, runs []*Run) {
	size, owners := map[phaseOf]int{}, map[span]map[phaseOf]int{}
	for i, a := range runs {
		if a.Run == nil || onVirtualClock(s, a.Run) {
			continue
		}
		for k := range a.Requests {
			r := &a.Requests[k]
			if !r.OK() || r.LastNS <= r.FirstNS {
				continue
			}
			of, took := phaseOf{i, r.Phase}, span{r.FirstNS - r.SentNS, r.LastNS - r.FirstNS}
			if owners[took] == nil {
				owners[took] = map[phaseOf]int{}
			}
			owners[took][of]++
			size[of]++
		}
	}
	alike := map[[2]phaseOf]int{}
	for _, list := range owners {
		share(list, alike)
	}
	tellCopies(runs, size, alike)
}

// share counts what the owners of one span have in common.
func share(owners map[phaseOf]int, alike map[[2]phaseOf]int) {
	for x, n := range owners {
		for y, m := range owners {
			if x.run != y.run {
				alike[[2]phaseOf{x, y}] += min(n, m)
			}
		}
	}
}

// tellCopies names to every copied run the first other one, and the phase in which
// most is alike.
func tellCopies(runs []*Run, size map[phaseOf]int, alike map[[2]phaseOf]int) {
	first := map[int][2]phaseOf{}
	for pair, n := range alike {
		if float64(n) <= maxAlike*float64(min(size[pair[0]], size[pair[1]])) {
			continue
		}
		known, told := first[pair[0].run]
		order := cmp.Or(cmp.Compare(pair[1].run, known[1].run), cmp.Compare(alike[known], n), comparePhases(pair, known))
		if !told || order < 0 {
			first[pair[0].run] = pair
		}
	}
	for i, pair := range first {
		n, all := alike[pair], size[pair[0]]
		runs[i].add(view.ReasonDamaged, fmt.Sprintf("%d of %s of phase %s took the same time to the nanosecond as in %s: "+
			"one of the two is a copy; get the original files, or measure again",
			n, view.Plural(all, "request", "requests"), pair[0].phase, runs[pair[1].run].Key))
	}
}

func comparePhases(x, y [2]phaseOf) int {
	return cmp.Or(cmp.Compare(x[0].phase, y[0].phase), cmp.Compare(x[1].phase, y[1].phase))
}

// onVirtualClock reports whether a run has its times from a virtual clock, on which
// equal runs are equal to the nanosecond. Only a simulated engine has one, and only
// there a timer is never late.
func onVirtualClock(s *scenarios.Scenario, run *results.Run) bool {
	late := func(p results.Phase) bool { return p.Client.ProbeLagMax > 0 }
	return s.Engine.Kind.Capabilities().Simulated && !slices.ContainsFunc(run.Phases, late)
}
