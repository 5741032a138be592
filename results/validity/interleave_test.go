package validity

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// interleaved is a healthy run whose phases were sent in two slices.
func interleaved(block, arm string, first int) results.Attempt {
	a := healthy(block, arm)
	for i := range a.Run.Phases {
		p := &a.Run.Phases[i]
		p.Slices = []results.Slice{{Number: 1, Position: first, Requests: 2}, {Number: 2, Position: 1 - first, Requests: p.Planned - 2}}
		p.IdleSeconds, p.IdleCPUSeconds = 10, map[string]float64{"engine_core": 0.3, "worker": 0.3}
	}
	for i := range a.Requests {
		if r := &a.Requests[i]; !r.Warmup && r.Phase != "identity" {
			r.Slice = 1
		}
	}
	return a
}

// Each rule about taking turns fires on its fault, and on no healthy run.
func TestInterleavedRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   Rule
		say    string
		breaks func(p *results.Plan, a *results.Attempt)
	}{
		{"healthy", "", "", func(*results.Plan, *results.Attempt) {}},
		{"no slices", "slices-missing", "phase wide has 0 of 4 timed requests in its slices and 0 outside", func(_ *results.Plan, a *results.Attempt) { a.Run.Phases[0].Slices = nil }},
		{"a request outside", "slices-missing", "4 of 4 timed requests in its slices and 1 outside", func(_ *results.Plan, a *results.Attempt) { a.Requests[1].Slice = 0 }},
		{"not planned", "slices-missing", "was sent in 2 slices, the plan has none", func(p *results.Plan, _ *results.Attempt) { p.Scenario.Design.Interleave.Slice = 0 }},
		{"times of two kinds", "stamps-mixed", "stamped 84.0 % of the reads in phase wide", func(_ *results.Plan, a *results.Attempt) { a.Run.Phases[0].Client.KernelStamps = 0.84 }},
		{"busy beside the other arm", "idle-arm", "used 0.21 cores in phase arrivals", func(_ *results.Plan, a *results.Attempt) { a.Run.Phases[1].IdleCPUSeconds["worker"] = 1.8 }},
	} {
		plan, a := healthyPlan(), interleaved("0001", "on", 0)
		plan.Scenario.Design.Interleave.Slice = time.Second
		c.breaks(plan, &a)
		found := Run(plan, a.Run, a.Requests, a.Identity)
		if c.rule == "" {
			assert.Empty(t, found, c.name)
			continue
		}
		assert.Equal(t, []Rule{c.rule}, slices.Compact(rules(found)), c.name)
		assert.Contains(t, found[0].Message, c.say, c.name)
	}
}

// Times of the kernel in one arm and of the client in the other can't be
// compared.
func TestStampsOfAPair(t *testing.T) {
	off, on := healthy("0001", "off"), healthy("0001", "on")
	for i := range off.Run.Phases {
		off.Run.Phases[i].Client.KernelStamps, on.Run.Phases[i].Client.KernelStamps = 1, 0.995
	}
	assert.Empty(t, Compare(healthyPlan(), offOn, []results.Attempt{off, on}).Findings)
	on.Run.Phases[1].Client.KernelStamps = 0.8
	found := Compare(healthyPlan(), offOn, []results.Attempt{off, on}).Findings
	if assert.Len(t, found, 1) {
		assert.Equal(t, ruleStampsDiffer, found[0].Rule)
		assert.Contains(t, found[0].Message, "100.0 % of the reads in one arm and 80.0 % in the other")
	}
	checks := healthyPlan()
	checks.Scenario.Purpose = scenarios.Correctness
	assert.Empty(t, Compare(checks, offOn, []results.Attempt{off, on}).Findings, "it reports no times")
}

// The arms of a block send the same slices, and no arm always comes first.
func TestSlicesOfAPair(t *testing.T) {
	for _, c := range []struct {
		name, say string
		breaks    func(candidate *results.Attempt)
	}{
		{"healthy", "", func(*results.Attempt) {}},
		{"one slice less", "the arms have 2 and 1 slices", func(c *results.Attempt) { c.Run.Phases[0].Slices = c.Run.Phases[0].Slices[:1] }},
		{"other requests", "slice 2 has 2 requests in one arm, slice 2 has 1", func(c *results.Attempt) { c.Run.Phases[0].Slices[1].Requests = 1 }},
		{"always second", "first 2 times more often", func(c *results.Attempt) {
			c.Run.Phases[0].Slices[0].Position, c.Run.Phases[0].Slices[1].Position = 1, 1
		}},
	} {
		plan := healthyPlan()
		plan.Scenario.Design.Interleave.Slice = time.Second
		off, on := interleaved("0001", "off", 0), interleaved("0001", "on", 1)
		if c.name == "always second" {
			off.Run.Phases[0].Slices[1].Position = 0
		}
		c.breaks(&on)
		found := Compare(plan, offOn, []results.Attempt{off, on}).Findings
		if c.say == "" {
			assert.Empty(t, found, c.name)
			continue
		}
		if assert.Len(t, found, 1, c.name) {
			assert.Equal(t, ruleSlicesDiffer, found[0].Rule)
			assert.Contains(t, found[0].Message, c.say, c.name)
		}
	}
}
