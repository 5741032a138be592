package validity

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

// requestsFailed: one failed or short request is enough.
func requestsFailed(s *subject) {
	for _, phase := range s.phaseNames() {
		if n, all, r := s.count(phase, failed); n > 0 {
			s.add(finding(ruleRequestFailed, CauseArm,
				"%d of %d requests of phase %s failed, the first is request %d: %s; no request may fail: look at the server's log",
				n, all, phase, r.Index, r.Error).in(phase).quoting(r.Error))
		}
		if n, all, r := s.count(phase, short); n > 0 {
			s.add(finding(ruleRequestShort, CauseArm,
				"%d of %d requests of phase %s ended early, the first is request %d with %d of %d tokens and finish_reason %q; no output may be shorter than planned: look at max-model-len and ignore_eos",
				n, all, phase, r.Index, r.OutputTokens, r.WantTokens, r.FinishReason).in(phase))
		}
	}
}

func failed(r *results.Request) bool { return !r.OK() }

func short(r *results.Request) bool {
	return r.OK() && (r.OutputTokens != r.WantTokens || r.FinishReason == "")
}

// phaseNames are the phases of the requests in order of appearance.
func (s *subject) phaseNames() []string {
	var names []string
	for i := range s.requests {
		if name := s.requests[i].Phase; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// count returns how many requests of a phase are bad, of how many, and the
// first.
func (s *subject) count(phase string, bad func(*results.Request) bool) (n, all int, first *results.Request) {
	for i := range s.requests {
		r := &s.requests[i]
		if r.Phase != phase {
			continue
		}
		all++
		if bad(r) {
			n++
			if first == nil {
				first = r
			}
		}
	}
	return n, all, first
}

// requestsUnsent: all planned requests were sent, and their records are here.
func requestsUnsent(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		timed := func(r *results.Request) bool { return !r.Warmup }
		records, _, _ := s.count(plan.Name, timed)
		want := plan.Source.Requests
		switch {
		case got.Unsent > 0:
			s.add(finding(ruleRequestsUnsent, CauseClient, "phase %s left %s unsent; all must be sent: repeat the block",
				plan.Name, counted(got.Unsent, "request", "requests")).in(plan.Name))
		case got.Planned != want || records != want:
			s.add(finding(ruleRequestsUnsent, CauseHarness, "the plan has %s in phase %s, the run says %d and has records of %d; repeat the block",
				counted(want, "timed request", "timed requests"), plan.Name, got.Planned, records).in(plan.Name))
		}
	})
}

// work: every run sends the requests of the plan, all of them once, in the same
// roles and of the same lengths. A run that sends less is faster for another reason
// than its arm. Failed and unsent requests are findings of their own.
func work(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if !s.comparable(plan, got) {
			return
		}
		sent := shapes.Of(s.requests, plan.Name)
		want, known := s.shapes[plan.Name]
		why := misnumbered(sent, plan.Warmup.Requests)
		if why == "" && known && shapes.SHA256(sent) != want {
			why = "the lengths of prompts or of wanted outputs are others"
		}
		if why != "" {
			s.add(finding(RuleWork, CauseHarness,
				"the requests of phase %s are not those of the plan: %s; all runs must get the same work: repeat the block",
				plan.Name, why).in(plan.Name))
		}
	})
}

// comparable reports whether nothing else is wrong with the number of a phase's
// requests or with their records.
func (s *subject) comparable(plan scenarios.Phase, got *results.Phase) bool {
	failures, all, _ := s.count(plan.Name, failed)
	timed, _, _ := s.count(plan.Name, func(r *results.Request) bool { return !r.Warmup })
	complete := timed == plan.Source.Requests || all == plan.Source.Requests+plan.Warmup.Requests
	return failures == 0 && all > 0 && got.Unsent == 0 && complete
}

// misnumbered says which request is not there once and in its role, or "". They
// are sorted by index; the first ones are the warm-up.
func misnumbered(sent []shapes.Shape, warmup int) string {
	for i, s := range sent {
		switch {
		case s.Index < i:
			return fmt.Sprintf("request %d is there twice", s.Index)
		case s.Index > i:
			return fmt.Sprintf("request %d is missing", i)
		case s.Warmup && i >= warmup:
			return fmt.Sprintf("request %d is warm-up, and is planned to be timed", i)
		case !s.Warmup && i < warmup:
			return fmt.Sprintf("request %d is timed, and is planned to be warm-up", i)
		}
	}
	return ""
}

// wrongModel: every answer carries the name that only our server serves.
func wrongModel(s *subject) {
	for _, phase := range s.phaseNames() {
		n, all, r := s.count(phase, func(r *results.Request) bool { return r.Model != "" })
		if n > 0 {
			s.add(finding(ruleWrongModel, CauseHost,
				"phase %s has %d of %d answers from model %q, not from %q: another server answered; stop it and repeat the block",
				phase, n, all, r.Model, s.run.Server.Model).in(phase))
		}
	}
}

// fingerprints: vLLM's system_fingerprint is constant for one start.
func fingerprints(s *subject) {
	seen := slices.Clone(s.run.Server.Fingerprints)
	for i := range s.requests {
		if f := s.requests[i].Fingerprint; f != "" {
			seen = append(seen, f)
		}
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); len(seen) > 1 {
		s.add(finding(ruleFingerprintChanged, CauseHost,
			"answers carry %d system fingerprints (%s, %s), one server start has one: another server answered; stop it and repeat the block",
			len(seen), seen[0], seen[1]))
	}
}

// cachedTokens: with prefix caching on, the work of a request is only known if
// the server says what was cached.
func cachedTokens(s *subject) {
	if !s.scenario.Engine.Kind.Capabilities().CachesPrefixes || s.hasArg("no-enable-prefix-caching") {
		return
	}
	for _, phase := range s.phaseNames() {
		n, all, _ := s.count(phase, func(r *results.Request) bool { return r.OK() && r.CachedTokens < 0 })
		if n > 0 {
			s.add(finding(ruleCachedTokensUnknown, CauseHarness,
				"the number of cached prompt tokens is missing in %d of %d answers of phase %s, and prefix caching is on: add no-enable-prefix-caching or check enable-prompt-tokens-details",
				n, all, phase).in(phase))
		}
	}
}

func (s *subject) hasArg(name string) bool {
	_, engine := s.scenario.Engine.Args[name]
	_, arm := s.arm.Args[name]
	return engine || arm
}
