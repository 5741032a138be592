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
	// Remark is what a reader should know beside the status.
	Remark string `json:"remark,omitempty"`
}

// outputs: the control is the baseline's runs among themselves.
func (p *pairing) outputs() Identity {
	id := Identity{Status: IdentityNone, Prompts: p.scenario.Identity.Prompts, Runs: len(p.baseline) + len(p.candidate)}
	if id.Prompts == 0 {
		return id
	}
	id.Status = IdentityInvalid
	reported := !expectsEqual(p.scenario, p.of)
	if reported {
		id.Status = IdentityReported
	}
	if id.Message = p.incomparable(id.Prompts); id.Message != "" {
		return id
	}
	id.Equal = equalPrompts(p.runs(), id.Prompts)
	if reported {
		return id
	}
	return p.compared(id)
}

// compared decides where the arms must give the same outputs.
func (p *pairing) compared(id Identity) Identity {
	reference := p.baseline[0]
	differs := differing(reference, p.candidate)
	disagrees := differing(reference, p.baseline[1:])
	again, remark := p.again()
	if disagrees == "" && differs != "" {
		disagrees = again
	}
	switch {
	case disagrees != "":
		id.Message = fmt.Sprintf("the baseline does not agree with itself: %s; is prefix caching off and every run fresh?", disagrees)
	case differs != "":
		id.Status, id.Message = IdentityFail, fmt.Sprintf("%s; the outputs of %d of %d prompts are equal in all %d runs", differs, id.Equal, id.Prompts, id.Runs)
	default:
		if id.Message = vacuous(reference.Identity.Tokens, p.scenario.Identity.MinDistinct); id.Message == "" {
			id.Status, id.Remark = IdentityOK, remark
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

// again compares the first start of a correctness campaign, before its blocks, with
// the later ones of the baseline. It compiles, and may give other outputs by right: so
// it says something only where the candidate differs from the baseline, because then
// nothing else shows that the baseline would repeat itself. Else it is worth a remark.
func (p *pairing) again() (disagrees, remark string) {
	if !p.rehearsed() {
		return "", ""
	}
	if p.first == nil || p.first.Identity == nil {
		return "its first start gave no outputs", ""
	}
	if disagrees = differing(p.baseline[0], []*results.Attempt{p.first}); disagrees != "" {
		remark = "the first start gave other outputs than the later ones, as one that compiles may; it is left out: " + disagrees
	}
	return disagrees, remark
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

// vacuous outputs cannot differ, so their equality says nothing. Three quarters of
// them must differ from each other, and as many have minDistinct tokens: greedy
// outputs of small and random models end in loops (4 of 16 of Qwen3-30B-A3B's shape
// with random weights have two or three tokens), but each in one of its own.
func vacuous(tokens [][]int, minDistinct int) string {
	outputs, telling := map[string]bool{}, 0
	for _, ids := range tokens {
		outputs[fmt.Sprint(ids)] = true
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(ids)))); distinct >= minDistinct {
			telling++
		}
	}
	n := len(tokens)
	if different := len(outputs); 4*different < 3*n {
		return fmt.Sprintf("the outputs are vacuous: only %d of %d differ from each other, three quarters must; use a model whose outputs depend on the prompt", different, n)
	}
	if 4*telling < 3*n {
		return fmt.Sprintf("the outputs are vacuous: only %d of %d have at least %s, three quarters must; use a model that does not loop, or longer outputs",
			telling, n, counted(minDistinct, "distinct token", "distinct tokens"))
	}
	return ""
}
