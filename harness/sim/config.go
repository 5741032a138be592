package sim

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// minStepBase is the shortest step in real time: below it, the operating
// system's timers would be part of what is measured.
const minStepBase = 10 * time.Millisecond

// Percent is a share in percent: 8 means 8 %. Its text form carries the sign.
type Percent float64

// String gives the text form, 8%.
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'g', -1, 64) + "%" }

// Type names the value in help texts.
func (p Percent) Type() string { return "percent" }

// Set parses 8%. The sign is required, so that 0.08 cannot be taken for 8%.
func (p *Percent) Set(s string) error {
	number, signed := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || (!signed && v != 0) {
		return fmt.Errorf("%q is not a percentage: write it like 8%%", s)
	}
	if !(v >= 0 && v <= 1000) {
		return fmt.Errorf("%q is outside 0%% to 1000%%", s)
	}
	*p = Percent(v)
	return nil
}

// Config is one start of the simulated engine. Make it with DefaultConfig.
type Config struct {
	Model string // served model name

	// A step lasts StepBase + decode requests · StepPerDecode +
	// prefill tokens · StepPerPrefillToken, times the factors below.
	StepBase            time.Duration
	StepPerDecode       time.Duration
	StepPerPrefillToken time.Duration

	// Noise is the standard deviation of a step's duration, RunNoise that of a
	// factor drawn once per start, both relative and normally distributed.
	Noise    Percent
	RunNoise Percent
	// HostDrift is the standard deviation of a factor that all engines of a host
	// share and that wanders over half a minute; HostSeed draws its course.
	HostDrift Percent
	HostSeed  uint64
	// Seed of Noise and RunNoise; 0 draws one, so that starts differ.
	Seed uint64
	// RecordCost is how much longer a step takes while step records are
	// written: the true cost that a campaign has to find.
	RecordCost Percent

	MaxNumSeqs          int
	MaxNumBatchedTokens int
	MaxModelLen         int
	BlockSize           int // tokens per KV block
	KVBlocks            int // usable blocks, the null block not counted
	VocabSize           int
	EnablePrefixCaching bool

	// RecordDir receives the step records; empty: no records. The command
	// fills it from the recorder's environment variable.
	RecordDir string
	// Log receives what vLLM would print; nil discards it.
	Log io.Writer
	// Exit ends the process for the fault kill-after; nil only stops the
	// engine, as if its process were gone.
	Exit func(code int)
}

// DefaultConfig holds the documented default of every flag.
func DefaultConfig() Config {
	return Config{
		Model:               "simulated",
		StepBase:            minStepBase,
		StepPerDecode:       20 * time.Microsecond,
		StepPerPrefillToken: 10 * time.Microsecond,
		MaxNumSeqs:          32,
		MaxNumBatchedTokens: 2048,
		MaxModelLen:         8192,
		BlockSize:           16,
		KVBlocks:            8192,
		VocabSize:           512,
	}
}

// Flags binds the settings to flags of the same names as a scenario's
// engine.args; the present values are the defaults.
func (c *Config) Flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Model, "served-model-name", c.Model, "model name in requests and responses")
	fs.DurationVar(&c.StepBase, "step-base", c.StepBase, "duration of a step without work, at least 10ms")
	fs.DurationVar(&c.StepPerDecode, "step-per-decode", c.StepPerDecode, "added per decode request")
	fs.DurationVar(&c.StepPerPrefillToken, "step-per-prefill-token", c.StepPerPrefillToken, "added per prefill token")
	fs.Var(&c.Noise, "noise", "relative standard deviation of a step's duration")
	fs.Var(&c.RunNoise, "run-noise", "relative standard deviation of a factor drawn once per start")
	fs.Var(&c.HostDrift, "host-drift", "relative standard deviation of a slow factor that all engines of the host share")
	fs.Uint64Var(&c.HostSeed, "host-seed", c.HostSeed, "course of the host drift")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the noise, 0 draws one")
	fs.Var(&c.RecordCost, "record-cost", "relative slowdown while step records are written")
	fs.IntVar(&c.MaxNumSeqs, "max-num-seqs", c.MaxNumSeqs, "requests that may run at the same time")
	fs.IntVar(&c.MaxNumBatchedTokens, "max-num-batched-tokens", c.MaxNumBatchedTokens, "tokens per step; longer prompts are split")
	fs.IntVar(&c.MaxModelLen, "max-model-len", c.MaxModelLen, "longest prompt and output together, in tokens")
	fs.IntVar(&c.BlockSize, "block-size", c.BlockSize, "tokens per KV block")
	fs.IntVar(&c.KVBlocks, "kv-blocks", c.KVBlocks, "usable KV blocks")
	fs.IntVar(&c.VocabSize, "vocab-size", c.VocabSize, "number of token ids")
	fs.BoolVar(&c.EnablePrefixCaching, "enable-prefix-caching", c.EnablePrefixCaching, "reuse KV blocks of equal prompt beginnings")
}

// Validate reports every setting that the engine cannot work with.
func (c *Config) Validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("simulated engine: "+format, args...))
		}
	}
	refuse(c.Model == "", "served-model-name is empty")
	refuse(c.StepBase < minStepBase, "step-base is %v: use %v or more", c.StepBase, minStepBase)
	refuse(c.StepPerDecode < 0, "step-per-decode is negative: %v", c.StepPerDecode)
	refuse(c.StepPerPrefillToken < 0, "step-per-prefill-token is negative: %v", c.StepPerPrefillToken)
	refuse(c.VocabSize < 2, "vocab-size is %d: use 2 or more", c.VocabSize)
	for name, v := range map[string]int{
		"max-num-seqs": c.MaxNumSeqs, "max-num-batched-tokens": c.MaxNumBatchedTokens,
		"max-model-len": c.MaxModelLen, "block-size": c.BlockSize, "kv-blocks": c.KVBlocks,
	} {
		refuse(v < 1, "%s is %d: use 1 or more", name, v)
	}
	refuse(c.MaxNumBatchedTokens < c.MaxNumSeqs, "max-num-batched-tokens %d is below max-num-seqs %d: a full batch would not fit in a step",
		c.MaxNumBatchedTokens, c.MaxNumSeqs)
	return errors.Join(errs...)
}
