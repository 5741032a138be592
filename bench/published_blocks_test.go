package bench

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// fewBlocks were published before the rule below.
var fewBlocks = []string{
	"h200-r2", "vllm-cpu-aa", "vllm-cpu-azure", "vllm-cpu-control", "vllm-cpu-interleaved-aa", "vllm-cpu-noop", "vllm-cpu-r1",
	"vllm-cpu-revisions", "vllm-cpu-second-aa",
}

// enoughBlocks is what a campaign has to have to be published: with six blocks nearly
// half of all starts may be bad ones without one being seen, with ten under a third.
func enoughBlocks(s *scenarios.Scenario) bool {
	asks := s.Purpose == scenarios.Overhead || s.Purpose == scenarios.AA
	least := 10
	if len(s.Arms) > 2 {
		least = 12
	}
	return !asks || s.Design.Blocks >= least
}

// Names decide nothing but who came before the rule.
func TestPublishedCampaignsHaveEnoughBlocks(t *testing.T) {
	for _, dir := range publishedCampaigns(t) {
		plan, err := results.ReadPlan(dir)
		require.NoError(t, err, dir)
		if !slices.Contains(fewBlocks, filepath.Base(dir)) {
			assert.True(t, enoughBlocks(&plan.Scenario), "%s has %d blocks", dir, plan.Scenario.Design.Blocks)
		}
	}
	two, three := make([]scenarios.Arm, 2), make([]scenarios.Arm, 3)
	for _, c := range []struct {
		purpose scenarios.Purpose
		arms    []scenarios.Arm
		blocks  int
		want    bool
	}{
		{scenarios.Overhead, two, 8, false}, {scenarios.Overhead, two, 10, true}, {scenarios.AA, two, 8, false},
		{scenarios.Overhead, three, 10, false}, {scenarios.Overhead, three, 12, true}, {scenarios.Control, two, 6, true},
	} {
		s := &scenarios.Scenario{Purpose: c.purpose, Arms: c.arms, Design: scenarios.Design{Blocks: c.blocks}}
		assert.Equal(t, c.want, enoughBlocks(s), c)
	}
}
