package sim

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlagsSetTheConfig(t *testing.T) {
	c := DefaultConfig()
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.Flags(fs)
	require.NoError(t, fs.Parse([]string{
		"--served-model-name=m", "--step-base=20ms", "--noise=1.5%", "--run-noise", "0", "--record-cost=8%",
		"--seed=7", "--max-num-seqs=64", "--enable-prefix-caching",
	}))
	want := DefaultConfig()
	want.Model, want.StepBase, want.Noise, want.RecordCost = "m", 20*time.Millisecond, 1.5, 8
	want.Seed, want.MaxNumSeqs, want.EnablePrefixCaching = 7, 64, true
	assert.Equal(t, want, c)
	assert.NoError(t, c.Validate())
}

func TestPercentNeedsItsSign(t *testing.T) {
	for _, text := range []string{"", "%", "8", "0.08", "eight%", "NaN%", "+Inf%", "-1%", "1001%"} {
		var p Percent
		assert.Error(t, p.Set(text), text)
	}
	for text, want := range map[string]Percent{"8%": 8, " 0.5 % ": 0.5, "0": 0, "1000%": 1000} {
		var p Percent
		require.NoError(t, p.Set(text), text)
		assert.Equal(t, want, p)
	}
}

func FuzzPercent(f *testing.F) {
	for _, s := range []string{"8%", "0", "", "1e2%", "NaN%", "٣%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var p, again Percent
		if p.Set(text) != nil {
			return
		}
		require.NoError(t, again.Set(p.String()))
		assert.Equal(t, p, again)
	})
}

func TestImpossibleSettingsAreNamedAllAtOnce(t *testing.T) {
	c := Config{StepBase: 9 * time.Millisecond, StepPerDecode: -1, StepPerPrefillToken: -1, VocabSize: 1, MaxNumSeqs: -1}
	_, err := New(c, Faults{})
	require.Error(t, err)
	for _, want := range []string{
		"served-model-name is empty", "step-base is 9ms: use 10ms or more", "step-per-decode is negative",
		"step-per-prefill-token is negative", "vocab-size is 1", "max-num-seqs is -1", "max-num-batched-tokens is 0",
		"max-model-len is 0", "block-size is 0", "kv-blocks is 0",
	} {
		assert.ErrorContains(t, err, want)
	}
	c = DefaultConfig()
	c.MaxNumBatchedTokens = 16
	assert.ErrorContains(t, c.Validate(), "max-num-batched-tokens 16 is below max-num-seqs 32")
}
