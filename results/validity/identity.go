package validity

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
)

// IdentityStatus is what the comparison of the outputs came to.
type IdentityStatus string

// The states of Identity.
const (
	IdentityOK      IdentityStatus = "ok"
	IdentityFail    IdentityStatus = "FAIL"    // the baseline agrees with itself, the candidate differs
	IdentityInvalid IdentityStatus = "INVALID" // nothing can be concluded
	IdentityNone    IdentityStatus = "none"    // the plan has no identity pass
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
	invalid := func(format string, args ...any) Identity {
		id.Status, id.Message = IdentityInvalid, fmt.Sprintf(format, args...)
		return id
	}
	if len(p.baseline) == 0 || len(p.candidate) == 0 {
		return invalid("there is no valid run of both %s and %s to compare outputs of", p.of.Baseline, p.of.Candidate)
	}
	for _, a := range p.runs() {
		if a.Identity == nil || len(a.Identity.Tokens) != id.Prompts {
			return invalid("the identity pass of %s is missing or incomplete, %s planned", a.Key, counted(id.Prompts, "prompt was", "prompts were"))
		}
	}
	id.Equal = equalPrompts(p.runs(), id.Prompts)
	reference := p.baseline[0]
	if d := differing(reference, p.baseline[1:]); d != "" {
		return invalid("the baseline does not agree with itself: %s; is prefix caching off and every run fresh?", d)
	}
	if d := differing(reference, p.candidate); d != "" {
		id.Status, id.Message = IdentityFail, fmt.Sprintf("%s; the outputs of %d of %d prompts are equal in all %d runs", d, id.Equal, id.Prompts, id.Runs)
		return id
	}
	if v := vacuous(reference.Identity.Tokens, p.scenario.Identity.MinDistinct); v != "" {
		return invalid("the outputs are vacuous: %s; use a model whose outputs depend on the prompt", v)
	}
	id.Status = IdentityOK
	return id
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

// vacuous outputs cannot differ, so their equality says nothing.
func vacuous(tokens [][]int, minDistinct int) string {
	distinct := map[int]bool{}
	equal := true
	for _, ids := range tokens {
		for _, id := range ids {
			distinct[id] = true
		}
		equal = equal && slices.Equal(ids, tokens[0])
	}
	switch {
	case len(distinct) < minDistinct:
		return fmt.Sprintf("%s in all outputs, at least %d are needed", counted(len(distinct), "distinct token", "distinct tokens"), minDistinct)
	case equal && len(tokens) > 1:
		return fmt.Sprintf("the outputs of all %d prompts are equal", len(tokens))
	}
	return ""
}
