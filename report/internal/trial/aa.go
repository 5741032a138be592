package trial

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func Loaded(t *testing.T, dir string) *results.Campaign {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	return c
}

func Published(t *testing.T, name string) *results.Campaign {
	t.Helper()
	return Loaded(t, filepath.Join("..", "..", "results", "campaigns", name))
}

// Equal is an A/A campaign whose noise the margin can bear.
func Equal(t *testing.T, blocks int) *Trial {
	tr := New(t, blocks)
	MakeAA(tr)
	return tr
}

// Embed adds an arm that repeats off and is compared with it.
func Embed(tr *Trial) {
	tr.Scenario.Arms = append(tr.Scenario.Arms, scenarios.Arm{Name: "off2", Patch: tr.Scenario.Arms[0].Patch, SameAs: "off"})
	tr.Scenario.Compare = append(tr.Scenario.Compare, scenarios.Comparison{Baseline: "off", Candidate: "off2"})
}
