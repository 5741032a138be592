package sim

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultTests shows the effect of every fault.
var faultTests = map[string]func(t *testing.T){
	faultKillAfter:        testKillAfter,
	faultErrorAfterTokens: testErrorAfterTokens,
	faultHTTP500:          testHTTP500,
	faultShortOutput:      testShortOutput,
	faultFlipToken:        testFlipToken,
	faultConstantOutput:   testConstantOutput,
	faultNondeterministic: testNondeterministicOutput,
	faultWrongModel:       testWrongModel,
	faultSlow:             testSlow,
	faultStall:            testStall,
	faultLateJIT:          testLateJIT,
	faultTraceback:        testTraceback,
	faultIgnoreSIGINT:     testIgnoreSIGINT,
	faultNoRecords:        testNoRecords,
	faultDropRecords:      testDropRecords,
	faultIndexGap:         spoils("index-gap", "contiguous-steps"),
	faultWrongHistogram:   spoils("wrong-histogram", "context-histogram"),
	faultTokenSum:         spoils("token-sum-off-by-one", "token-split", "decode-tokens-client"),
	faultTornTail:         spoils("torn-tail", "torn-tail", "footer"),
	faultNoFooter:         spoils("no-footer", "footer"),
	faultErrorFirst:       ends("error-first=1", `"error"`, `"token_ids"`),
	faultHTTP503:          testHTTP503,
	faultOneToken:         testOneToken,
	faultCutBody:          testCutBody,
	faultNoFinishReason:   ends("no-finish-reason=1", "[DONE]", `"length"`),
	faultNoUsage:          ends("no-usage=1", "[DONE]", "usage"),
	faultNoDone:           ends("no-done=1", "usage", "[DONE]"),
	faultNoTokenIDs:       ends("no-token-ids=1", `"token_ids":null`, `"token_ids":[`),
	faultBadJSON:          ends("bad-json=1", "data: {\"id\":\n\n", "none"),
	faultPromptCount:      ends("wrong-prompt-count=1", `"prompt_tokens":11`, `"prompt_tokens":10,`),
	faultCachedTokens:     ends("cached-tokens=4", `"cached_tokens":4`, `"cached_tokens":0`),
	faultFingerprint:      testFingerprint,
	faultStalledStream:    testStalledStream,
	faultHalfOpen:         testHalfOpen,
	faultSplitEvents:      testSplitEvents,
	faultNoSpace:          ends("no-space", "data:{\"id\"", "data: "),
	faultCRLF:             testCRLF,
	faultComments:         ends("comments", "\n\n: ping\n\n:\nevent: message\nid: 7\nretry: 3000\ndata: ", "\n\ndata"),
	faultMultiLine:        ends("multi-line", ",\ndata: \"object\"", `,"object"`),
	faultLongLine:         testLongLine,
	faultEmptyChoices:     testEmptyChoices,
	faultBundle:           testBundle,
	faultIdleClose:        testIdleClose,
	faultStallEvery:       testStallEvery,
	faultPreempt:          testPreempt,
	faultFewerKVBlocks:    testFewerKVBlocks,
	faultSilentMetrics:    testSilentMetrics,
	faultEngineError:      logs("engine-error", "EngineCore encountered a fatal error"),
	faultProfiler:         logs("profiler", "Starting profiler..."),
	faultCompileCache:     logs("compile-cache", "Using cache directory: {cache}/of-its-own/rank_0_0 for vLLM's torch.compile"),
	faultUnasked:          testUnasked,
	faultDiskFull:         testDiskFull,
	faultDamagedRecord:    spoils("damaged-record", "format"),
	faultGluedRecords:     spoils("glued-records", "format"),
	faultSecondFile:       spoils("second-file", "engines", "footer"),
}

func TestEveryFaultHasItsEffect(t *testing.T) {
	for _, k := range faultKinds {
		test := faultTests[k.name]
		require.NotNil(t, test, "fault %s has no test", k.name)
		t.Run(k.name, test)
	}
}

func TestReadmeNamesEveryFault(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, k := range faultKinds {
		assert.Contains(t, string(readme), "| `"+k.name+k.value+"` | "+k.about+" |")
	}
}

func TestReadmeNamesEveryFlag(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	cfg, fs := DefaultConfig(), pflag.NewFlagSet("serve", pflag.ContinueOnError)
	cfg.Flags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		assert.Contains(t, string(readme), "| `--"+f.Name+"` | "+f.DefValue+" | "+f.Usage+" |")
	})
}

// spoils tests a fault that falsifies the records: exactly these checks fail.
func spoils(fault string, checks ...string) func(t *testing.T) {
	return func(t *testing.T) {
		onClock(t, nil, fault, func(g *rig) {
			g.askAll(prompts(3, 30), 30)
			assert.ElementsMatch(t, checks, failed(g.summary()))
		})
	}
}

func testKillAfter(t *testing.T) {
	g := onClock(t, nil, "kill-after=7", func(g *rig) {
		out := g.askAll(prompts(2, 10), 20)
		assert.LessOrEqual(t, len(out[0].tokens)+len(out[1].tokens), 7)
		for _, r := range out {
			assert.NotEmpty(t, r.failure)
			assert.Empty(t, r.finish)
		}
		status, _ := g.get("/health")
		assert.Equal(t, 503, status)
		assert.ErrorIs(t, g.stop(), ErrKilled)
		assert.Contains(t, failed(g.summary()), "footer")
	})
	assert.Equal(t, []int{137}, g.exits)
}

func testErrorAfterTokens(t *testing.T) {
	onClock(t, nil, "error-after-tokens=3", func(g *rig) {
		for i := 1; i <= 20; i++ {
			out := g.ask(prompts(1, 10)[0], 6)
			if i%10 != 0 {
				assert.Equal(t, "length", out.finish)
				continue
			}
			assert.Contains(t, out.failure, "InternalServerError")
			assert.Len(t, out.tokens, 3)
			assert.True(t, out.done, "[DONE] follows the error")
			assert.Nil(t, out.usage)
		}
		assert.Equal(t, g.engine.cfg.KVBlocks, g.engine.sched.kv.unused.Len())
	})
}

func testHTTP500(t *testing.T) {
	onClock(t, nil, "http-500=3", func(g *rig) {
		var status []int
		for range 6 {
			status = append(status, g.ask(prompts(1, 10)[0], 2).status)
		}
		assert.Equal(t, []int{200, 200, 500, 200, 200, 500}, status)
	})
}

func testShortOutput(t *testing.T) {
	onClock(t, nil, "short-output=2", func(g *rig) {
		for i := 1; i <= 4; i++ {
			out := g.ask(prompts(1, 10)[0], 5)
			assert.Len(t, out.tokens, 5-(i+1)%2)
			assert.Equal(t, "length", out.finish)
			assert.EqualValues(t, len(out.tokens), out.usage["completion_tokens"])
		}
		assert.Empty(t, failed(g.summary()))
	})
}

// outputs gives the tokens of eight prompts under a fault.
func outputs(t *testing.T, fault string) [][]int {
	var out [][]int
	onClock(t, nil, fault, func(g *rig) {
		for _, p := range prompts(8, 10) {
			out = append(out, g.ask(p, 8).tokens)
		}
	})
	return out
}

func testFlipToken(t *testing.T) {
	right, wrong := outputs(t, ""), outputs(t, "flip-token=5")
	changed := 0
	for i := range right {
		if right[i][5] != wrong[i][5] {
			changed++
			wrong[i][5] = right[i][5]
		}
	}
	assert.Equal(t, right, wrong, "only position 5 may differ")
	assert.Positive(t, changed)
	assert.Less(t, changed, len(right))
	assert.Equal(t, outputs(t, "flip-token=5"), outputs(t, "flip-token=5"))
}

func testConstantOutput(t *testing.T) {
	for _, tokens := range outputs(t, "constant-output") {
		assert.Equal(t, []int{1, 1, 1, 1, 1, 1, 1, 1}, tokens)
	}
}

func testNondeterministicOutput(t *testing.T) {
	onClock(t, nil, "nondeterministic-output", func(g *rig) {
		p := prompts(1, 10)[0]
		assert.NotEqual(t, g.ask(p, 32).tokens, g.ask(p, 32).tokens)
	})
}

func testWrongModel(t *testing.T) {
	onClock(t, nil, "wrong-model", func(g *rig) {
		out := g.ask(prompts(1, 10)[0], 3)
		assert.Equal(t, "length", out.finish)
		for _, c := range out.chunks {
			assert.Equal(t, "another-model", c["model"])
		}
		_, models := g.get("/v1/models")
		assert.Contains(t, models, `"id":"simulated"`)
	})
}

func testSlow(t *testing.T) {
	last := func(fault string) time.Duration {
		var at time.Duration
		onClock(t, nil, fault, func(g *rig) { at = g.ask(prompts(1, 100)[0], 40).at[39] })
		return at
	}
	assert.InDelta(t, 1.05, last("slow=5%").Seconds()/last("").Seconds(), 1e-6)
}

func testStall(t *testing.T) {
	onClock(t, nil, "stall=700ms@4", func(g *rig) {
		at := g.ask(prompts(1, 100)[0], 8).at
		assert.Equal(t, ms(10.02), at[3]-at[2])
		assert.Equal(t, ms(710.02), at[4]-at[3])
		assert.Equal(t, ms(10.02), at[5]-at[4])
		assert.Empty(t, failed(g.summary()), "the records are sound: only the time is missing")
	})
}

func testLateJIT(t *testing.T) {
	g := onClock(t, nil, "late-jit=20", func(g *rig) { g.ask(prompts(1, 10)[0], 50) })
	assert.Equal(t, 2, strings.Count(g.log.String(), "Triton kernel JIT compilation during inference: fused_moe_kernel"))
}

func testTraceback(t *testing.T) {
	g := onClock(t, nil, "traceback", func(g *rig) { g.ask(prompts(1, 10)[0], 50) })
	assert.Equal(t, 1, strings.Count(g.log.String(), "Traceback (most recent call last):\n"))
	assert.Contains(t, g.log.String(), "opprof.py")
}

func testIgnoreSIGINT(t *testing.T) {
	f, err := parseFaults("ignore-sigint")
	require.NoError(t, err)
	assert.True(t, f.IgnoreSIGINT())
	assert.False(t, (&Faults{}).IgnoreSIGINT())
}

func testNoRecords(t *testing.T) {
	onClock(t, nil, "no-records", func(g *rig) {
		assert.Equal(t, "length", g.ask(prompts(1, 10)[0], 3).finish)
		assert.Empty(t, g.summary().Files)
	})
}

func testDropRecords(t *testing.T) {
	onClock(t, nil, "drop-records=4", func(g *rig) {
		g.ask(prompts(1, 10)[0], 30)
		s := g.summary()
		assert.Empty(t, failed(s), "reported drops are no error of the records")
		assert.EqualValues(t, 4, s.Dropped)
		assert.EqualValues(t, 31, s.Steps)
		assert.EqualValues(t, 27, s.Records)
	})
}

func TestDropsUpToTheEndAreInTheFooter(t *testing.T) {
	onClock(t, nil, "drop-records=1000", func(g *rig) {
		g.ask(prompts(1, 10)[0], 30)
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.EqualValues(t, 10, s.Records)
		assert.EqualValues(t, 21, s.Dropped)
	})
}

func TestFaultsThatCannotBeMeant(t *testing.T) {
	for text, want := range map[string]string{
		"explode":              `fault "explode" is unknown: use one of error-after-tokens`,
		"kill-after":           "needs a value: write it as kill-after=N",
		"kill-after=":          "needs a value",
		"kill-after=0":         "not a whole number from 1 on",
		"kill-after=ten":       "not a whole number",
		"kill-after=1e3":       "not a whole number",
		"flip-token=-1":        "not a whole number from 0 on",
		"no-footer=1":          "takes no value: write it as no-footer",
		"slow=5":               `"5" is not a percentage: write it like 8%`,
		"slow=-5%":             "outside 0% to 1000%",
		"stall=5s":             "not a whole number",
		"stall=@3":             "not a positive duration",
		"stall=soon@3":         "not a positive duration",
		"short-output=0":       "not a whole number from 1 on",
		"no-footer,no-footer":  "given twice",
		"explode,kill-after=x": "not a whole number",
		"stall-every=5s@0":     "not a whole number from 1 on",
		"idle-close=0s":        `"0s" is not a positive duration`,
		"idle-close":           "needs a value: write it as idle-close=DURATION",
	} {
		_, err := parseFaults(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestFaultsAsFlags(t *testing.T) {
	var f Faults
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.Flags(fs)
	require.NoError(t, fs.Parse([]string{"--fault", "no-footer,flip-token=0", "--fault=slow=5%"}))
	assert.Equal(t, "flip-token,no-footer,slow", f.String())
	assert.Error(t, fs.Parse([]string{"--fault", "slow=5%"}), "twice")
}

func FuzzParseFaults(f *testing.F) {
	for _, k := range faultKinds {
		f.Add(k.name + k.value)
	}
	for _, s := range []string{"", ",", "=", "stall=1s@1", "stall-every=1s@1", "idle-close=1s", "slow=3%,kill-after=9", "short-output=9223372036854775808"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		faults, err := parseFaults(text)
		if err != nil {
			return
		}
		for name, v := range faults.set {
			form := ""
			for _, k := range faultKinds {
				if k.name == name {
					form = k.value
				}
			}
			if (form == formCount || form == formEvery || form == formStalls) && v.n < 1 {
				t.Errorf("%q: %s has count %d", text, name, v.n)
			}
		}
	})
}
