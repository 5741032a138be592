package trial

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

var Update = flag.Bool("update", false, "write the golden files again")

// Cases are campaigns of every verdict.
var Cases = []struct {
	Name   string
	Result string
	Exit   int
	Make   func(*testing.T) *Trial
}{
	{"pass", "PASS", view.ExitPass, func(t *testing.T) *Trial {
		tr := New(t, 10)
		tr.Edit = Telemetry
		return tr
	}},
	{"fail", "FAIL", view.ExitFail, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Effect["tpot"] = 0.055
		return tr
	}},
	{"inconclusive", "INCONCLUSIVE", view.ExitInconclusive, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Noise, tr.Effect["ttft"] = 0.012, 0.022
		return tr
	}},
	{"invalid", "INVALID(request failed)", view.ExitInvalid, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Void = map[string]string{"0004": "0004/on: request failed"}
		tr.Edit = OnRun("0002/on", func(r *Recorded) { r.Requests[5].Error = "connection reset by peer" })
		return tr
	}},
	{"identity", "FAIL(identity)", view.ExitFail, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Edit = OnRun("0003/on", func(r *Recorded) { r.Outputs.Tokens[2][5] = 7 })
		return tr
	}},
	{"checks", "PASS(checks)", view.ExitPass, Correctness},
	{"unfinished", "UNFINISHED", view.ExitUnfinished, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Stop = 4
		return tr
	}},
	{"arms", "PASS", view.ExitPass, ThreeArms},
	{"looks", "PASS", view.ExitPass, func(t *testing.T) *Trial {
		tr := New(t, 10)
		tr.Scenario.Design.Looks = []int{6, 10}
		tr.Noise, tr.Effect["ttft"] = 0.012, 0.017
		return tr
	}},
	{"hosts", "PASS", view.ExitPass, func(t *testing.T) *Trial {
		tr := New(t, 10)
		tr.Edit = func(r *Recorded) {
			switch block := r.Run.Key.Block; {
			case block == "0010":
				r.Env.Host = "node9"
			case block > "0006" && block < "a":
				r.Env.Host, r.Env.Cores = "node8", 48
			}
		}
		return tr
	}},
	{"control", "FAIL(not sensitive)", view.ExitFail, Missed},
	{"simulated", "PASS", view.ExitPass, func(t *testing.T) *Trial {
		tr := New(t, 6)
		tr.Scenario.Engine = scenarios.Engine{Kind: scenarios.EngineSim, Model: "sim"}
		return tr
	}},
}

// OnRun edits one run only.
func OnRun(key string, edit func(*Recorded)) func(*Recorded) {
	return func(r *Recorded) {
		if r.Run.Key.String() == key {
			edit(r)
		}
	}
}

func Correctness(t *testing.T) *Trial {
	tr := New(t, 1)
	tr.Scenario.Purpose = scenarios.Correctness
	tr.Scenario.Design.BurnInBlocks = 0
	for i := range tr.Scenario.Phases {
		tr.Scenario.Phases[i].Primary = nil
	}
	return tr
}

func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s: look at the difference, then run the test with -update", name)
}
