package validity

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
)

// measuredBackends are lines of the log that are no configuration: the compile
// cache has a rule of its own, and the size of the KV cache depends on what
// memory was free at the start.
var measuredBackends = []string{"compile_cache", "kv_cache_tokens"}

// armsDiffer: what is not declared in the arms must be equal in all runs, or
// the comparison measures something else. Each difference is reported once.
func armsDiffer(p *pairing) []Finding {
	runs := p.runs()
	if len(runs) == 0 {
		return nil
	}
	reference := runs[0]
	want := p.facts(reference)
	var found []Finding
	seen := map[string]bool{}
	for _, a := range runs[1:] {
		got := p.facts(a)
		for _, name := range slices.Sorted(maps.Keys(union(want, got))) {
			if want[name] == got[name] || seen[name] {
				continue
			}
			seen[name] = true
			found = append(found, finding(ruleArmsDiffer, CauseHarness, "%s is %q in %s and %q in %s without being declared in the arms; declare it or make it equal",
				name, want[name], reference.Key, got[name], a.Key).about(ScopeComparison, a))
		}
	}
	return found
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// facts is the configuration of a run without what the two arms declare:
// patch, environment variables and options.
func (p *pairing) facts(a *results.Attempt) map[string]string {
	base, _ := p.scenario.Arm(p.of.Baseline)
	cand, _ := p.scenario.Arm(p.of.Candidate)
	s := &a.Run.Server
	facts := map[string]string{
		"engine":       string(s.Engine),
		"command":      strings.Join(undeclared(s.Command, base.Args, cand.Args), " "),
		"model":        s.ModelSHA256,
		"model config": canonical(s.ModelConfig),
	}
	add := func(prefix string, values map[string]string, except func(string) bool) {
		for k, v := range values {
			if !except(k) {
				facts[prefix+" "+k] = v
			}
		}
	}
	none := func(string) bool { return false }
	add("environment", s.Env, func(k string) bool { return has(base.Env, k) || has(cand.Env, k) })
	add("version", s.Versions, none)
	if base.Patch == cand.Patch {
		facts["patch"] = s.Patch
		add("blob", s.Blobs, none)
	}
	if maps.Equal(base.Args, cand.Args) { // other options may choose other backends
		add("backend", s.Backends, func(k string) bool { return slices.Contains(measuredBackends, k) })
	}
	return facts
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// undeclared removes the declared options and their values from a command.
func undeclared(command []string, declared ...map[string]string) []string {
	var rest []string
	skipping := false
	for _, word := range command {
		name, option := strings.CutPrefix(word, "--")
		if option {
			skipping = slices.ContainsFunc(declared, func(args map[string]string) bool { return has(args, name) })
		}
		if !skipping {
			rest = append(rest, word)
		}
	}
	return rest
}

// canonical is JSON with sorted keys.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
