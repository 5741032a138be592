package harness

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/results"
)

// on describes a machine of a test.
func on(host string, edit ...func(*results.Environment)) func(context.Context) (results.Environment, error) {
	return func(context.Context) (results.Environment, error) {
		e := results.Environment{Schema: results.Schema, Kind: "environment", Host: host, Kernel: "6.8", CPUModel: "x", Cores: 8,
			GPUs: []string{"H20"}, Boards: []string{"b-" + host}, Driver: "570"}
		for _, f := range edit {
			f(&e)
		}
		return e, nil
	}
}

// until runs a campaign on a machine up to the moment when a run begins.
func until(t *testing.T, dir string, moment string, opt Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	opt.Observe = func(s Status) {
		if s.Last == "run "+moment+" starts" {
			cancel()
		}
	}
	opt.Engine, opt.Tool = &enginetest.InProcess{}, "test"
	require.ErrorIs(t, Execute(ctx, dir, opt), ErrStopped)
}

func TestAnotherHostIsAGroupOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dirOf(t, shorter(toy))
		plan, err := results.ReadPlan(dir)
		require.NoError(t, err)
		second := plan.Blocks[3].Order[1] // of block 3
		until(t, dir, "0003/"+second, Options{Machine: on("one")})
		var last Status
		require.NoError(t, execute(dir, Options{Machine: on("two"), Observe: func(s Status) { last = s }}, nil))
		assert.Equal(t, last.Runs, last.Done, "%d of %d", last.Done, last.Runs)
		c := sealedOnce(t, dir)
		assert.Contains(t, c.Voids[results.BlockAttempt{Block: "0003", Attempt: 1}].Detail, "blocks never span hosts")
		host := map[string]string{}
		for _, a := range c.Attempts {
			if a.Valid {
				host[a.Key.Block] += a.Environment.Host + " "
			}
			assert.Equal(t, strings.HasPrefix(a.Key.Block, "burnin"), a.BurnIn, a.Key.String())
			assert.Equal(t, a.BurnIn, a.Run.BurnIn, a.Key.String())
		}
		assert.Equal(t, map[string]string{
			"burnin-1": "one one ", "0001": "one one ", "0002": "one one ",
			"burnin-2": "two two ", "0003": "two two ", "0004": "two two ", "0005": "two two ", "0006": "two two ",
		}, host)
		assert.Empty(t, results.Extension(c.Plan, c.Entries), "a group's own burn-in block is no extension")
	})
}

// Back on a host that was burnt in, and a crash right after a session began.
func TestHostsThatAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dirOf(t, shorter(toy))
		plan, err := results.ReadPlan(dir)
		require.NoError(t, err)
		until(t, dir, "0002/"+plan.Blocks[2].Order[1], Options{Machine: on("one")})
		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		two, _ := on("two")(context.Background())
		two.Versions = map[string]string{"engine": "simulated"}
		require.NoError(t, l.Append(results.Entry{Event: results.EventSession, Software: two.Software(), HostGroup: two.Group(), Fingerprint: "f"}))
		require.NoError(t, l.Close())
		until(t, dir, "0004/"+plan.Blocks[4].Order[0], Options{Machine: on("two")})
		require.NoError(t, execute(dir, Options{Machine: on("one")}, nil))
		c := sealedOnce(t, dir)
		assert.Contains(t, c.Voids[results.BlockAttempt{Block: "0002", Attempt: 1}].Detail, "blocks never span hosts", "the crash came before the block was voided")
		blocks := map[string]bool{}
		for _, a := range c.Attempts {
			blocks[a.Key.Block] = true
		}
		assert.True(t, blocks["burnin-2"])
		assert.False(t, blocks["burnin-3"], "a host is burnt in once")
	})
}

func TestOtherSoftwareIsRefused(t *testing.T) {
	for want, machine := range map[string]func(context.Context) (results.Environment, error){
		"driver was 570, is 580":                 on("two", func(e *results.Environment) { e.Driver = "580" }),
		"GPU model was H20, is H200":             on("one", func(e *results.Environment) { e.GPUs = []string{"H200"} }),
		"GPU model was H20, is absent":           on("one", func(e *results.Environment) { e.GPUs = nil }),
		"adjusts for the order cannot be pooled": on("two"),
	} {
		synctest.Test(t, func(t *testing.T) {
			text := shorter(toy)
			if strings.Contains(want, "order") {
				text = strings.Replace(text, "seed: 5", "seed: 5, adjust_order: true", 1)
			}
			dir := dirOf(t, text)
			require.ErrorIs(t, execute(dir, Options{Machine: on("one"), TimeBudget: 5 * time.Second}, nil), ErrStopped)
			err := execute(dir, Options{Machine: machine}, nil)
			require.ErrorIs(t, err, ErrRefused, want)
			assert.ErrorContains(t, err, want)
		})
	}
	assert.Equal(t, "torch was 2.9, is absent; vllm was 0.24.0, is 0.25.0",
		changes(map[string]string{"vllm": "0.24.0", "torch": "2.9"}, map[string]string{"vllm": "0.25.0"}))
}

// A campaign that was begun before host groups had names goes on, on the same
// machine and software.
func TestLedgerWithoutHostGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dirOf(t, shorter(toy))
		plan, err := results.ReadPlan(dir)
		require.NoError(t, err)
		until(t, dir, "0002/"+plan.Blocks[2].Order[1], Options{Machine: on("one")})
		entries, err := results.ReadLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		require.NoError(t, os.Remove(results.LedgerPath(dir)))
		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		for _, e := range entries {
			e.HostGroup, e.Software, e.PlanSHA256 = "", nil, ""
			require.NoError(t, l.Append(e))
		}
		require.NoError(t, l.Close())
		kernel := func(e *results.Environment) { e.Kernel = "6.9" }
		err = execute(dir, Options{Machine: on("one", kernel)}, nil)
		require.ErrorIs(t, err, ErrRefused)
		assert.ErrorContains(t, err, "by an opbench that did not say which")
		require.NoError(t, execute(dir, Options{Machine: on("one")}, nil))
		c := sealedOnce(t, dir)
		assert.Empty(t, c.Voids)
		for _, a := range c.Attempts {
			assert.NotEqual(t, "burnin-2", a.Key.Block)
		}
	})
}

func TestBoardsOfAMachine(t *testing.T) {
	const text = "570.86, GPU-aa11, NVIDIA H20\n570.86, GPU-bb22, NVIDIA H20, rev 2\nbroken\n"
	for _, c := range []struct {
		confined []string
		boards   []string
	}{
		{nil, []string{"GPU-aa11", "GPU-bb22"}},
		{[]string{"1"}, []string{"GPU-bb22"}},
		{[]string{"GPU-aa"}, []string{"GPU-aa11"}},
	} {
		var e results.Environment
		parseGPUs(text, &e, c.confined)
		var want []string
		for _, uuid := range c.boards {
			want = append(want, engine.BoardID(uuid))
		}
		assert.Equal(t, want, e.Boards)
		assert.Equal(t, []string{"NVIDIA H20", "NVIDIA H20, rev 2"}, e.GPUs)
		assert.Equal(t, "570.86", e.Driver)
	}
}
