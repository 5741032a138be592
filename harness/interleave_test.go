package harness

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// takingTurns is the toy with interleaved arms and two phases; args are the
// simulated engine's.
func takingTurns(t *testing.T, args string) string {
	t.Helper()
	text := strings.NewReplacer("cooldown: 1s}", "cooldown: 1s, interleave: {slice: 300ms, settle: 1s}}",
		"requests: 12,", "requests: 48,", "model: toy}", "model: toy, args: {"+args+"}}",
		"design:", `  - name: arrivals
    source:  {kind: synthetic, requests: 12, prompt_tokens: 32, output_tokens: 16, seed: 2, vocab_size: 500}
    arrival: {kind: poisson, rate: 6/s}
    warmup:  {requests: 2}
    primary: [ttft_p50]
design:`).Replace(toy)
	s, err := scenarios.Load("turns.yaml", []byte(text), scenarios.Known{})
	require.NoError(t, err)
	assert.True(t, s.Design.AdjustOrder, "the default of interleaved arms")
	p, err := Plan(s, "turns.yaml", []byte(text), "test")
	require.NoError(t, err)
	dir, err := results.Create(t.TempDir(), p, time.Now())
	require.NoError(t, err)
	return dir
}

// Two servers run at the same time, their slices never overlap, both send all
// requests, and a run's throughput counts its own slices only.
func TestArmsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := takingTurns(t, "")
		require.NoError(t, execute(dir, Options{}, nil))
		c := sealedOnce(t, dir)
		first := map[string]int{}
		for i := 0; i < len(c.Attempts); i += 2 {
			a, b := c.Attempts[i], c.Attempts[i+1]
			require.Equal(t, a.Key.Block, b.Key.Block)
			assert.True(t, a.Run.Start.Before(b.Run.End) && b.Run.Start.Before(a.Run.End), "the servers of %s overlap", a.Key.Block)
			for k := range a.Run.Phases {
				pa, pb := &a.Run.Phases[k], &b.Run.Phases[k]
				assert.Equal(t, pa.Planned, pa.Finished)
				require.Equal(t, len(pa.Slices), len(pb.Slices))
				assert.GreaterOrEqual(t, len(pa.Slices), 2)
				for j, s := range pa.Slices {
					o := pb.Slices[j]
					assert.Equal(t, s.Requests, o.Requests)
					assert.Equal(t, 1, s.Position+o.Position)
					if s.Position == 0 {
						first[a.Key.Arm]++
						s, o = o, s
					} else {
						first[b.Key.Arm]++
					}
					assert.GreaterOrEqual(t, s.StartNS-o.EndNS, int64(time.Second), "the settle gap of slice %d", s.Number)
				}
				assert.Positive(t, pa.IdleSeconds)
			}
			assert.InDelta(t, 48*16/timed(&a, "wide"), a.Run.Phases[0].Metrics["output_throughput"], 1e-6)
		}
		assert.InDelta(t, first["off"], first["on"], 7, "at most one more in the odd number of slices of a schedule")
	})
}

// slowToStop is a server that takes four seconds to end.
type slowToStop struct{ engine.Server }

func (slowToStop) Exited() (string, bool)         { return "", false }
func (slowToStop) Info() results.Server           { return results.Server{} }
func (slowToStop) LogFindings() []results.LogLine { return nil }
func (slowToStop) Stop() results.Stop {
	time.Sleep(4 * time.Second)
	return results.Stop{Graceful: true}
}

// The servers of a block are stopped at the same time, and each run keeps how its
// own ended; a run whose server never started has none.
func TestServersOfABlockStopTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &campaign{}
		off, on, dead := &run{campaign: c, server: slowToStop{}}, &run{campaign: c, server: slowToStop{}}, &run{campaign: c}
		begin := time.Now()
		(&together{campaign: c, runs: []*run{off, dead, on}}).finish()
		assert.Equal(t, 4*time.Second, time.Since(begin))
		assert.True(t, off.record.Server.Stop.Graceful)
		assert.True(t, on.record.Server.Stop.Graceful)
		assert.Zero(t, dead.record.Server.Stop)
	})
}

// timed adds up the slices by hand.
func timed(a *results.Attempt, phase string) float64 {
	seconds := 0.0
	for number := 1; ; number++ {
		begin, end := int64(math.MaxInt64), int64(0)
		for _, r := range a.Requests {
			if r.Phase == phase && r.Slice == number {
				begin, end = min(begin, r.SentNS), max(end, r.LastNS)
			}
		}
		if end == 0 {
			return seconds
		}
		seconds += float64(end-begin) / 1e9
	}
}

// On a host that drifts by 5 % within half a minute, runs one after the other
// differ by the drift and arms that take turns do not.
func TestTurnsCancelTheDriftOfTheHost(t *testing.T) {
	spread := func(dir string) float64 {
		require.NoError(t, execute(dir, Options{}, nil))
		c := sealedOnce(t, dir)
		var squares float64
		for i := 2; i < len(c.Attempts); i += 2 { // without the burn-in
			a, b := c.Attempts[i].Run.Phases[0].Metrics["tpot_p50"], c.Attempts[i+1].Run.Phases[0].Metrics["tpot_p50"]
			squares += math.Pow(math.Log(a/b), 2)
		}
		return math.Sqrt(squares / 6)
	}
	synctest.Test(t, func(t *testing.T) {
		const drift = "host-drift: 5%, host-seed: 3"
		apart := spread(toyDirOf(t, strings.Replace(strings.Replace(toy, "model: toy}", "model: toy, args: {"+drift+"}}", 1), "cooldown: 1s", "cooldown: 40s", 1)))
		turns := spread(takingTurns(t, drift))
		assert.Greater(t, apart, 0.02)
		assert.Less(t, turns, apart/5)
	})
}

func toyDirOf(t *testing.T, text string) string {
	t.Helper()
	s, err := scenarios.Load("toy.yaml", []byte(text), scenarios.Known{})
	require.NoError(t, err)
	p, err := Plan(s, "toy.yaml", []byte(text), "test")
	require.NoError(t, err)
	dir, err := results.Create(t.TempDir(), p, time.Now())
	require.NoError(t, err)
	return dir
}

// A server that dies drops out of the turns; the other arm is measured to its
// end, so that the fault can be laid at the right door.
func TestOneArmDiesInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := takingTurns(t, "")
		require.NoError(t, execute(dir, Options{}, func(s engine.Spec) []string {
			if strings.HasSuffix(s.RunDir, "0002/on") {
				return []string{"kill-after=150"}
			}
			return nil
		}))
		c := sealedOnce(t, dir)
		void := c.Voids[results.BlockAttempt{Block: "0002", Attempt: 1}]
		assert.NotEmpty(t, void.Causes)
		for _, cause := range void.Causes {
			assert.Equal(t, "on", cause.Arm)
		}
		for _, a := range c.Attempts {
			if a.Key.Block == "0002" && a.Key.Attempt == 1 && a.Key.Arm == "off" {
				assert.Empty(t, a.Run.Failure)
				assert.Len(t, a.Run.Phases, 2)
			}
		}
	})
}

// A session that ends within a block loses both of its runs; one that ends
// between their seals voids the block. Either way resume measures it again.
func TestResumeOfInterleavedBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := takingTurns(t, "")
		err := execute(dir, Options{TimeBudget: 100 * time.Second}, nil)
		require.True(t, errors.Is(err, ErrStopped), "%v", err)
		entries, err := results.ReadLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		last := entries[len(entries)-2]
		require.Equal(t, results.EventBlockValid, last.Event, "a budget ends between blocks: %v", entries[len(entries)-1])

		l, err := results.OpenLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		for _, arm := range []string{"off", "on"} {
			require.NoError(t, l.Append(results.Entry{Event: results.EventRunStart, Block: "0006", Attempt: 1, Arm: arm}))
		}
		require.NoError(t, l.Append(results.Entry{Event: results.EventRunEnd, Block: "0006", Attempt: 1, Arm: "off"}))
		require.NoError(t, l.Close())
		require.NoError(t, execute(dir, Options{}, nil))
		c, err := results.Load(dir)
		require.NoError(t, err)
		assert.True(t, c.Complete)
		assert.Contains(t, c.Voids[results.BlockAttempt{Block: "0006", Attempt: 1}].Detail, "between the runs of an interleaved block")
		assert.Len(t, c.Aborted, 1)
	})
}

// Slices hold all timed requests once, in order, in an even number that follows
// the aimed-at length; a short phase still has two.
func TestCut(t *testing.T) {
	closed := workload.Workload{Requests: make([]workload.Request, 110)}
	for i := range 10 {
		closed.Requests[i].Warmup = true
	}
	open := workload.Workload{Open: true, Requests: make([]workload.Request, 110)}
	for i := range open.Requests {
		open.Requests[i] = workload.Request{Warmup: i < 10, Offset: time.Duration(i*i) * time.Millisecond}
	}
	for _, c := range []struct {
		w            workload.Workload
		streams      int
		pace, length time.Duration
		want         int
	}{
		{closed, 1, 100 * time.Millisecond, time.Second, 10},
		{closed, 1, 100 * time.Millisecond, 3 * time.Second, 4},
		{closed, 1, 100 * time.Millisecond, time.Hour, 2},
		{closed, 1, time.Second, time.Millisecond, 24}, // four requests for each stream
		{closed, 8, time.Second, time.Millisecond, 2},
		{open, 0, 0, time.Second, 12}, // from 0.1 s to 11.9 s
	} {
		parts := cut(c.w, c.streams, c.pace, c.length)
		name := fmt.Sprint(c.streams, c.pace, c.length)
		assert.Len(t, parts, c.want, name)
		next := 10
		for i, p := range parts {
			assert.Equal(t, load.Part{From: next, To: p.To, Slice: i + 1}, p, name)
			assert.Greater(t, p.To, p.From, name)
			next = p.To
		}
		assert.Equal(t, 110, next, name)
	}
}

// The turns are ABBA or BAAB, and the plan, the block and the phase draw them.
func TestTurns(t *testing.T) {
	key := results.Key{Block: "0001", Attempt: 1, Arm: "wide"}
	seen := map[string]bool{}
	for i := range 20 {
		got := turns(fmt.Sprint(i), key, 8)
		assert.Equal(t, got, turns(fmt.Sprint(i), key, 8))
		for k := 0; k < 8; k += 2 {
			assert.NotEqual(t, got[k], got[k+1])
		}
		seen[fmt.Sprint(got)] = true
	}
	assert.Greater(t, len(seen), 5)
}

// What a run reports and what its requests give must be the same number.
func TestTimedSecondsOfSlices(t *testing.T) {
	r := []results.Request{
		{Slice: 1, SentNS: 1e9, LastNS: 2e9}, {Slice: 1, SentNS: 15e8, LastNS: 3e9}, {Slice: 2, SentNS: 9e9, LastNS: 95e8},
		{Warmup: true, SentNS: 1, LastNS: 99e9}, {Slice: 3},
	}
	assert.InDelta(t, 2.5, metrics.TimedSeconds(r), 1e-12)
}
