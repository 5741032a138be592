package scenarios

import (
	"slices"
	"strconv"
	"strings"
)

// Keys that only some kinds of a source have, with those kinds.
var sourceKinds = map[string][]SourceKind{
	"prompt_tokens": {SourceSynthetic}, "output_tokens": {SourceSynthetic},
	"shared_prefix": {SourceSynthetic}, "prefix_groups": {SourceSynthetic},
	"format": {SourceTrace}, "path": {SourceTrace}, "skip": {SourceTrace}, "scale_tokens": {SourceTrace},
	"max_prompt": {SourceTrace}, "max_output": {SourceTrace}, "time_unit": {SourceTrace},
}

func checkSource(f *file, path string, p Phase) {
	if f.wrong(path + ".kind") {
		return
	}
	s := p.Source
	checkKind(f, path, s.Kind, sourceKinds)
	if s.VocabLow >= s.VocabSize-1 {
		at := path + ".vocab_low"
		if !f.has(at) {
			at = path + ".vocab_size"
		}
		f.rule(at, "token ids are drawn from %d to %d: that leaves fewer than two", s.VocabLow, s.VocabSize-1)
	}
	if s.Kind == SourceTrace {
		checkTrace(f, path, p)
		return
	}
	checkDist(f, path+".prompt_tokens", s.PromptTokens)
	checkDist(f, path+".output_tokens", s.OutputTokens)
	checkSharing(f, path, p)
}

// checkSharing holds shared beginnings to the prompts and the warm-up.
func checkSharing(f *file, path string, p Phase) {
	s, groups := p.Source, p.Source.PrefixGroups
	shortest := least(s.PromptTokens)
	switch at := path + ".prefix_groups"; {
	case shortest > 0 && s.SharedPrefix >= shortest:
		f.rule(path+".shared_prefix", "must be shorter than the shortest prompt (%d): each needs tokens of its own", shortest)
	case groups.Count == 0:
	case s.SharedPrefix > 0:
		f.rule(at, "say shared_prefix or prefix_groups: one group is a shared prefix")
	case shortest > 0 && groups.Tokens >= shortest:
		f.rule(at+".tokens", "must be less than the shortest prompt (%d): each needs tokens of its own", shortest)
	case p.Warmup.Requests < groups.Count:
		f.rule(at+".count", "must not be above the warm-up requests (%d): the first timed request of a group would fill the cache",
			p.Warmup.Requests)
	}
}

// ownTime are the formats that say what their timestamps count.
var ownTime = []string{"azure", "mooncake", "guidellm"}

func checkTrace(f *file, path string, p Phase) {
	s := p.Source
	if !f.has(path+".format") || !f.has(path+".path") {
		f.rule(path, "a trace needs a format (azure, mooncake, vllm, guidellm or custom) and a path: a file, or one of %s",
			strings.Join(Traces(), ", "))
		return
	}
	own := slices.Contains(ownTime, s.Format)
	switch at := path + ".time_unit"; {
	case own && s.TimeUnit > 0:
		f.rule(at, "format %s says what its timestamps count: leave this out", s.Format)
	case s.TimeUnit > 0 || own:
	case s.Format == "vllm" || p.Arrival.Kind == ArrivalTrace:
		f.rule(at, "missing: timestamps of format %s can count anything; say what, such as 1ms or 1s", s.Format)
	}
	if t, ships := shippedTraces[s.Path]; ships && t.format != s.Format {
		f.rule(path+".format", "%s is in format %s", s.Path, t.format)
	}
	if s.ScaleTokens < 0.001 || s.ScaleTokens > 10 {
		f.rule(path+".scale_tokens", "want a factor from 0.001 to 10, got %g", s.ScaleTokens)
	}
}

// checkLength compares the longest request with the server's limit, where the
// scenario states one. The lengths of a trace are not known here.
func checkLength(f *file, s *Scenario, path string, src Source) {
	if src.Kind != SourceTrace {
		checkModelLength(f, s, path, most(src.PromptTokens), most(src.OutputTokens))
		return
	}
	limit := s.Engine.Args["max-model-len"]
	if _, err := strconv.Atoi(limit); err == nil && (src.MaxPrompt == 0 || src.MaxOutput == 0) {
		f.rule(path, "a trace needs max_prompt and max_output under engine.args.max-model-len (%s)", limit)
		return
	}
	checkModelLength(f, s, path, src.MaxPrompt, src.MaxOutput)
}

func checkGoodput(f *file, path string, g Goodput) {
	if f.has(path) && g == (Goodput{}) {
		f.rule(path, "needs a limit: ttft, tpot or both")
	}
}

// checkOpenLoop holds the numbers of an arrival process to what can be drawn.
func checkOpenLoop(f *file, path string, p Phase) {
	a := p.Arrival
	switch {
	case a.Kind == ArrivalTrace && p.Source.Kind != SourceTrace:
		f.rule(path+".kind", "trace arrivals replay the times of a trace, and the source is %s", p.Source.Kind)
	case a.Kind == ArrivalTrace && (a.Scale < 0.001 || a.Scale > 1000):
		f.rule(path+".scale", "want a factor from 0.001 to 1000, got %g", a.Scale)
	case a.Kind == ArrivalTrace:
	case !f.has(path + ".rate"):
		f.rule(path+".rate", "missing: %s arrivals need a rate, such as 12/s", a.Kind)
	case a.Kind == ArrivalGamma && !f.has(path+".burstiness"):
		f.rule(path+".burstiness", "missing: gamma arrivals need it: 1 is poisson, less is burstier")
	case a.Kind == ArrivalGamma && (a.Burstiness < 0.05 || a.Burstiness > 100):
		f.rule(path+".burstiness", "want a number from 0.05 to 100, got %g", a.Burstiness)
	}
}
