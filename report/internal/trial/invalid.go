package trial

import (
	"encoding/json"
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

// EditPlan changes plan.json of a written campaign, as one that does not wish to be
// found out: with the hash of what it says then.
func EditPlan(t *testing.T, dir string, edit func(*results.Plan)) {
	t.Helper()
	p, err := results.ReadPlan(dir)
	require.NoError(t, err)
	edit(p)
	hash(t, p)
	path := filepath.Join(dir, "plan.json")
	require.NoError(t, os.Remove(path))
	require.NoError(t, results.WriteJSON(path, p))
}

// LeaveOut takes step files out of a written campaign as publishing does; names are
// those of thinned.json.
func LeaveOut(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.Remove(filepath.Join(dir, "blocks", filepath.FromSlash(name))))
	}
	list, err := json.Marshal(names)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thinned.json"), list, 0o644))
	LedgerEntry(t, dir, results.Entry{Event: results.EventThinned, ThinnedSHA256: hashText(string(list))})
}

// Still takes the noise out of a campaign. Equal runs are then equal to the
// nanosecond, as only those on a virtual clock can be.
func Still(tr *Trial) {
	tr.Noise, tr.Scenario.Engine = 0, scenarios.Engine{Kind: scenarios.EngineSim, Model: "sim"}
	tr.Edit = func(r *Recorded) {
		for i := range r.Run.Phases {
			c := &r.Run.Phases[i].Client
			c.ProbeLagMean, c.ProbeLagP99, c.ProbeLagMax = 0, 0, 0
		}
	}
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
