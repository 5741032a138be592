// Package harness measures: it plans a campaign, runs its blocks on fresh
// servers, and goes on after any interruption. It judges single runs (package
// results/validity) because an invalid run voids its block, but never effects:
// those are report's business, from the run directory.
package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

// Plan decides everything that a campaign will do: blocks, order, seeds and
// hashes. It has no side effect, and the same scenario always gives the same
// plan. file is the scenario's name for messages, text its source, tool the
// version of opbench.
func Plan(s *scenarios.Scenario, file string, text []byte, tool string) (*results.Plan, error) {
	p := &results.Plan{
		Schema: results.Schema, Kind: "plan", Tool: tool, Rules: results.RulesVersion,
		ScenarioFile: filepath.Base(file), ScenarioText: string(text), Scenario: *s,
		Patches: map[string]string{}, Blocks: blocks(s),
	}
	for _, a := range s.Arms {
		rev, err := patches.Resolve(a.Patch, a.PatchDir)
		if err != nil {
			return nil, fmt.Errorf("arm %s: %w", a.Name, err)
		}
		p.Patches[a.Patch] = rev.SHA256
	}
	w, err := expand(s)
	if err != nil {
		return nil, err
	}
	p.WorkloadSHA256, p.ShapeSHA256 = workload.Hash(w.phases, w.identity), shapesOf(w.phases)
	p.IdentitySHA256 = identityHash(w.identity)
	p.Hash, err = p.ComputeHash()
	return p, err
}

// shapesOf has those of the phases whose prompts have a known number of tokens.
func shapesOf(phases []workload.Workload) map[string]string {
	all := map[string]string{}
	for _, w := range phases {
		if list, known := w.Shapes(); known {
			all[w.Phase] = shapes.SHA256(list)
		}
	}
	return all
}

// expanded is the workload of a scenario: the same for every run.
type expanded struct {
	phases   []workload.Workload
	identity []workload.Request
}

func expand(s *scenarios.Scenario) (expanded, error) {
	var w expanded
	for _, ph := range s.Phases {
		one, err := workload.Expand(ph)
		if err != nil {
			return w, err
		}
		w.phases = append(w.phases, one)
	}
	// Identity prompts are drawn from the first phase's vocabulary.
	src := s.Phases[0].Source
	var err error
	w.identity, err = workload.Identity(s.Identity, src.VocabLow, src.VocabSize)
	return w, err
}

// identityHash covers the prompts of the identity pass alone; empty without one.
func identityHash(prompts []workload.Request) string {
	if len(prompts) == 0 {
		return ""
	}
	return workload.Hash(nil, prompts)
}

// blocks lists burn-in blocks, then the blocks of the analysis, in the order that the
// design's seed draws first.
func blocks(s *scenarios.Scenario) []results.Block { return replicated(s, 0) }

// mostDraws bounds the search for an order that no earlier replicate has: a plan of one
// pair of blocks has two.
const mostDraws = 1000

// replicated goes on drawing orders until it has one more than k that differ; where so
// many do not exist it takes the last one.
func replicated(s *scenarios.Scenario, k int) (order []results.Block) {
	rng := rand.New(rand.NewPCG(s.Design.Seed, 0x6f72646572)) // "order"
	var seen []string
	for range mostDraws {
		order = draw(s, rng)
		if name := fmt.Sprint(order); !slices.Contains(seen, name) {
			seen = append(seen, name)
		}
		if len(seen) > k {
			break
		}
	}
	return order
}

// Replicate numbers a plan and draws the order that goes with the number: the scenario
// and its requests stay, so the campaigns can be compared, and what the order of runs
// and the time of day do together is drawn anew. The seeds of the servers follow from
// the plan's hash. 0 is the plan that Plan makes.
func Replicate(p *results.Plan, k int) (err error) {
	if k < 0 {
		return fmt.Errorf("replicate %d: replicates are numbered from 1", k)
	}
	p.Replicate, p.Blocks = k, replicated(&p.Scenario, k)
	p.Hash, err = p.ComputeHash()
	return err
}

// draw draws one order. Two neighbouring blocks are ABBA or BAAB: a drift that is linear
// in time cancels within the four runs.
func draw(s *scenarios.Scenario, rng *rand.Rand) []results.Block {
	forward := make([]string, len(s.Arms))
	for i, a := range s.Arms {
		forward[i] = a.Name
	}
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	var out []results.Block
	for i := range s.Design.BurnInBlocks {
		out = append(out, results.Block{Number: i + 1, BurnIn: true, Order: forward})
	}
	if s.Purpose == scenarios.Correctness && len(out) == 0 && !s.Design.Interleaved() {
		out = append(out, results.Block{Number: 1, BurnIn: true, Order: baselines(s)})
	}
	if len(s.Arms) > 2 {
		return append(out, williams(s, forward, rng)...)
	}
	var first bool
	for i := range s.Design.Blocks {
		if i%2 == 0 {
			first = rng.IntN(2) == 0
		}
		order := forward
		if first != (i%2 == 0) {
			order = backward
		}
		out = append(out, results.Block{Number: i + 1, Order: order})
	}
	return out
}

// baselines are the arms that a correctness campaign starts once more, before its
// blocks: one that gives other outputs the second time cannot show that a candidate
// differs.
func baselines(s *scenarios.Scenario) (arms []string) {
	for _, c := range s.Compare {
		if !slices.Contains(arms, c.Baseline) {
			arms = append(arms, c.Baseline)
		}
	}
	return arms
}

// SetPilot puts the pilot of a positive control into a plan and its hash; nil
// takes it out.
func SetPilot(p *results.Plan, pilot *results.Pilot) (err error) {
	p.Pilot = pilot
	p.Hash, err = p.ComputeHash()
	return err
}

// startSeed is the seed of one server start: it differs between starts and is
// the same when a plan is run again.
func startSeed(plan *results.Plan, key results.Key) uint64 {
	sum := sha256.Sum256([]byte(plan.Hash + " " + key.Dir()))
	return binary.BigEndian.Uint64(sum[:8])
}
