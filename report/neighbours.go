package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// neighbour is another campaign in the same folder.
type neighbour struct {
	name   string
	plan   *results.Plan
	result string // of its verdict.json
}

// findNeighbours lists the earlier campaigns of the same scenario and patches,
// and the latest A/A campaign of the same workload. Names of run directories
// begin with their time, so their order is that of time.
func (b *builder) findNeighbours() error {
	b.view.AA = "none"
	names, err := siblings(b.c.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name >= b.view.Subject.Campaign {
			continue
		}
		n, ok := readNeighbour(filepath.Join(b.c.Dir, "..", name), name)
		if !ok {
			continue
		}
		if n.plan.Scenario.Name == b.s.Name && maps.Equal(n.plan.Patches, b.c.Plan.Patches) {
			b.view.Earlier = append(b.view.Earlier, Earlier{name, n.result, n.plan.Hash})
		}
		if n.plan.Scenario.Purpose == scenarios.AA && n.plan.WorkloadSHA256 == b.c.Plan.WorkloadSHA256 {
			b.view.AA = fmt.Sprintf("%s (%s)", n.result, name)
			b.aaResult = n.result
		}
	}
	return nil
}

// siblings returns the names of the folders beside dir in ascending order.
func siblings(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, ".."))
	if err != nil {
		return nil, fmt.Errorf("look for earlier campaigns: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// readNeighbour reads what is needed of another campaign; ok is false for a
// folder that is none.
func readNeighbour(dir, name string) (n neighbour, ok bool) {
	plan, err := results.ReadPlan(dir)
	if err != nil {
		return n, false
	}
	return neighbour{name: name, plan: plan, result: savedResult(filepath.Join(dir, verdictFile))}, true
}

func savedResult(path string) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "no verdict saved"
	}
	var v struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
		Result string `json:"result"`
	}
	if err != nil || json.Unmarshal(data, &v) != nil || v.Kind != "verdict" || v.Schema != results.Schema || v.Result == "" {
		return "verdict.json is not readable"
	}
	return v.Result
}

// requireAA voids a campaign whose scenario asks for an A/A that is not there or
// did not pass. One inside the campaign is judged with it.
func (b *builder) requireAA() {
	if !b.s.Gate.RequireAA || !b.gated() || b.aaResult == string(stat.Pass) {
		return
	}
	if !slices.ContainsFunc(b.s.Compare, b.equalArms) {
		b.invalid("A/A missing", "the scenario requires a passed A/A of this workload beside the campaign, found: %s", b.view.AA)
	}
}
