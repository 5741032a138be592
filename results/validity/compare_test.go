package validity

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func TestHealthyComparison(t *testing.T) {
	got := Compare(healthyPlan(), offOn, healthyCampaign())
	assert.Empty(t, got.Findings)
	assert.Equal(t, Identity{Status: IdentityOK, Prompts: 3, Equal: 3, Runs: 8}, got.Identity)
}

var vllmPreemptions = scenarios.EngineVLLM.Capabilities().Metrics.Preemptions

// Attempt 3 is the candidate of block 2.
var compareMutations = []struct {
	name   string
	mutate func(a *results.Attempt)
	rule   Rule
	scope  Scope
	say    string
}{
	{"environment", func(a *results.Attempt) { a.Run.Server.Env = with(a.Run.Server.Env, "OMP_NUM_THREADS", "2") }, "arms-differ", ScopeComparison, `environment OMP_NUM_THREADS is "" in 0001/off and "2" in 0002/on`},
	{"command", func(a *results.Attempt) { a.Run.Server.Command = append(a.Run.Server.Command, "--swap") }, "arms-differ", ScopeComparison, "--swap"},
	{"version", func(a *results.Attempt) { a.Run.Server.Versions = with(nil, "vllm", "0.25.0") }, "arms-differ", ScopeComparison, `version vllm is "0.24.0"`},
	{"blob", func(a *results.Attempt) { a.Run.Server.Blobs = with(nil, "vllm/envs.py", "bb") }, "arms-differ", ScopeComparison, "blob vllm/envs.py"},
	{"patch", func(a *results.Attempt) { a.Run.Server.Patch = "none" }, "arms-differ", ScopeComparison, `patch is "r2-onepass"`},
	{"backend", func(a *results.Attempt) { a.Run.Server.Backends = with(a.Run.Server.Backends, "attention", "TRITON") }, "arms-differ", ScopeComparison, "backend attention"},
	{"weights", func(a *results.Attempt) { a.Run.Server.ModelSHA256 = "nn" }, "arms-differ", ScopeComparison, `model is "mm"`},
	{"model config", func(a *results.Attempt) { a.Run.Server.ModelConfig = map[string]any{"hidden_size": 256.0} }, "arms-differ", ScopeComparison, "model config"},
	{"engine", func(a *results.Attempt) { a.Run.Server.Engine = "sim" }, "arms-differ", ScopeComparison, "engine is"},
	{"compile cache", func(a *results.Attempt) {
		a.Run.Server.Backends = with(a.Run.Server.Backends, "compile_cache", "~/.cache/2")
	}, "compile-cache", ScopeComparison, `0001/off compiles to "~/.cache/1", 0002/on to "~/.cache/2"`},
	{"KV blocks", func(a *results.Attempt) { a.Run.Server.KVBlocks = 989 }, "kv-blocks", ScopeComparison, "0001/off has 1000 KV blocks, 0002/on has 989"},
	{"prefix hits", func(a *results.Attempt) { a.Requests[2].CachedTokens = 9 }, "prefix-hits", ScopePair, "40 prompt tokens cached in 0002/off and 41 in 0002/on"},
	{"preemptions", func(a *results.Attempt) { a.Run.Phases[0].Counters[vllmPreemptions] = 11 }, "preemptions", ScopeComparison, "0 preemptions in 4 runs of off, 11 in 4 runs of on"},
	{"baseline differs", nil, "identity", ScopeComparison, "the baseline does not agree with itself: 0002/off against 0001/off: prompt 1 differs first at position 2: token 9, not 6"},
	{"no outputs", func(a *results.Attempt) { a.Identity = nil }, "identity", ScopeComparison, "the identity pass of 0002/on is missing"},
}

func TestEachComparisonRuleFires(t *testing.T) {
	for _, m := range compareMutations {
		t.Run(m.name, func(t *testing.T) {
			all := healthyCampaign()
			if m.mutate != nil {
				m.mutate(&all[3])
			} else {
				all[2].Identity.Tokens[1][2] = 9
			}
			got := Compare(healthyPlan(), offOn, all)
			require.Equal(t, []Rule{m.rule}, rules(got.Findings))
			assert.Equal(t, m.scope, got.Findings[0].Scope)
			assert.Contains(t, got.Findings[0].Message, m.say)
			assertReads(t, got.Findings[0].Message)
			assert.Equal(t, "on", got.Findings[0].Arm)
			if m.rule != "identity" {
				assert.Equal(t, IdentityOK, got.Identity.Status)
			}
			if m.rule != "identity" && m.rule != "preemptions" { // these are about no single run
				assert.Equal(t, "0002/on", got.Findings[0].Key.String())
			}

			// The same fault in a run that does not count is nothing.
			all[3].Valid, all[2].Valid = false, false
			assert.Empty(t, Compare(healthyPlan(), offOn, all).Findings)
			all[3].Valid, all[2].Valid, all[3].BurnIn, all[2].BurnIn = true, true, true, true
			assert.Empty(t, Compare(healthyPlan(), offOn, all).Findings)
		})
	}
}

func TestDeclaredDifferencesAreFine(t *testing.T) {
	plan, all := healthyPlan(), healthyCampaign()
	plan.Scenario.Arms[1].Env["OMP_NUM_THREADS"] = "2"
	plan.Scenario.Arms[1].Args = map[string]string{"max-num-seqs": "16", "swap": ""}
	plan.Scenario.Arms[0].Patch = "none"
	for i := range all {
		s := &all[i].Run.Server
		if all[i].Key.Arm == "on" {
			s.Env["OMP_NUM_THREADS"] = "2"
			s.Command = []string{"vllm", "serve", "{model}/tiny", "--port", "{port}", "--max-num-seqs", "16", "--swap", "--enforce-eager"}
			s.Backends = with(s.Backends, "attention", "TRITON")
			continue
		}
		s.Patch, s.Blobs = "none", map[string]string{"vllm/envs.py": "00"}
	}
	assert.Empty(t, Compare(plan, offOn, all).Findings)
	all[1].Run.Server.KVBlocks = 500 // follows from the options
	assert.Empty(t, Compare(plan, offOn, all).Findings)
	all[1].Run.Server.Command[8] = "--no-enforce-eager"
	assert.Equal(t, []Rule{"arms-differ"}, rules(Compare(plan, offOn, all).Findings))
}

func TestMeasuredLinesMayDiffer(t *testing.T) {
	all := healthyCampaign()
	all[3].Run.Server.Backends = with(all[3].Run.Server.Backends, "kv_cache_tokens", "1016")
	all[3].Run.Server.Model, all[3].Run.Server.Port = "opbench-2", 8001
	all[3].Run.Server.KVBlocks, all[5].Run.Server.KVBlocks = 990, 0 // within 1 %, and not said
	assert.Empty(t, Compare(healthyPlan(), offOn, all).Findings)
}

func TestADifferenceIsReportedOnce(t *testing.T) {
	all := healthyCampaign()
	for _, i := range []int{1, 3, 5, 7} {
		all[i].Run.Server.Versions = map[string]string{"vllm": "0.25.0", "torch": "2"}
	}
	found := Compare(healthyPlan(), offOn, all).Findings
	require.Len(t, found, 2)
	assert.Equal(t, "0001/on", found[0].Key.String())
}

// 10 : 0 has p = 2/1024, 11 : 0 has 2/2048.
func TestPreemptionsByChance(t *testing.T) {
	assert.InDelta(t, 2.0/1024, binomial(10, 10, 0.5), 1e-9)
	assert.InDelta(t, 1, binomial(5, 10, 0.5), 1e-9)
	assert.InDelta(t, 0.0107421875, binomial(9, 10, 0.5)/2, 1e-9, "both tails")
	all := healthyCampaign()
	all[3].Run.Phases[0].Counters[vllmPreemptions] = 10
	assert.Empty(t, Compare(healthyPlan(), offOn, all).Findings)
	for i := range all {
		for j := range all[i].Run.Phases {
			all[i].Run.Phases[j].Counters = nil
		}
	}
	assert.Empty(t, Compare(healthyPlan(), offOn, all).Findings, "an attached server may hide its counters")
}

func TestNothingToCompare(t *testing.T) {
	got := Compare(healthyPlan(), offOn, nil)
	assert.Equal(t, []Rule{"identity"}, rules(got.Findings))
	assert.Contains(t, got.Identity.Message, "no valid run")

	plan := healthyPlan()
	plan.Scenario.Identity.Prompts = 0
	got = Compare(plan, offOn, nil)
	assert.Empty(t, got.Findings)
	assert.Equal(t, IdentityNone, got.Identity.Status)
}

func TestIdentityFails(t *testing.T) {
	for name, c := range map[string]struct {
		mutate func(tokens [][]int)
		say    string
		equal  int
	}{
		"flipped token":         {func(x [][]int) { x[1][2] = 9 }, "0002/on against 0001/off: prompt 1 differs first at position 2: token 9, not 6; the outputs of 2 of 3 prompts are equal in all 8 runs", 2},
		"first of two":          {func(x [][]int) { x[2][1], x[2][2] = 8, 9 }, "prompt 2 differs first at position 1: token 8, not 2", 2},
		"lengths come first":    {func(x [][]int) { x[0][0] = 9; x[2] = x[2][:2] }, "prompt 2 has 2 tokens, not 3", 1},
		"longer":                {func(x [][]int) { x[0] = append(x[0], 4) }, "prompt 0 has 4 tokens, not 3", 2},
		"constant in candidate": {func(x [][]int) { x[0], x[1], x[2] = []int{1, 1, 1}, []int{1, 1, 1}, []int{1, 1, 1} }, "prompt 0 differs first at position 1: token 1, not 2", 0},
	} {
		all := healthyCampaign()
		c.mutate(all[3].Identity.Tokens)
		got := Compare(healthyPlan(), offOn, all)
		assert.Equal(t, IdentityFail, got.Identity.Status, name)
		assert.Contains(t, got.Identity.Message, c.say, name)
		assert.Equal(t, c.equal, got.Identity.Equal, name)
		assert.Empty(t, got.Findings, "FAIL(identity) makes nothing INVALID")
	}
}

func TestIdentityVacuous(t *testing.T) {
	for say, tokens := range map[string][][]int{
		"the outputs are vacuous: only 1 of 3 have at least 3 distinct tokens, three quarters must": {{1, 2, 3}, {2, 2, 3}, {1, 1, 1}},
		"the outputs are vacuous: only 1 of 3 differ from each other, three quarters must":          {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}},
		"the outputs are vacuous: only 2 of 3 differ":                                               {{1, 2, 3}, {3, 2, 1}, {1, 2, 3}},
		"prompt 0 of 0001/off was answered with 1 token, 3 were asked for":                          {{1}, {2}, {3}},
		"prompt 2 of 0001/off was answered with 4 tokens":                                           {{1, 2, 3}, {4, 5, 6}, {7, 8, 9, 10}},
	} {
		all := healthyCampaign()
		for i := range all {
			all[i].Identity.Tokens = tokens
		}
		got := Compare(healthyPlan(), offOn, all)
		assert.Equal(t, []Rule{"identity"}, rules(got.Findings))
		assert.Equal(t, IdentityInvalid, got.Identity.Status)
		assert.Contains(t, got.Identity.Message, say)
	}
}

// A quarter of the outputs may end in a loop, as those of small and random models do.
func TestAQuarterOfTheOutputsMayLoop(t *testing.T) {
	loop := [][]int{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {1, 1, 1, 1}}
	assert.Empty(t, vacuous(loop, 4))
	loop[2] = []int{9, 9, 9, 10}
	assert.Contains(t, vacuous(loop, 4), "only 2 of 4 have at least 4 distinct tokens")
	loop[2] = loop[1]
	assert.Empty(t, vacuous(loop, 4), "three of four are different")
	loop[3] = loop[1]
	assert.Contains(t, vacuous(loop, 4), "only 2 of 4 differ from each other")
}

// Outputs of other prompts are those of another question.
func TestIdentityOfOtherPrompts(t *testing.T) {
	plan, all := healthyPlan(), healthyCampaign()
	plan.IdentitySHA256 = "aaaa"
	for i := range all {
		all[i].Identity.PromptsSHA256 = "aaaa"
	}
	assert.Empty(t, Compare(plan, offOn, all).Findings)
	all[3].Identity.PromptsSHA256 = "bbbb"
	got := Compare(plan, offOn, all)
	assert.Equal(t, []Rule{"identity"}, rules(got.Findings))
	assert.Contains(t, got.Identity.Message, "the identity pass of 0002/on sent other prompts than the plan has: SHA-256 bbbb, not aaaa")
}

// Arms that may give other outputs are compared, and nothing follows from it.
func TestIdentityReported(t *testing.T) {
	for name, change := range map[string]func(*results.Plan){
		"said":       func(p *results.Plan) { p.Scenario.Identity.Expect = scenarios.ExpectReport },
		"by options": func(p *results.Plan) { p.Scenario.Arms[1].Args = map[string]string{"max-num-batched-tokens": "4096"} },
		"by env":     func(p *results.Plan) { p.Scenario.Arms[1].Env["OMP_NUM_THREADS"] = "2" },
	} {
		plan, all := healthyPlan(), timedCampaign(1)
		plan.Scenario.Arms[1].Env = with(plan.Scenario.Arms[1].Env, "VLLM_OPPROF_SPIN", "0.1") // no other question
		change(plan)
		all[3].Identity.Tokens[0][0] = 99
		all[3].Requests[1].OutputSHA256, all[1].Requests[1].OutputSHA256 = "other", "other"
		got := Compare(plan, offOn, all)
		assert.Equal(t, Identity{Status: IdentityReported, Prompts: 3, Equal: 2, Runs: 8}, got.Identity, name)
		assert.NotContains(t, rules(got.Findings), Rule("identity"), name)
		assert.NotContains(t, rules(got.Findings), Rule("identity-not-reproduced"), name)
		assert.False(t, got.Timed[0].Judged, name)

		all[2].Identity.Tokens[0] = []int{1}
		got = Compare(plan, offOn, all)
		assert.Equal(t, IdentityReported, got.Identity.Status, name)
		assert.Equal(t, "prompt 0 of 0002/off was answered with 1 token, 3 were asked for", got.Identity.Message, name)
		assert.NotContains(t, rules(got.Findings), Rule("identity"), name)
		all[2].Identity.Tokens[0] = slices.Clone(all[0].Identity.Tokens[0])

		plan.Scenario.Identity.Expect = scenarios.ExpectEqual
		assert.Equal(t, IdentityFail, Compare(plan, offOn, all).Identity.Status, name)
	}
}

// A correctness campaign starts its baseline once before its blocks. Where that gave
// other outputs, a candidate that differs shows nothing, and one that agrees is fine:
// a first start, which compiles, may differ.
func TestCorrectnessAsksTheBaselineTwice(t *testing.T) {
	for _, c := range []struct {
		name                  string
		first, second, candid int
		want                  IdentityStatus
		say                   string
	}{
		{"all agree", 1, 1, 1, IdentityOK, ""},
		{"candidate differs", 1, 1, 2, IdentityFail, "0001/on against 0001/off"},
		{"nothing is reproduced", 1, 2, 3, IdentityInvalid, "the baseline does not agree with itself: burnin-1/off against 0001/off"},
		{"a cold first start", 2, 1, 1, IdentityOK, ""},
		{"candidate as the first start", 2, 1, 2, IdentityInvalid, "does not agree with itself"},
		{"no first start", 0, 1, 2, IdentityInvalid, "its first start gave no outputs"},
		{"no first start, none needed", 0, 1, 1, IdentityOK, ""},
	} {
		plan := healthyPlan()
		plan.Scenario.Purpose = scenarios.Correctness
		plan.Blocks = []results.Block{{Number: 1, BurnIn: true, Order: []string{"off"}}, {Number: 1, Order: []string{"off", "on"}}}
		all := []results.Attempt{healthy("0001", "off"), healthy("0001", "on")}
		all[0].Identity.Tokens[0][0], all[1].Identity.Tokens[0][0] = 100+c.second, 100+c.candid
		if c.first > 0 {
			burnIn := healthy("burnin-1", "off")
			burnIn.BurnIn = true
			burnIn.Identity.Tokens[0][0] = 100 + c.first
			all = append([]results.Attempt{burnIn}, all...)
		}
		got := Compare(plan, offOn, all)
		assert.Equal(t, c.want, got.Identity.Status, c.name)
		assert.Contains(t, got.Identity.Message, c.say, c.name)
		assert.Equal(t, c.name == "a cold first start", strings.HasPrefix(got.Identity.Remark, "the first start gave other outputs"), c.name)
	}
}

func TestReliability(t *testing.T) {
	fail := func(all []results.Attempt, runs ...int) []results.Attempt {
		for _, i := range runs {
			all[i].Run.Failure, all[i].Run.FailureClass, all[i].Valid = "exit 137", "engine", false
		}
		return all
	}
	plan := healthyPlan()
	assert.Nil(t, Reliability(plan, offOn, healthyCampaign()))
	assert.Nil(t, Reliability(plan, offOn, fail(healthyCampaign(), 1)), "once is not enough")
	assert.Nil(t, Reliability(plan, offOn, fail(healthyCampaign(), 1, 3, 4)), "the baseline fails as well")
	assert.Nil(t, Reliability(plan, offOn, fail(healthyCampaign(), 0, 2)), "only the baseline")

	f := Reliability(plan, offOn, fail(healthyCampaign(), 1, 5))
	require.NotNil(t, f)
	assert.Equal(t, RuleReliability, f.Rule)
	assert.Contains(t, f.Message, "on failed by its own fault in 2 runs and off in none; first 0001/on: the run ended early: exit 137")
	assert.Equal(t, "0001/on", f.First.Key.String())

	all := healthyCampaign() // two different faults of the arm
	all[1].Requests[0].Error = "500"
	all[7].Run.Server.LogFindings[1].Text = `File "opprof.py", line 3`
	assert.NotNil(t, Reliability(plan, offOn, all))
	all[7].BurnIn = true
	assert.Nil(t, Reliability(plan, offOn, all), "burn-in does not count")

	all = healthyCampaign() // faults of others
	all[1].Run.Phases[0].Client.ProbeLagP99 = 1
	all[3].Run.Steps.Records = 0
	all[5].Requests[0].Model = "old"
	all[7].Run = nil
	assert.Nil(t, Reliability(plan, offOn, all))
}
