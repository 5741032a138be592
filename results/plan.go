// Package results owns the run directory: what was measured, how it is stored,
// and how it is read back. Files are written once (temporary file, rename,
// directory sync) and never edited; the ledger is the only state there is.
package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

// Schema is the version of plan.json, run.json, the ledger and verdict.json.
// Readers refuse a higher one.
const Schema = 1

// RulesVersion names the analysis rules (validity, statistics, verdict) of new
// plans, and those that every plan is judged by. It is part of the plan hash: the
// same scenario under other rules is another plan.
//
// Rules 2 are rules 1 and the checks that came with new records: steps of the
// wall clock, the profiler, foreign GPU processes, slices and idle arms of
// interleaved runs, times of two kinds, and the size of the KV cache.
//
// Rules 3 count what was given up and repeated, and let the worst attempt decide;
// believe no number of a run that its requests give; compare the outputs of the
// timed requests; adjust a FAIL for the number of metrics; and ask of a control
// that it catches something.
const RulesVersion = "3"

// readable are the rules of the plans that this program can judge, all of them by
// rules 3: what their records lack is not looked for.
var readable = []string{"1", "2", RulesVersion}

// CheckRules refuses a plan of other analysis rules, and one that is to be judged
// by a metric that is not in the table.
func (p *Plan) CheckRules() error {
	if !slices.Contains(readable, p.Rules) {
		return fmt.Errorf("the plan was made under analysis rules %q, this tool has rules %s: use the one that made it, %s",
			p.Rules, strings.Join(readable, ", "), p.Maker())
	}
	if metric, found := p.Scenario.UnknownPrimary(); found {
		return fmt.Errorf("the plan is to be judged by %q, a metric that this tool does not gate: use the one that made it, %s", metric, p.Maker())
	}
	return nil
}

// Plan is the immutable content of plan.json, written before the first run.
type Plan struct {
	Schema       int                `json:"schema"`
	Kind         string             `json:"kind"` // "plan"
	Tool         string             `json:"tool"` // version of opbench, see ToolVersion
	Rules        string             `json:"rules"`
	ScenarioFile string             `json:"scenario_file"` // base name only
	ScenarioText string             `json:"scenario_text"`
	Scenario     scenarios.Scenario `json:"scenario"`
	Patches      map[string]string  `json:"patches"` // patch id to SHA-256 of its series ("none": "")
	Blocks       []Block            `json:"blocks"`  // in running order, burn-in first
	// WorkloadSHA256 covers token ids, lengths, intended times, warm-up,
	// identity prompts and sampling parameters of all phases.
	WorkloadSHA256 string `json:"workload_sha256"`
	// IdentitySHA256 covers the prompts of the identity pass alone; empty in plans of
	// earlier versions.
	IdentitySHA256 string `json:"identity_sha256,omitempty"`
	// ShapeSHA256 has, for every phase whose prompts are token ids, the ShapeSHA256
	// of all its requests; nil in plans of earlier versions.
	ShapeSHA256 map[string]string `json:"shape_sha256,omitempty"`
	// Replicate numbers the plans of a scenario that differ in nothing but the order of
	// their runs; 0 is the one that the seed draws first.
	Replicate int `json:"replicate,omitempty"`
	// Pilot is how the slowdown of a positive control was set; nil for other
	// campaigns, and for a control that ran with the values of its scenario.
	Pilot *Pilot `json:"pilot,omitempty"`
	// Hash is the plan hash: scenario, workload, shapes, patches, order, rules, replicate
	// and pilot; no paths, ports, times or hosts.
	Hash string `json:"hash"`
	// FileSHA256 is the digest of the plan.json that it was read from; empty for
	// a plan that was just made.
	FileSHA256 string `json:"-"`
}

// Maker names the opbench that made a plan, and how to get it back as far as its
// version tells: for the reader of a refusal.
func (p *Plan) Maker() string { return maker(p.Tool) }

// Block is one run of each arm.
type Block struct {
	Number int      `json:"number"` // 1..n; burn-in blocks count from 1 on their own
	BurnIn bool     `json:"burn_in,omitempty"`
	Order  []string `json:"order"` // arm names in running order
}

// BurnInBlocks is the number of burn-in blocks of each host group.
func (p *Plan) BurnInBlocks() (n int) {
	for _, b := range p.Blocks {
		if b.BurnIn {
			n++
		}
	}
	return n
}

// burnInPrefix begins the names of burn-in blocks.
const burnInPrefix = "burnin-"

// Name is the block's directory name: 0001, or burnin-1.
func (b Block) Name() string {
	if b.BurnIn {
		return fmt.Sprintf("%s%d", burnInPrefix, b.Number)
	}
	return fmt.Sprintf("%04d", b.Number)
}

// Key names one attempt of one run in the campaign.
type Key struct {
	Block   string `json:"block"`   // Block.Name
	Attempt int    `json:"attempt"` // 1 for the first
	Arm     string `json:"arm"`
}

// Dir is the run's directory below blocks/: 0001/off, or 0001.2/off for the
// second attempt.
func (k Key) Dir() string {
	if k.Attempt > 1 {
		return fmt.Sprintf("%s.%d/%s", k.Block, k.Attempt, k.Arm)
	}
	return k.Block + "/" + k.Arm
}

func (k Key) String() string { return k.Dir() }

// BlockAttempt names one attempt of a block.
type BlockAttempt struct {
	Block   string // Block.Name
	Attempt int    // 1 for the first
}

// BlockAttempt is the attempt of the block that the run belongs to.
func (k Key) BlockAttempt() BlockAttempt { return BlockAttempt{k.Block, k.Attempt} }
