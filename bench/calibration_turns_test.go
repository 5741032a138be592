package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/report/stat"
)

// turnsScenario takes turns on a host that drifts by 5 % within half a minute,
// five times the noise of a server start.
const turnsScenario = `
scenario: gate-test
about: a true cost that is known, on a host that drifts
engine: {kind: sim, model: toy, args: {run-noise: 1%%, host-drift: 5%%, host-seed: %d, record-cost: %g%%}}
arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source:  {kind: synthetic, requests: 8, prompt_tokens: 8, output_tokens: 16, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup:  {requests: 1}
    primary: [tpot_p50]
design: {blocks: 8, seed: %d, burn_in_blocks: 0, cooldown: 10s, interleave: {slice: 300ms, settle: 100ms}}
identity: {prompts: 2, prompt_tokens: 8, output_tokens: 8, min_distinct: 3}
`

// firstIsSlower makes the server that a block starts first 3 % slower for its
// whole life, as it is on real hosts.
func firstIsSlower() func(engine.Spec) []string {
	started := map[string]bool{}
	return func(s engine.Spec) []string {
		block := filepath.Dir(s.RunDir)
		if started[block] {
			return nil
		}
		started[block] = true
		return []string{"slow=3%"}
	}
}

// turnsVerdict is the verdict of one interleaved campaign at a true cost in
// percent.
func turnsVerdict(t *testing.T, percent float64, i int) (verdict string) {
	parent := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		v := mustView(t, campaign(t, parent, fmt.Sprintf(turnsScenario, i, percent, i), firstIsSlower()))
		require.True(t, v.Subject.AdjustOrder)
		verdict = v.Headline()
	})
	return verdict
}

// turnsSimulated is how often the pure functions come to each verdict under the
// noise of the starts and their order alone.
func turnsSimulated(t *testing.T, percent float64) map[string]float64 {
	t.Helper()
	const n = 4000
	r := rand.New(rand.NewPCG(8, 8))
	run := func() float64 { return 1 + runNoise*r.NormFloat64() }
	share := map[string]float64{}
	for range n {
		var d []float64
		var first []bool
		for b := range 8 {
			order := 0.03
			if b%2 == 1 {
				order = -order
			}
			d = append(d, math.Log((1+percent/100)*run()/run())-order)
			first = append(first, b%2 == 0)
		}
		e, err := stat.Analyze(d, stat.Options{Order: first})
		require.NoError(t, err)
		share[string(stat.Judge(e, stat.Margin(.03, stat.LowerIsBetter)))] += 1.0 / n
	}
	return share
}

// Interleaved campaigns on a drifting host, with an order effect as large as the
// margin, pass as often as the statistics say of the noise of the starts alone:
// at a cost of exactly the margin falsely, at half of it rightly.
func TestInterleavedPipelineIsCalibrated(t *testing.T) {
	n := *pipelineCampaigns
	for _, percent := range []float64{3, 1.5} {
		t.Run(fmt.Sprintf("cost %g", percent), func(t *testing.T) {
			verdicts := map[string]int{}
			var mu sync.Mutex
			var wait sync.WaitGroup
			for first := range atOnce {
				wait.Go(func() {
					for i := first; i < n; i += atOnce {
						t.Run(fmt.Sprintf("campaign %d", i), func(t *testing.T) {
							v := turnsVerdict(t, percent, i)
							mu.Lock()
							verdicts[v]++
							mu.Unlock()
						})
					}
				})
			}
			wait.Wait()
			assert.Empty(t, unknown(verdicts), "no verdict but those of the statistics")
			newPipelineRow("interleaved", percent, n, verdicts, turnsSimulated(t, percent)).hold(t)
		})
	}
}
