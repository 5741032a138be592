package results

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/scenarios"
)

func extensionPlan() *Plan {
	p := &Plan{Scenario: scenarios.Scenario{Design: scenarios.Design{Blocks: 6, BurnInBlocks: 1, Looks: []int{6}}}, FileSHA256: "aa"}
	p.Blocks = []Block{{Number: 1, BurnIn: true}}
	for i := range 6 {
		p.Blocks = append(p.Blocks, Block{Number: i + 1})
	}
	return p
}

func runOf(block string) Entry {
	return Entry{Event: EventRunEnd, Block: block, Attempt: 1, Arm: "off"}
}

func TestExtension(t *testing.T) {
	session := Entry{Event: EventSession, HostGroup: "h1", PlanSHA256: "aa", Seq: 1}
	for _, c := range []struct {
		name    string
		edit    func(*Plan)
		entries []Entry
		want    string
	}{
		{"as planned", nil, []Entry{session, runOf("burnin-1"), runOf("0006"), {Event: EventComplete}}, ""},
		{"without digests", nil, []Entry{{Event: EventSession}, runOf("0001")}, ""},
		{"a host of its own burn-in", nil, []Entry{session, {Event: EventSession, HostGroup: "h2"}, runOf("burnin-2")}, ""},
		{"the same host twice", nil, []Entry{session, session, runOf("burnin-2")}, "run burnin-2/off is of a block that is not in the plan"},
		{"no burn-in", nil, []Entry{session, runOf("burnin-0")}, "not in the plan"},
		{"a block more", nil, []Entry{session, runOf("0007")}, "run 0007/off is of a block that is not in the plan"},
		{"after the end", nil, []Entry{{Event: EventComplete}, session, runOf("0001")}, "run 0001/off came after the campaign was complete"},
		{"after a look that decided", nil, []Entry{session, {Event: EventLook, Blocks: 6, Follows: FollowsStop}, runOf("0006")}, "run 0006/off came after the look at 6 blocks, which decided"},
		{"after a look that did not", nil, []Entry{session, {Event: EventLook, Blocks: 6, Follows: FollowsOn}, runOf("0006")}, ""},
		{"an edited number", func(p *Plan) { p.Scenario.Design.Blocks = 8 }, nil, "plan.json was edited: it lists 6 blocks, its scenario says 8"},
		{"an edited look", func(p *Plan) { p.Scenario.Design.Looks = []int{6, 12} }, nil, "its last look comes after 12 blocks, it lists 6"},
		{"another file", func(p *Plan) { p.FileSHA256 = "bb" }, []Entry{session}, "plan.json is not the one that entry 1 of the ledger began with: SHA-256 bb, then aa"},
	} {
		p := extensionPlan()
		if c.edit != nil {
			c.edit(p)
		}
		got := Extension(p, c.entries)
		if c.want == "" {
			assert.Empty(t, got, c.name)
		} else {
			assert.Contains(t, got, c.want, c.name)
		}
	}
}

func TestSoftwareAndGroup(t *testing.T) {
	e := Environment{Host: "a", Kernel: "6", CPUModel: "x", Cores: 2, GPUs: []string{"H20", "H20"}, Boards: []string{"b1", "b2"},
		Driver: "570", Versions: map[string]string{"vllm": "0.24.0"}}
	assert.Equal(t, map[string]string{"vllm": "0.24.0", "driver": "570", "GPU model": "H20"}, e.Software())
	software, group := e.Software(), e.Group()
	for name, edit := range map[string]func(*Environment){
		"host": func(e *Environment) { e.Host = "c" }, "kernel": func(e *Environment) { e.Kernel = "7" },
		"cpu": func(e *Environment) { e.CPUModel = "y" }, "cores": func(e *Environment) { e.Cores = 4 },
		"board": func(e *Environment) { e.Boards = []string{"b1", "b3"} },
	} {
		other := e
		edit(&other)
		assert.NotEqual(t, group, other.Group(), name)
		assert.Equal(t, software, other.Software(), name)
	}
	for name, edit := range map[string]func(*Environment){
		"driver": func(e *Environment) { e.Driver = "571" }, "model": func(e *Environment) { e.GPUs = []string{"H200"} },
		"vllm": func(e *Environment) { e.Versions = map[string]string{"vllm": "0.25.0"} },
	} {
		other := e
		edit(&other)
		assert.Equal(t, group, other.Group(), name)
		assert.NotEqual(t, software, other.Software(), name)
	}
	e.MemoryBytes, e.GPUs = 1, []string{"H20"}
	assert.Equal(t, group, e.Group(), "memory and the number of GPUs beside the servers' own change nothing")
	assert.Equal(t, software, e.Software())
}
