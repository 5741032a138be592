package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStepTimesAreExactOnAVirtualClock(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		out := g.ask(prompts(1, 100)[0], 4)
		require.Equal(t, "length", out.finish, describe(out))
		// 10 ms + 100 prefill tokens · 10 µs, then 10 ms + 20 µs per token.
		assert.Equal(t, []time.Duration{ms(11), ms(21.02), ms(31.04), ms(41.06)}, out.at)
	})
}

func TestABurstReachesAllStreamsAtTheSameTime(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		out := g.askAll(prompts(8, 16), 5)
		for i, r := range out {
			require.Len(t, r.at, 5, describe(r))
			for j := 1; j < 5; j++ {
				assert.Equal(t, out[0].at[j], r.at[j], "stream %d, token %d", i, j)
			}
		}
		assert.Equal(t, ms(10+8*0.02), out[0].at[4]-out[0].at[3])
	})
}

func TestTheSameInputGivesTheSameSteps(t *testing.T) {
	steps := func() [][]time.Duration {
		var at [][]time.Duration
		tight := func(c *Config) { c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Noise = 5, 64, 3 }
		onClock(t, tight, "", func(g *rig) {
			for _, r := range g.askAll(prompts(16, 50), 12) {
				at = append(at, r.at)
			}
		})
		return at
	}
	first := steps()
	for range 3 {
		assert.Equal(t, first, steps())
	}
}

func TestLongPromptsAreSplit(t *testing.T) {
	small := func(c *Config) { c.MaxNumBatchedTokens = 64 }
	onClock(t, small, "", func(g *rig) {
		out := g.ask(prompts(1, 150)[0], 2)
		// Chunks of 64, 64 and 22 tokens, then one decode step.
		assert.Equal(t, []time.Duration{ms(31.5), ms(41.52)}, out.at)
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.Equal(t, []int64{0, 1, 2, 0, 0, 0, 0, 0, 0}, s.ChunkHist)
	})
}

func TestRequestsBeyondMaxNumSeqsWait(t *testing.T) {
	two := func(c *Config) { c.MaxNumSeqs = 2 }
	onClock(t, two, "", func(g *rig) {
		out := g.askAll(prompts(3, 10), 3)
		late := 0
		for _, r := range out {
			require.Len(t, r.at, 3)
			if r.at[0] > ms(30) { // behind three steps of the first two
				late++
			}
		}
		assert.Equal(t, 1, late)
	})
}

func TestOutputsDependOnThePromptAlone(t *testing.T) {
	asked := prompts(6, 40)
	var alone, together [][]int
	onClock(t, nil, "", func(g *rig) {
		for _, p := range asked {
			alone = append(alone, g.ask(p, 32).tokens)
		}
	})
	busy := func(c *Config) { c.Seed, c.Noise, c.MaxNumBatchedTokens, c.MaxNumSeqs = 99, 5, 64, 4 }
	onClock(t, busy, "", func(g *rig) {
		for _, r := range g.askAll(asked, 32) {
			together = append(together, r.tokens)
		}
	})
	assert.Equal(t, alone, together)
	distinct := map[int]bool{}
	for _, token := range alone[0] {
		distinct[token] = true
	}
	assert.Greater(t, len(distinct), 20)
	assert.NotEqual(t, alone[0], alone[1])
}

func TestNoiseFollowsItsSeed(t *testing.T) {
	at := func(seed uint64) []time.Duration {
		var out []time.Duration
		noisy := func(c *Config) { c.Seed, c.Noise, c.RunNoise = seed, 3, 1 }
		onClock(t, noisy, "", func(g *rig) { out = g.ask(prompts(1, 10)[0], 20).at })
		return out
	}
	assert.Equal(t, at(5), at(5))
	assert.NotEqual(t, at(5), at(6))
	assert.NotEqual(t, at(0), at(0), "seed 0 draws one")
}

func TestNoiseHasItsSize(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Seed, cfg.Noise = 3, 4
	p := newPace(cfg, &Faults{}, false)
	st := &step{shares: []share{{tokens: 1}}}
	var sum, squares float64
	const n = 20_000
	for range n {
		d := p.duration(st).Seconds() / 0.01002
		sum += d
		squares += (d - 1) * (d - 1)
	}
	assert.InDelta(t, 1, sum/n, 0.002)
	assert.InDelta(t, 0.04*0.04, squares/n, 0.0001)
}

func TestRecordingCostsWhatItIsSetTo(t *testing.T) {
	last := func(edit func(*Config)) time.Duration {
		var at time.Duration
		onClock(t, edit, "", func(g *rig) { at = g.ask(prompts(1, 100)[0], 50).at[49] })
		return at
	}
	off := last(func(c *Config) { c.RecordDir, c.RecordCost = "", 8 })
	on := last(func(c *Config) { c.RecordCost = 8 })
	assert.InDelta(t, 1.08, on.Seconds()/off.Seconds(), 1e-6)
}

func TestBackToBackStepsDoNotDrift(t *testing.T) {
	at := time.Unix(1000, 0)
	d := 10 * time.Millisecond
	late := at.Add(3 * time.Millisecond)
	assert.Equal(t, at.Add(d), deadline(at, late, d), "a late wake-up is made up for")
	assert.Equal(t, late.Add(d), deadline(time.Time{}, late, d), "an idle engine begins now")
	later := at.Add(25 * time.Millisecond)
	assert.Equal(t, later.Add(d), deadline(at, later, d), "a long delay is not")
}

func TestAnIdleEngineSleeps(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		g.ask(prompts(1, 10)[0], 2)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		steps := g.engine.next
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, steps, g.engine.next)
		out := g.ask(prompts(1, 10)[0], 1)
		assert.Equal(t, ms(10.1), out.at[0]-time.Hour-ms(21.12), "starts at once")
	})
}

func TestAClientThatLeavesFreesItsSlot(t *testing.T) {
	one := func(c *Config) { c.MaxNumSeqs = 1 }
	onClock(t, one, "", func(g *rig) {
		ctx, cancel := context.WithTimeout(context.Background(), ms(55))
		defer cancel()
		gone := make(chan *result)
		go func() { gone <- g.send(ctx, body(prompts(1, 10)[0], 1000)) }()
		time.Sleep(ms(1))
		out := g.ask(prompts(2, 10)[1], 1)
		left := <-gone
		assert.Contains(t, left.failure, "deadline")
		assert.Len(t, left.tokens, 5)
		require.Equal(t, "length", out.finish)
		assert.Less(t, out.at[0], ms(75))
		synctest.Wait()
		assert.Equal(t, g.engine.cfg.KVBlocks, g.engine.sched.kv.unused.Len())
	})
}

func TestAWaitingClientMayLeaveToo(t *testing.T) {
	one := func(c *Config) { c.MaxNumSeqs = 1 }
	onClock(t, one, "", func(g *rig) {
		go g.ask(prompts(1, 10)[0], 10)
		time.Sleep(ms(15))
		ctx, cancel := context.WithTimeout(context.Background(), ms(20))
		defer cancel()
		assert.NotEmpty(t, g.send(ctx, body(prompts(1, 10)[0], 5)).failure)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Empty(t, g.engine.sched.waiting)
		assert.Empty(t, g.engine.sched.running)
	})
}

func TestStoppingCutsOpenStreams(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		done := make(chan *result)
		go func() { done <- g.ask(prompts(1, 10)[0], 1000) }()
		time.Sleep(ms(45))
		require.NoError(t, g.stop())
		out := <-done
		assert.Len(t, out.tokens, 4)
		assert.NotEmpty(t, out.failure)
		assert.False(t, out.done)
	})
}

func TestShortKVCacheEvictsAndResumes(t *testing.T) {
	tight := func(c *Config) { c.KVBlocks = 24 }
	onClock(t, tight, "", func(g *rig) {
		asked := prompts(4, 64)
		out := g.askAll(asked, 100) // 4 · 11 blocks are needed in the end
		var alone [][]int
		for i, r := range out {
			require.Equal(t, "length", r.finish, "request %d: %s", i, describe(r))
			alone = append(alone, g.ask(asked[i], 100).tokens)
			assert.Equal(t, alone[i], r.tokens)
		}
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.Positive(t, s.Preemptions)
		surplus := s.PrefillTokens + s.DecodeTokens - g.prefill - g.decode
		assert.Equal(t, surplus, s.ResumedTokens)
	})
}

func TestPrefixCaching(t *testing.T) {
	cached := func(r *result) float64 {
		return r.usage["prompt_tokens_details"].(map[string]any)["cached_tokens"].(float64)
	}
	prompt := prompts(1, 64)[0]
	onClock(t, nil, "", func(g *rig) {
		g.ask(prompt, 2)
		assert.Zero(t, cached(g.ask(prompt, 2)), "off unless asked for")
	})
	on := func(c *Config) { c.EnablePrefixCaching = true }
	onClock(t, on, "", func(g *rig) {
		first, again := g.ask(prompt, 20), g.ask(prompt, 20)
		longer := g.ask(append(prompt[:len(prompt):len(prompt)], 1, 2, 3), 20)
		assert.Zero(t, cached(first))
		assert.EqualValues(t, 48, cached(again), "the last token is always computed")
		assert.EqualValues(t, 64, cached(longer))
		assert.Equal(t, first.tokens, again.tokens)
		_, page := g.get("/metrics")
		assert.Contains(t, page, `vllm:prefix_cache_queries_total{engine="0",model_name="simulated"} 195`)
		assert.Contains(t, page, `vllm:prefix_cache_hits_total{engine="0",model_name="simulated"} 112`)
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.EqualValues(t, 112, s.PrefixHits)
	})
}

func TestPrefixCachingUnderPressureKeepsItsBooks(t *testing.T) {
	tight := func(c *Config) { c.EnablePrefixCaching, c.KVBlocks, c.MaxNumBatchedTokens = true, 30, 96 }
	onClock(t, tight, "", func(g *rig) {
		asked := prompts(5, 80)
		for range 3 {
			for _, r := range g.askAll(append(asked, asked[0]), 60) {
				require.Equal(t, "length", r.finish, describe(r))
			}
		}
		s := g.summary()
		assert.Empty(t, failed(s))
		assert.Positive(t, s.Preemptions)
		assert.Positive(t, s.PrefixHits)
		assert.Equal(t, 30, g.engine.sched.kv.unused.Len(), "every block came back")
	})
}
