package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const spun = `scenario: spun
purpose: control
engine: {kind: vllm, model: m, args: {no-async-scheduling: true}}
arms:
  plain: {patch: control-spin}
  slowed: {patch: control-spin, env: {VLLM_OPPROF_SPIN: 0.06, VLLM_OPPROF_SPIN_PREFILL: 0.2}}
phases:
  - {name: one, source: {seed: 1}}
design: {seed: 1}
`

const simulatedControl = `scenario: simulated
purpose: control
engine: {kind: sim}
arms:
  plain: {}
  slowed: {args: {record-cost: 6%}, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - {name: one, source: {seed: 1}}
design: {seed: 1}
`

func TestKnobsOfAControl(t *testing.T) {
	s, err := Load("x", []byte(spun), known)
	require.NoError(t, err)
	assert.Equal(t, []Knob{
		{SpinVariable, "tpot_p50", 0.06}, {SpinPrefillVariable, "ttft_p50", 0.2},
	}, s.Knobs())
	tuned := s.WithKnobs([]Knob{{SpinVariable, "tpot_p50", 0.0712}, {SpinPrefillVariable, "ttft_p50", 1.5}})
	slowed, _ := tuned.Arm("slowed")
	assert.Equal(t, map[string]string{SpinVariable: "0.0712", SpinPrefillVariable: "1.5"}, slowed.Env)
	plain, _ := tuned.Arm("plain")
	assert.Empty(t, plain.Env)
	before, _ := s.Arm("slowed")
	assert.Equal(t, "0.06", before.Env[SpinVariable], "the scenario itself stays as it is")
	assert.Equal(t, 0.0712, tuned.Knobs()[0].Value)
}

func TestKnobOfASimulatedControl(t *testing.T) {
	s, err := Load("x", []byte(simulatedControl), known)
	require.NoError(t, err)
	require.Len(t, s.Knobs(), 1)
	k := s.Knobs()[0]
	assert.Equal(t, Knob{"record-cost", "tpot_p50", 0.06}, k)
	k.Value = 0.0574
	slowed, _ := s.WithKnobs([]Knob{k}).Arm("slowed")
	assert.Equal(t, "5.74%", slowed.Args["record-cost"])
	assert.Equal(t, "{run_dir}/steps", slowed.Env[RecorderVariable])
}

func TestOtherPurposesHaveNoKnobs(t *testing.T) {
	s, err := Load("x", []byte(replace(t, simulatedControl, "control", "overhead")), known)
	require.NoError(t, err)
	assert.Empty(t, s.Knobs())
}

func TestBadControls(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"slowed baseline", "plain: {patch: control-spin}", "plain: {patch: control-spin, env: {VLLM_OPPROF_SPIN: 0.01}}",
			"s:5:56: arms.plain.env.VLLM_OPPROF_SPIN: arm plain is a baseline, and nothing may slow that down: leave this out"},
		{"slowed engine", "args: {", "env: {VLLM_OPPROF_SPIN_PREFILL: 1}, args: {",
			"s:3:64: engine.env.VLLM_OPPROF_SPIN_PREFILL: it would slow all arms down: declare it in the candidate"},
		{"no slowdown", "VLLM_OPPROF_SPIN: 0.06, ", "",
			"s:6:11: arms.slowed: the candidate of a control needs VLLM_OPPROF_SPIN, the share of a step that it waits"},
		{"zero", "0.06", "0", `s:6:57: arms.slowed.env.VLLM_OPPROF_SPIN: want a share of a step's span, above 0 and at most 10, got "0"`},
		{"percent", "0.06", "6%", `s:6:57: arms.slowed.env.VLLM_OPPROF_SPIN: want a share of a step's span, above 0 and at most 10, got "6%"`},
		{"not a number", "0.2", "nan", `s:6:89: arms.slowed.env.VLLM_OPPROF_SPIN_PREFILL: want a share of a step's span, above 0 and at most 10, got "nan"`},
		{"too much", "0.2", "11", `s:6:89: arms.slowed.env.VLLM_OPPROF_SPIN_PREFILL: want a share of a step's span, above 0 and at most 10, got "11"`},
		{"other patch", "plain: {patch: control-spin}", "plain: {patch: r1-seed}",
			"s:5:18: arms.plain.patch: all arms of a control run the patch control-spin: the baseline with its variables unset"},
		{"recorder", "VLLM_OPPROF_SPIN: 0.06", "VLLM_OPPROF_SPIN: 0.06, VLLM_OPPROF_DIR: \"{run_dir}/steps\"",
			"s:6:80: arms.slowed.env.VLLM_OPPROF_DIR: the patch control-spin has no recorder: leave this out"},
		{"async scheduling", "no-async-scheduling: true", "",
			"s:3:38: engine.args: a control on vllm needs no-async-scheduling: true, or its wait hides behind the GPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load("s", []byte(replace(t, spun, c.from, c.to)), known)
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestSlowdownOutsideAControl(t *testing.T) {
	_, err := Load("s", []byte(replace(t, spun, "purpose: control", "purpose: overhead")), known)
	const only = "only a scenario of purpose control slows an arm down on purpose"
	assert.EqualError(t, err, "s:6:57: arms.slowed.env.VLLM_OPPROF_SPIN: "+only+"\n"+
		"s:6:89: arms.slowed.env.VLLM_OPPROF_SPIN_PREFILL: "+only)
}

func TestBadSimulatedControls(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"slowed baseline", "plain: {}", "plain: {args: {record-cost: 1%}}",
			"s:5:31: arms.plain.args.record-cost: arm plain is a baseline, and nothing may slow that down: leave this out"},
		{"slowed engine", "kind: sim", "kind: sim, args: {record-cost: 1%}",
			"s:3:41: engine.args.record-cost: it would slow every recording arm down: declare it in the candidate"},
		{"no cost", "args: {record-cost: 6%}, ", "",
			"s:6:11: arms.slowed: the candidate of a simulated control needs record-cost and VLLM_OPPROF_DIR: recording is what slows it down"},
		{"no recorder", `, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}`, "",
			"s:6:11: arms.slowed: the candidate of a simulated control needs record-cost and VLLM_OPPROF_DIR: recording is what slows it down"},
		{"no sign", "6%", "0.06", `s:6:32: arms.slowed.args.record-cost: want a share above 0% and at most 1000%, got "0.06"`},
		{"zero", "6%", "0%", `s:6:32: arms.slowed.args.record-cost: want a share above 0% and at most 1000%, got "0%"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load("s", []byte(replace(t, simulatedControl, c.from, c.to)), known)
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestAttachedControl(t *testing.T) {
	_, err := Load("s", []byte(replace(t, attached, "scenario: attached", "scenario: attached\npurpose: control")), known)
	assert.ErrorContains(t, err, "engine.kind: a control slows its candidate down itself: it cannot do that to an attached endpoint")
}
