package bench

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

var pipelineCampaigns = flag.Int("campaigns", 5, "campaigns per true cost in TestPipelineIsCalibrated")

// runNoise is the standard deviation of a run of the scenario below; an effect, the
// difference of two runs, has √2 times as much.
const runNoise = 0.01

// calibrationScenario is as small as a campaign can be: what varies is the factor
// of each server start.
const calibrationScenario = `
scenario: gate-test
about: a true cost that is known, under noise that is known
engine: {kind: sim, model: toy, args: {run-noise: 1%%, record-cost: %g%%}}
arms:
  off: {patch: none}
  on:  {patch: none, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source:  {kind: synthetic, requests: 2, prompt_tokens: 8, output_tokens: 16, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup:  {requests: 1}
    primary: [tpot_p50]
design: {blocks: 6, seed: %d, burn_in_blocks: 0, cooldown: 0s}
identity: {prompts: 2, prompt_tokens: 8, output_tokens: 8, min_distinct: 3}
`

// knownCost is a true cost of recording, in percent of a step.
type knownCost struct {
	percent float64
	mu      sync.Mutex
	verdict map[string]int
	d       []float64 // of all blocks
}

// atOnce campaigns run side by side: they wait for the disk most of the time.
const atOnce = 8

// measureAll runs so many campaigns.
func (k *knownCost) measureAll(t *testing.T, n int) {
	k.verdict = map[string]int{}
	var wait sync.WaitGroup
	for first := range atOnce {
		wait.Go(func() {
			for i := first; i < n; i += atOnce {
				t.Run(fmt.Sprintf("campaign %d", i), func(t *testing.T) { k.measure(t, i) })
			}
		})
	}
	wait.Wait()
}

// measure runs campaign i through the whole pipeline, from the scenario to the
// verdict in the run directory, and notes the verdict and the effects.
func (k *knownCost) measure(t *testing.T, i int) {
	var v *view.View
	parent := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		v = mustView(t, campaign(t, parent, fmt.Sprintf(calibrationScenario, k.percent, i), nil))
	})
	m := v.Comparisons[0].Phases[0].Metrics[0]
	require.Equal(t, "tpot_p50", m.Name)
	require.Len(t, m.Pairs, 6)
	var d []float64
	for _, p := range m.Pairs {
		one, err := stat.LogRatio(p.Baseline, p.Candidate, stat.LowerIsBetter)
		require.NoError(t, err)
		d = append(d, one)
	}
	e, err := stat.Analyze(d, stat.Options{})
	require.NoError(t, err)
	assert.Equal(t, string(stat.Judge(e, stat.Margin(.03, stat.LowerIsBetter))), v.Headline())
	k.mu.Lock()
	defer k.mu.Unlock()
	k.verdict[v.Headline()]++
	k.d = append(k.d, d...)
}

// simulated is how often the pure functions come to each verdict under the same
// noise.
func (k *knownCost) simulated(t *testing.T) map[string]float64 {
	t.Helper()
	const n = 4000
	r := rand.New(rand.NewPCG(6, 6))
	run := func() float64 { return 1 + runNoise*r.NormFloat64() }
	share := map[string]float64{}
	for range n {
		var d []float64
		for range 6 {
			d = append(d, math.Log((1+k.percent/100)*run()/run()))
		}
		e, err := stat.Analyze(d, stat.Options{})
		require.NoError(t, err)
		share[string(stat.Judge(e, stat.Margin(.03, stat.LowerIsBetter)))] += 1.0 / n
	}
	return share
}

// Campaigns through the whole pipeline come to the verdicts that the simulation of
// the statistics alone predicts: at a true cost of exactly the margin, where a pass
// is false, and at half of it, where about every third passes.
func TestPipelineIsCalibrated(t *testing.T) {
	for _, k := range []*knownCost{{percent: 3}, {percent: 1.5}} {
		t.Run(fmt.Sprintf("cost %g", k.percent), func(t *testing.T) {
			k.measureAll(t, *pipelineCampaigns)
			assert.Empty(t, unknown(k.verdict), "no verdict but those of the statistics")
			newPipelineRow("one after the other", k.percent, *pipelineCampaigns, k.verdict, k.simulated(t)).hold(t)
			k.checkNoise(t)
		})
	}
}

func unknown(verdicts map[string]int) (other []string) {
	for v := range verdicts {
		if v != string(stat.Pass) && v != string(stat.Fail) && v != string(stat.Inconclusive) {
			other = append(other, v)
		}
	}
	return other
}

// checkNoise holds the effects against what was asked of the engine: otherwise
// equal verdicts would prove nothing.
func (k *knownCost) checkNoise(t *testing.T) {
	t.Helper()
	n := float64(len(k.d))
	mean, ss := 0.0, 0.0
	for _, d := range k.d {
		mean += d / n
	}
	for _, d := range k.d {
		ss += (d - mean) * (d - mean)
	}
	sd := math.Sqrt(ss / (n - 1))
	assert.InDelta(t, math.Log1p(k.percent/100), mean, 3*sd/math.Sqrt(n))
	assert.InEpsilon(t, math.Sqrt2*runNoise, sd, 3/math.Sqrt(2*n))
}
