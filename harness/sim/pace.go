package sim

import (
	"context"
	"math"
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
	return time.Duration(float64(d) * p.factor * p.draw(p.cfg.Noise) * p.drift(time.Now()))
}

// driftPeriod is the time between two independent values of the host drift.
const driftPeriod = 30 * time.Second

// drift is the host's factor at a time: a straight line between normal values
// drawn for each period of the wall clock, the same in every process.
func (p *pace) drift(now time.Time) float64 {
	if p.cfg.HostDrift == 0 {
		return 1
	}
	at := float64(now.UnixNano()) / float64(driftPeriod)
	knot := math.Floor(at)
	value := func(k float64) float64 { return rand.New(rand.NewPCG(p.cfg.HostSeed, uint64(int64(k)))).NormFloat64() }
	left := at - knot
	return max(0.1, 1+float64(p.cfg.HostDrift)/100*(value(knot)*(1-left)+value(knot+1)*left))
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
