package sim

import (
	"context"
	"math/rand/v2"
	"time"
)

// pace turns a step into a duration.
type pace struct {
	cfg    Config
	rng    *rand.Rand
	factor float64 // of this start
}

func newPace(cfg Config, faults *Faults, recording bool) *pace {
	seed := cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	p := &pace{cfg: cfg, rng: rand.New(rand.NewPCG(seed, mix(seed)))}
	p.factor = p.draw(cfg.RunNoise) * (1 + float64(faults.set[faultSlow].percent)/100)
	if recording {
		p.factor *= 1 + float64(cfg.RecordCost)/100
	}
	return p
}

// draw is a normal factor around 1, kept positive. It draws also where the
// spread is zero, so that settings do not shift each other's random numbers.
func (p *pace) draw(spread Percent) float64 {
	return max(0.1, 1+float64(spread)/100*p.rng.NormFloat64())
}

// duration is base + per-decode·requests + per-prefill·tokens, times the
// factors. A request that computes its beginning again costs like a prefill.
func (p *pace) duration(st *step) time.Duration {
	d := p.cfg.StepBase
	for _, sh := range st.shares {
		if sh.prefill || sh.tokens > 1 {
			d += time.Duration(sh.tokens) * p.cfg.StepPerPrefillToken
		} else {
			d += p.cfg.StepPerDecode
		}
	}
	return time.Duration(float64(d) * p.factor * p.draw(p.cfg.Noise))
}

// deadline is when a step of duration d ends. Back-to-back steps are chained to
// the deadline before (previous), not to the moment at which the process got
// round to it (now): late wake-ups then do not add up, and the rate of steps is
// the configured one. A delay of a step or more is not caught up. A zero
// previous stands for an engine that was idle.
func deadline(previous, now time.Time, d time.Duration) time.Time {
	if end := previous.Add(d); !previous.IsZero() && end.After(now) {
		return end
	}
	return now.Add(d)
}

// sleepUntil returns false if ctx ended first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
