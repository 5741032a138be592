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
	// Status of a phase of one stream: IdentityOK, IdentityFail or IdentityInvalid
	// (not reproduced). IdentityNone where the baseline does not agree with itself,
	// and for several streams, where the batches of a step change the last bits.
	Status  IdentityStatus
	Message string
}

// timed compares every phase whose requests have digests.
func (p *pairing) timed() (list []Timed) {
	if len(p.baseline) == 0 || len(p.candidate) == 0 {
		return nil
	}
	for _, ph := range p.scenario.Phases {
		outputs := p.digests(ph.Name)
		if len(outputs) == 0 {
			continue
		}
		t := Timed{Phase: ph.Name, Runs: keys(p.runs()), Requests: len(outputs), Differ: differences(outputs), Judged: p.scenario.ExpectsEqual(p.of), Status: IdentityNone}
		if one := ph.Arrival.Kind == scenarios.ArrivalClosed && ph.Arrival.Streams == 1; one && t.Judged {
			p.oneStream(&t, outputs)
		}
		list = append(list, t)
	}
	return list
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

// digests are the requests of a phase that succeeded in every run, by index.
func (p *pairing) digests(phase string) (list []output) {
	runs := p.runs()
	found := map[int][]string{}
	for n, a := range runs {
		for i := range a.Requests {
			if r := &a.Requests[i]; r.Phase == phase && !r.Warmup && r.OK() && r.OutputSHA256 != "" && len(found[r.Index]) == n {
				found[r.Index] = append(found[r.Index], r.OutputSHA256)
			}
		}
	}
	for index, digests := range found {
		if len(digests) == len(runs) {
			list = append(list, output{index, digests})
		}
	}
	slices.SortFunc(list, func(a, b output) int { return a.index - b.index })
	return list
}

func differences(outputs []output) [][]float64 {
	n := len(outputs[0].digests)
	share := make([][]float64, n)
	for i := range share {
		share[i] = make([]float64, n)
	}
	for _, o := range outputs {
		for i := range n {
			for k := range n {
				if o.digests[i] != o.digests[k] {
					share[i][k] += 1 / float64(len(outputs))
				}
			}
		}
	}
	return share
}

// oneStream decides a phase in which nothing but the arm can change an output: a
// baseline that agrees in all its runs is a control.
func (p *pairing) oneStream(t *Timed, outputs []output) {
	t.Status = IdentityOK
	once := ""
	for _, o := range outputs {
		base, cand := o.digests[:len(p.baseline)], o.digests[len(p.baseline):]
		if slices.ContainsFunc(base, func(d string) bool { return d != base[0] }) {
			t.Status, t.Message = IdentityNone, ""
			return
		}
		var differ []*results.Attempt
		for i, d := range cand {
			if d != base[0] {
				differ = append(differ, p.candidate[i])
			}
		}
		switch {
		case len(differ) >= minArmFaults && t.Status != IdentityFail:
			t.Status, t.Message = IdentityFail, fmt.Sprintf("the output of request %d of phase %s differs in %d of %s of %s, first in %s, and is equal in all %s of %s",
				o.index, t.Phase, len(differ), counted(len(cand), "run", "runs"), p.of.Candidate, differ[0].Key, counted(len(base), "run", "runs"), p.of.Baseline)
		case len(differ) == 1 && once == "":
			once = fmt.Sprintf("the output of request %d of phase %s differs in %s and in no other of %s of %s, while all of %s agree; no second run shows it: repeat the campaign",
				o.index, t.Phase, differ[0].Key, counted(len(cand), "run", "runs"), p.of.Candidate, p.of.Baseline)
		}
	}
	if t.Status == IdentityOK && once != "" {
		t.Status, t.Message = IdentityInvalid, once
	}
}
