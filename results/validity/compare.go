package validity

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// minPreemptionP is the two-sided exact binomial p below which the arms'
// preemptions differ.
const minPreemptionP = 0.001

// maxKVDifference is the share by which the sizes of the KV cache may differ.
const maxKVDifference = 0.01

// Comparison says whether two arms may be compared.
type Comparison struct {
	// Findings make every metric of the comparison INVALID.
	Findings []Finding
	// Identity is the comparison of the outputs. INVALID(identity) is in
	// Findings as well; FAIL(identity) is not, it is no reason to doubt.
	Identity Identity
	// Timed compares the outputs of the timed requests, by phase.
	Timed []Timed
}

// Compare applies the rules that need both arms. Attempts are those of the
// whole campaign; burn-in, void and damaged ones are passed over.
func Compare(plan *results.Plan, c scenarios.Comparison, attempts []results.Attempt) Comparison {
	p := newPairing(plan, c, attempts)
	var out Comparison
	for _, rule := range []func(*pairing) []Finding{armsDiffer, compileCaches, kvBlocks, prefixHits, preemptions, slicesDiffer, stampsDiffer} {
		out.Findings = append(out.Findings, rule(p)...)
	}
	out.Identity = p.outputs()
	out.Timed = p.timed()
	if out.Identity.Status == IdentityInvalid {
		out.Findings = append(out.Findings, Finding{Rule: ruleIdentity, Scope: ScopeComparison, Arm: c.Candidate, Cause: CauseHarness, Message: out.Identity.Message})
	}
	for _, t := range out.Timed {
		if t.Status == IdentityInvalid {
			out.Findings = append(out.Findings, Finding{Rule: ruleNotReproduced, Scope: ScopeComparison, Arm: c.Candidate, Phase: t.Phase, Cause: CauseHarness, Message: t.Message})
		}
	}
	return out
}

// pairing holds the valid runs of two arms.
type pairing struct {
	plan                *results.Plan
	scenario            *scenarios.Scenario
	of                  scenarios.Comparison
	baseline, candidate []*results.Attempt // in block order
	first               *results.Attempt   // of the baseline, in a burn-in block; nil if none is valid
}

func newPairing(plan *results.Plan, c scenarios.Comparison, attempts []results.Attempt) *pairing {
	p := &pairing{plan: plan, scenario: &plan.Scenario, of: c}
	for i := range attempts {
		switch a := &attempts[i]; {
		case !a.Valid || a.Run == nil:
		case a.BurnIn:
			if p.first == nil && a.Key.Arm == c.Baseline {
				p.first = a
			}
		case a.Key.Arm == c.Baseline:
			p.baseline = append(p.baseline, a)
		case a.Key.Arm == c.Candidate:
			p.candidate = append(p.candidate, a)
		}
	}
	byBlock := func(a, b *results.Attempt) int { return cmp.Compare(a.Key.Block, b.Key.Block) }
	slices.SortStableFunc(p.baseline, byBlock)
	slices.SortStableFunc(p.candidate, byBlock)
	return p
}

// runs are all runs, the baseline's first.
func (p *pairing) runs() []*results.Attempt { return slices.Concat(p.baseline, p.candidate) }

// pairs visits the two runs of each block that has both.
func (p *pairing) pairs(visit func(baseline, candidate *results.Attempt)) {
	for _, b := range p.baseline {
		for _, c := range p.candidate {
			if b.Key.Block == c.Key.Block && b.Key.Attempt == c.Key.Attempt {
				visit(b, c)
			}
		}
	}
}

// about places a finding at a run of the comparison.
func (f Finding) about(scope Scope, a *results.Attempt) Finding {
	f.Scope, f.Key, f.Arm = scope, a.Key, a.Key.Arm
	return f
}

// compileCaches: vLLM derives the directory from everything that shapes the
// compiled code, so another directory means other code and a cold compile.
func compileCaches(p *pairing) []Finding {
	var reference *results.Attempt
	for _, a := range p.runs() {
		if reference == nil {
			reference = a
			continue
		}
		want, got := reference.Run.Server.Backends["compile_cache"], a.Run.Server.Backends["compile_cache"]
		if want != got {
			return []Finding{finding(ruleCompileCache, CauseHarness, "%s compiles to %q, %s to %q; all runs must share one directory: does a variable or a path of one arm enter the compile key?",
				reference.Key, want, a.Key, got).about(ScopeComparison, a)}
		}
	}
	return nil
}

// kvBlocks: vLLM sizes the KV cache by the memory that is free at the start. That
// moves by a few blocks; a left-over process takes many, and then the arms have
// room for different batches.
func kvBlocks(p *pairing) []Finding {
	base, _ := p.scenario.Arm(p.of.Baseline)
	if cand, _ := p.scenario.Arm(p.of.Candidate); !maps.Equal(base.Args, cand.Args) {
		return nil // other options may leave other memory
	}
	var reference *results.Attempt
	for _, a := range p.runs() {
		got := float64(a.Run.Server.KVBlocks)
		if got == 0 {
			continue // the server does not say
		}
		if reference == nil {
			reference = a
			continue
		}
		want := float64(reference.Run.Server.KVBlocks)
		if math.Abs(got-want) > maxKVDifference*want {
			return []Finding{finding(ruleKVBlocks, CauseHost, "%s has %.0f KV blocks, %s has %.0f; they may differ by 1 %% at most: does a left-over process hold GPU memory?",
				reference.Key, want, a.Key, got).about(ScopeComparison, a)}
		}
	}
	return nil
}

// prefixHits: a cached prompt costs nothing, so both runs of a pair must have
// found the same number of tokens in each phase.
func prefixHits(p *pairing) []Finding {
	var found []Finding
	p.pairs(func(b, c *results.Attempt) {
		for _, ph := range p.scenario.Phases {
			want, got := cached(b, ph.Name), cached(c, ph.Name)
			if want != got {
				found = append(found, finding(rulePrefixHits, CauseHarness, "phase %s found %s cached in %s and %d in %s; the numbers must be equal: disable prefix caching or make the histories equal",
					ph.Name, counted(want, "prompt token", "prompt tokens"), b.Key, got, c.Key).about(ScopePair, c).in(ph.Name))
			}
		}
	})
	return found
}

func cached(a *results.Attempt, phase string) int {
	n := 0
	for i := range a.Requests {
		if r := &a.Requests[i]; r.Phase == phase {
			n += max(0, r.CachedTokens)
		}
	}
	return n
}

// preemptions: an arm that preempts more does other work. Given the sum, the
// candidate's share is binomial with the share of its runs.
func preemptions(p *pairing) []Finding {
	counter := p.scenario.Engine.Kind.Capabilities().Metrics.Preemptions
	b, nb := preempted(p.baseline, counter)
	c, nc := preempted(p.candidate, counter)
	if b+c == 0 || nb == 0 || nc == 0 {
		return nil
	}
	prob := binomial(c, b+c, float64(nc)/float64(nb+nc))
	if prob >= minPreemptionP {
		return nil
	}
	f := finding(rulePreemptions, CauseArm, "%s in %s of %s, %d in %s of %s: exact binomial p = %.2g, below %v; give the KV cache more memory or lower the load",
		counted(b, "preemption", "preemptions"), counted(nb, "run", "runs"), p.of.Baseline, c, counted(nc, "run", "runs"), p.of.Candidate, prob, minPreemptionP)
	f.Scope, f.Arm = ScopeComparison, p.of.Candidate
	return []Finding{f}
}

// preempted sums the server's counter over all phases of the runs that have it.
func preempted(attempts []*results.Attempt, counter string) (sum, runs int) {
	for _, a := range attempts {
		known := false
		for i := range a.Run.Phases {
			n, ok := a.Run.Phases[i].Counters[counter]
			sum += int(n)
			known = known || ok
		}
		if known {
			runs++
		}
	}
	return sum, runs
}
