package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// LedgerEntry appends to the ledger of a written campaign.
func LedgerEntry(t *testing.T, dir string, e results.Entry) {
	t.Helper()
	l, err := results.OpenLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	require.NoError(t, l.Append(e))
	require.NoError(t, l.Close())
}

// EditPlan changes plan.json of a written campaign.
func EditPlan(t *testing.T, dir string, edit func(*results.Plan)) {
	t.Helper()
	p, err := results.ReadPlan(dir)
	require.NoError(t, err)
	edit(p)
	path := filepath.Join(dir, "plan.json")
	require.NoError(t, os.Remove(path))
	require.NoError(t, results.WriteJSON(path, p))
}

func MakeAA(tr *Trial) {
	tr.Scenario.Purpose = scenarios.AA
	tr.Scenario.Arms[1].Env = nil
	tr.Effect = map[string]float64{}
}

// StallOn gives every run of the arm on two stalls.
func StallOn(tr *Trial) {
	tr.Edit = func(r *Recorded) {
		if r.Run.Key.Arm != "on" {
			return
		}
		for i := 4; i < 8; i++ { // two streams in the same stall are one event
			at := int64(i/2) * 1e10
			r.Requests[i].LongGaps = [][2]int64{{at, at + 4e8}}
		}
	}
}

// OneLine undoes the wrapping of the text report.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
