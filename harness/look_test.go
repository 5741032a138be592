package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// shorter makes a campaign of the fewest requests.
func shorter(text string) string {
	return strings.NewReplacer("requests: 12", "requests: 4", "prompts: 4", "prompts: 2").Replace(text)
}

// dirOf plans a variant of the toy and makes its run directory.
func dirOf(t *testing.T, text string) string {
	t.Helper()
	s, err := scenarios.Load("toy.yaml", []byte(text), scenarios.Known{})
	require.NoError(t, err)
	p, err := Plan(s, "toy.yaml", []byte(text), "test")
	require.NoError(t, err)
	dir, err := results.Create(t.TempDir(), p, time.Now())
	require.NoError(t, err)
	return dir
}

func lookDir(t *testing.T) string {
	t.Helper()
	return dirOf(t, shorter(strings.Replace(toy, "blocks: 6", "looks: [6, 12]", 1)))
}

// judge gives the verdicts in order and notes what it was asked.
type judge struct {
	verdicts map[int]string
	asked    []int
}

func (j *judge) look(_ string, blocks int) (Judgement, error) {
	j.asked = append(j.asked, blocks)
	v := j.verdicts[blocks]
	if v == "" {
		return Judgement{}, errors.New("no judge today")
	}
	return Judgement{Verdict: v, Stop: v == "PASS" || v == "FAIL"}, nil
}

// lookEntries are those of a ledger, as "number blocks verdict follows".
func lookEntries(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	require.NoError(t, err)
	for _, e := range entries {
		if e.Event == results.EventLook {
			list = append(list, fmt.Sprint(e.Look, " ", e.Blocks, " ", e.Verdict, " ", e.Follows))
		}
	}
	return list
}

func TestLooksDecide(t *testing.T) {
	for _, c := range []struct {
		name     string
		verdicts map[int]string
		entries  []string
		blocks   int
	}{
		{"a pass ends it", map[int]string{6: "PASS"}, []string{"1 6 PASS stop"}, 6},
		{"a failure ends it", map[int]string{6: "FAIL"}, []string{"1 6 FAIL stop"}, 6},
		{"undecided goes on", map[int]string{6: "INCONCLUSIVE", 12: "INCONCLUSIVE"}, []string{"1 6 INCONCLUSIVE go on", "2 12 INCONCLUSIVE end"}, 12},
		{"INVALID goes on", map[int]string{6: "INVALID", 12: "PASS"}, []string{"1 6 INVALID go on", "2 12 PASS end"}, 12},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := lookDir(t)
			j := &judge{verdicts: c.verdicts}
			var last Status
			var said []string
			require.NoError(t, execute(dir, Options{Look: j.look, Observe: func(s Status) { last, said = s, append(said, s.Last) }}, nil), c.name)
			assert.Equal(t, c.entries, lookEntries(t, dir), c.name)
			campaign, err := results.Load(dir)
			require.NoError(t, err)
			assert.True(t, campaign.Complete)
			assert.Len(t, campaign.Attempts, 2+2*c.blocks, c.name)
			assert.Zero(t, last.Left, "nothing is left to wait for")
			assert.Equal(t, 2+2*c.blocks, last.Done)
			assert.Equal(t, last.Runs, last.Done)
			if c.blocks == 12 {
				assert.NotContains(t, strings.Join(said, "\n"), "INCONCLUSIVE", "who sees a verdict is tempted to stop")
			}
			err = execute(dir, Options{Look: j.look}, nil)
			require.ErrorIs(t, err, ErrRefused, "a closed plan is never extended")
		})
	}
}

// A crash before, at or after a look: it is made once for each moment at which
// it was not written, and what it says holds.
func TestResumeAroundALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := lookDir(t)
		frozen := t.TempDir()
		moments := map[string]string{"block 0006 valid": "before", "look 1, after 6 blocks: PASS, nothing more to run": "after"}
		observe := func(s Status) {
			if name, found := moments[s.Last]; found {
				require.NoError(t, os.CopyFS(filepath.Join(frozen, name), os.DirFS(dir)))
				delete(moments, s.Last)
			}
		}
		j := &judge{verdicts: map[int]string{6: "PASS"}}
		require.NoError(t, execute(dir, Options{Look: j.look, Observe: observe}, nil))
		require.Empty(t, moments)

		before := filepath.Join(frozen, "before")
		require.Empty(t, lookEntries(t, before))
		err := execute(before, Options{Look: (&judge{}).look}, nil)
		require.ErrorContains(t, err, "look 1, after 6 blocks: no judge today")
		require.Empty(t, lookEntries(t, before), "a look that failed was not made")
		require.NoError(t, execute(before, Options{Look: j.look}, nil))
		assert.Equal(t, []string{"1 6 PASS stop"}, lookEntries(t, before))

		after := filepath.Join(frozen, "after")
		silent := &judge{}
		require.NoError(t, execute(after, Options{Look: silent.look}, nil))
		assert.Empty(t, silent.asked, "what was decided is not asked again")
		for _, d := range []string{before, after} {
			c, err := results.Load(d)
			require.NoError(t, err)
			assert.True(t, c.Complete)
			assert.Len(t, c.Attempts, 14, "no run came after the look")
		}
	})
}

func TestLooksNeedAJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.ErrorIs(t, execute(lookDir(t), Options{}, nil), errNoJudge)
	})
}

// A ledger that went on without its look is refused, not mended.
func TestSkippedLookIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := lookDir(t)
		j := &judge{verdicts: map[int]string{6: "INCONCLUSIVE", 12: "PASS"}}
		require.NoError(t, execute(dir, Options{Look: j.look}, nil))
		entries, err := results.ReadLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		require.NoError(t, os.Remove(results.LedgerPath(dir)))
		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		for _, e := range entries {
			if e.Event != results.EventLook && e.Event != results.EventComplete {
				require.NoError(t, l.Append(e))
			}
		}
		require.NoError(t, l.Close())
		err = execute(dir, Options{Look: j.look}, nil)
		require.ErrorIs(t, err, ErrRefused)
		assert.ErrorContains(t, err, "block 0007 ran without the look planned after block 0006")
	})
}

// Whatever makes a closed plan longer is refused.
func TestExtensionsAreRefused(t *testing.T) {
	for name, extend := range map[string]func(*testing.T, string){
		"not the plan that the ledger began with": func(t *testing.T, dir string) {
			s, err := scenarios.Load("toy.yaml", []byte(strings.Replace(toy, "blocks: 6", "blocks: 8", 1)), scenarios.Known{})
			require.NoError(t, err)
			p, err := Plan(s, "toy.yaml", []byte(toy), "test")
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(dir, results.PlanFile)))
			require.NoError(t, results.WriteJSON(filepath.Join(dir, results.PlanFile), p))
		},
		"changed: order or canonical scenario": func(t *testing.T, dir string) {
			p, err := results.ReadPlan(dir)
			require.NoError(t, err)
			p.Scenario.Design.Blocks = 8
			require.NoError(t, os.Remove(filepath.Join(dir, results.PlanFile)))
			require.NoError(t, results.WriteJSON(filepath.Join(dir, results.PlanFile), p))
		},
		"run 0007/off is of a block that is not in the plan": func(t *testing.T, dir string) {
			l, err := results.OpenLedger(results.LedgerPath(dir))
			require.NoError(t, err)
			require.NoError(t, l.Append(results.Entry{Event: results.EventRunStart, Block: "0007", Attempt: 1, Arm: "off"}))
			require.NoError(t, l.Close())
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := toyDir(t)
			require.ErrorIs(t, execute(dir, Options{TimeBudget: 20 * time.Second}, nil), ErrStopped)
			extend(t, dir)
			err := execute(dir, Options{}, nil)
			require.ErrorIs(t, err, ErrRefused, name)
			assert.ErrorContains(t, err, strings.Replace(name, "not the plan that the ledger began with", "plan.json is not the one that entry 1 of the ledger began with", 1))
		})
	}
}
