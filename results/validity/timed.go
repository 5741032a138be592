package validity

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Timed compares the outputs of the timed requests of one phase by their digests.
type Timed struct {
	Phase    string
	Runs     []results.Key // the baseline's first, both in block order
	Requests int           // that have a digest in every run
	// Differ is the share of these requests whose outputs differ between two runs,
	// for every pair of Runs. It is symmetric.
	Differ [][]float64
	// Judged: the arms must give equal outputs here, so that Status or the
	// permutation test of the report decides.
	Judged bool
	// Status of a phase in which nothing but the arm can change an output, because it
	// has one stream or the kernels are batch-invariant: IdentityOK, IdentityFail or
	// IdentityInvalid (not reproduced). IdentityNone where the baseline does not agree
	// with itself, which Message then says, and for batches that may change an output.
	Status  IdentityStatus
	Message string
}

// timed compares every phase; Requests is 0 where runs have no digests.
func (p *pairing) timed() (list []Timed) {
	if len(p.baseline) == 0 || len(p.candidate) == 0 {
		return nil
	}
	for i := range p.scenario.Phases {
		ph := &p.scenario.Phases[i]
		outputs := p.digests(ph.Name)
		t := Timed{Phase: ph.Name, Runs: keys(p.runs()), Requests: len(outputs), Differ: p.differences(outputs),
			Judged: expectsEqual(p.scenario, p.of), Status: IdentityNone}
		if t.Judged && len(outputs) > 0 && p.armAlone(ph) {
			p.eachRequest(&t, outputs)
		}
		list = append(list, t)
	}
	return list
}

// armAlone reports whether nothing but the arm can change an output of a phase: no
// other request is in its batch, or none matters.
func (p *pairing) armAlone(ph *scenarios.Phase) bool {
	one := ph.Arrival.Kind == scenarios.ArrivalClosed && ph.Arrival.Streams == 1
	return one || batchInvariant(p.scenario, p.of)
}

func keys(runs []*results.Attempt) (list []results.Key) {
	for _, a := range runs {
		list = append(list, a.Key)
	}
	return list
}

// output is a timed request: its index and its digest in every run.
type output struct {
	index   int
	digests []string
}

// digests are the timed requests of a phase that succeeded in every run, by index;
// none where no run has a digest, as in those of versions that wrote none. A digest
// that only some runs have is not taken for equal.
func (p *pairing) digests(phase string) (list []output) {
	runs, known := p.runs(), false
	found := map[int][]string{}
	for n, a := range runs {
		for i := range a.Requests {
			if r := &a.Requests[i]; r.Phase == phase && !r.Warmup && r.OK() && len(found[r.Index]) == n {
				found[r.Index] = append(found[r.Index], r.OutputSHA256)
				known = known || r.OutputSHA256 != ""
			}
		}
	}
	if !known {
		return nil
	}
	for index, digests := range found {
		if len(digests) == len(runs) {
			list = append(list, output{index, digests})
		}
	}
	slices.SortFunc(list, func(a, b output) int { return a.index - b.index })
	return list
}

func (p *pairing) differences(outputs []output) [][]float64 {
	n := len(p.runs())
	share := make([][]float64, n)
	for i := range share {
		share[i] = make([]float64, n)
		for k := range n {
			for _, o := range outputs {
				if o.digests[i] != o.digests[k] {
					share[i][k] += 1 / float64(len(outputs))
				}
			}
		}
	}
	return share
}

// eachRequest decides a phase in which nothing but the arm can change an output: a
// baseline that agrees in all its runs is a control.
func (p *pairing) eachRequest(t *Timed, outputs []output) {
	if t.Message = p.wavers(outputs); t.Message != "" {
		return
	}
	t.Status = IdentityOK
	for _, o := range outputs {
		differ := p.others(o)
		switch {
		case len(differ) >= minArmFaults:
			t.Status, t.Message = IdentityFail, fmt.Sprintf("the output of request %d of phase %s differs in %d of %s of %s, first in %s, and is equal in all %s of %s",
				o.index, t.Phase, len(differ), counted(len(p.candidate), "run", "runs"), p.of.Candidate, differ[0], counted(len(p.baseline), "run", "runs"), p.of.Baseline)
			return
		case len(differ) == 1 && t.Status == IdentityOK:
			t.Status, t.Message = IdentityInvalid, p.once(t.Phase, o, differ[0])
		}
	}
}

// once says that an output differs in one run of the candidate.
func (p *pairing) once(phase string, o output, run results.Key) string {
	if len(p.candidate) == 1 {
		return fmt.Sprintf("the output of request %d of phase %s differs in %s, the only run of %s; a second one has to show it: set design.blocks to 2",
			o.index, phase, run, p.of.Candidate)
	}
	return fmt.Sprintf("the output of request %d of phase %s differs in %s and in no other of %s of %s, while all of %s agree; no second run shows it: repeat the campaign",
		o.index, phase, run, counted(len(p.candidate), "run", "runs"), p.of.Candidate, p.of.Baseline)
}

// wavers is the first output that differs between two runs of the baseline, or "".
func (p *pairing) wavers(outputs []output) string {
	for _, o := range outputs {
		for i, d := range o.digests[:len(p.baseline)] {
			if d != o.digests[0] {
				return fmt.Sprintf("%s does not agree with itself: request %d has another output in %s than in %s", p.of.Baseline, o.index, p.baseline[i].Key, p.baseline[0].Key)
			}
		}
	}
	return ""
}

// others are the candidate's runs with another output than the baseline's.
func (p *pairing) others(o output) (differ []results.Key) {
	for i, d := range o.digests[len(p.baseline):] {
		if d != o.digests[0] {
			differ = append(differ, p.candidate[i].Key)
		}
	}
	return differ
}
