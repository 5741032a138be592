package validity

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// IdentityStatus is what the comparison of the outputs came to.
type IdentityStatus string

// The states of Identity.
const (
	IdentityOK      IdentityStatus = "ok"
	IdentityFail    IdentityStatus = "FAIL"    // the baseline agrees with itself, the candidate differs
	IdentityInvalid IdentityStatus = "INVALID" // nothing can be concluded
	IdentityNone    IdentityStatus = "none"    // the plan has no identity pass
	// IdentityReported: the arms may give other outputs; what differs is shown.
	IdentityReported IdentityStatus = "reported"
)

// Identity compares the outputs of the candidate's runs with the baseline's.
type Identity struct {
	Status  IdentityStatus `json:"status"`
	Message string         `json:"message,omitempty"`
	Prompts int            `json:"prompts"` // per run
	Equal   int            `json:"equal"`   // of these, equal in all runs of both arms
	Runs    int            `json:"runs"`
}

// outputs: the control is the baseline's runs among themselves.
func (p *pairing) outputs() Identity {
	id := Identity{Status: IdentityNone, Prompts: p.scenario.Identity.Prompts, Runs: len(p.baseline) + len(p.candidate)}
	if id.Prompts == 0 {
		return id
	}
	id.Status = IdentityInvalid
	if id.Message = p.incomparable(id.Prompts); id.Message != "" {
		return id
	}
	id.Equal = equalPrompts(p.runs(), id.Prompts)
	if !p.scenario.ExpectsEqual(p.of) {
		id.Status = IdentityReported
		return id
	}
	reference := p.baseline[0]
	differs := differing(reference, p.candidate)
	switch disagrees := p.disagreement(differs != ""); {
	case disagrees != "":
		id.Message = fmt.Sprintf("the baseline does not agree with itself: %s; is prefix caching off and every run fresh?", disagrees)
	case differs != "":
		id.Status, id.Message = IdentityFail, fmt.Sprintf("%s; the outputs of %d of %d prompts are equal in all %d runs", differs, id.Equal, id.Prompts, id.Runs)
	default:
		if id.Message = vacuous(reference.Identity.Tokens, p.scenario.Identity.MinDistinct); id.Message == "" {
			id.Status = IdentityOK
		}
	}
	return id
}

// incomparable says why the outputs of the runs cannot be compared, or "".
func (p *pairing) incomparable(prompts int) string {
	if len(p.baseline) == 0 || len(p.candidate) == 0 {
		return fmt.Sprintf("there is no valid run of both %s and %s to compare outputs of", p.of.Baseline, p.of.Candidate)
	}
	for _, a := range p.runs() {
		if a.Identity == nil || len(a.Identity.Tokens) != prompts {
			return fmt.Sprintf("the identity pass of %s is missing or incomplete, %s planned", a.Key, counted(prompts, "prompt was", "prompts were"))
		}
		if sent := a.Identity.PromptsSHA256; p.plan.IdentitySHA256 != "" && sent != p.plan.IdentitySHA256 {
			return fmt.Sprintf("the identity pass of %s sent other prompts than the plan has: SHA-256 %.12s, not %.12s", a.Key, sent, p.plan.IdentitySHA256)
		}
	}
	for _, a := range p.baseline {
		for i, ids := range a.Identity.Tokens {
			if want := p.scenario.Identity.OutputTokens; len(ids) != want {
				return fmt.Sprintf("prompt %d of %s was answered with %s, %d were asked for", i, a.Key, counted(len(ids), "token", "tokens"), want)
			}
		}
	}
	return ""
}

// disagreement is the first difference among the baseline's runs, or "". The first
// start of a correctness campaign, which compiles, may give other outputs than later
// ones: it counts where it agrees, and where the candidate differs, because then
// nothing else says that the baseline would repeat itself.
func (p *pairing) disagreement(candidateDiffers bool) string {
	if d := differing(p.baseline[0], p.baseline[1:]); d != "" || !candidateDiffers || !p.rehearsed() {
		return d
	}
	if p.first == nil || p.first.Identity == nil {
		return "its first start gave no outputs"
	}
	return differing(p.baseline[0], []*results.Attempt{p.first})
}

// rehearsed reports whether the plan starts the baseline once before the blocks of a
// correctness campaign.
func (p *pairing) rehearsed() bool {
	if p.scenario.Purpose != scenarios.Correctness {
		return false
	}
	return slices.ContainsFunc(p.plan.Blocks, func(b results.Block) bool { return b.BurnIn && slices.Contains(b.Order, p.of.Baseline) })
}

func equalPrompts(runs []*results.Attempt, prompts int) int {
	n := 0
	for i := range prompts {
		if !slices.ContainsFunc(runs, func(a *results.Attempt) bool {
			return !slices.Equal(a.Identity.Tokens[i], runs[0].Identity.Tokens[i])
		}) {
			n++
		}
	}
	return n
}

// differing describes the first difference of any run from the reference.
func differing(reference *results.Attempt, runs []*results.Attempt) string {
	for _, a := range runs {
		if d := difference(reference.Identity.Tokens, a.Identity.Tokens); d != "" {
			return fmt.Sprintf("%s against %s: %s", a.Key, reference.Key, d)
		}
	}
	return ""
}

// difference compares lengths first, over all prompts, then tokens.
func difference(want, got [][]int) string {
	for i := range want {
		if len(want[i]) != len(got[i]) {
			return fmt.Sprintf("prompt %d has %s, not %d", i, counted(len(got[i]), "token", "tokens"), len(want[i]))
		}
	}
	for i := range want {
		for at := range want[i] {
			if want[i][at] != got[i][at] {
				return fmt.Sprintf("prompt %d differs first at position %d: token %d, not %d", i, at, got[i][at], want[i][at])
			}
		}
	}
	return ""
}

// vacuous outputs cannot differ, so their equality says nothing: three quarters of
// them must differ from each other and have minDistinct tokens. The rest may end in a
// loop, as greedy outputs of small and random models do.
func vacuous(tokens [][]int, minDistinct int) string {
	telling := map[string]bool{}
	for _, ids := range tokens {
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(ids)))); distinct >= minDistinct {
			telling[fmt.Sprint(ids)] = true
		}
	}
	if 4*len(telling) >= 3*len(tokens) {
		return ""
	}
	return fmt.Sprintf("the outputs are vacuous: %d of %d differ from all others and have at least %d distinct tokens, three quarters must; use a model whose outputs depend on the prompt",
		len(telling), len(tokens), minDistinct)
}
