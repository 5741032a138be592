package trial

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/validity"
)

// Lost is a run that is aborted, sealed and run again.
type Lost struct {
	Run    string  // such as 0003/on
	Slower float64 // d by which all of it is slower
	Whole  int     // phases of which it has all requests; of the next one it has half
}

// voids is how many attempts of a block are void.
func (tr *Trial) voids(block string) int {
	if n, more := tr.Again[block]; more {
		return n
	}
	if _, void := tr.Void[block]; void {
		return 1
	}
	return 0
}

// ground gives the last run of a void attempt a fault of its records, if no rule fires in
// it: a kernel that is compiled in its first timed part.
func (tr *Trial) ground(blk results.Block, key results.Key, position int, r *Recorded) {
	if tr.Groundless || key.Attempt > tr.voids(key.Block) || position < len(blk.Order)-1 {
		return
	}
	p := &results.Plan{Scenario: tr.Scenario}
	if len(validity.Run(p, r.Run, r.Requests, r.Outputs)) == 0 {
		r.Run.Server.LogFindings = append(r.Run.Server.LogFindings,
			results.LogLine{Kind: results.LogJIT, WallNS: r.Run.Phases[0].TimedStartNS, Text: "fused_moe_kernel"})
	}
}

// abort writes the runs that are lost before a run, as the harness seals them.
func (tr *Trial) abort(dir string, l *journal, blk results.Block, key results.Key, position int) {
	for _, lost := range tr.Lost {
		if lost.Run != key.String() {
			continue
		}
		tr.log(l, results.Entry{Event: results.EventRunStart, Block: key.Block, Attempt: key.Attempt, Arm: key.Arm})
		before := tr.Slower
		tr.Slower = func(results.Key) float64 { return lost.Slower }
		r := tr.record(blk, key, position)
		tr.Slower = before
		timed := r.cut(lost.Whole)
		r.Run.Failure, r.Run.FailureClass, r.Outputs = "phase: signal interrupt", results.FailureHarness, nil
		folder := freeName(dir, key.Dir()+".aborted")
		runDir := filepath.Join(dir, "blocks", folder)
		require.NoError(tr.T, os.MkdirAll(runDir, 0o755))
		tr.log(l, results.Entry{Event: results.EventRunAbort, Block: key.Block, Attempt: key.Attempt, Arm: key.Arm,
			Detail: "signal interrupt", SumsSHA256: tr.seal(runDir, r), Folder: folder, Timed: timed})
	}
}

func freeName(dir, name string) string {
	free := name
	for i := 2; ; i++ {
		if _, err := os.Stat(filepath.Join(dir, "blocks", free)); err != nil {
			return free
		}
		free = name + "-" + string(rune('0'+i))
	}
}

// cut leaves some phases whole and half of the next one.
func (r *Recorded) cut(whole int) results.Sent {
	r.Run.Phases = r.Run.Phases[:min(whole+1, len(r.Run.Phases))]
	for i := range r.Run.Phases {
		p := &r.Run.Phases[i]
		left := p.Planned
		if i == whole {
			left = p.Planned / 2
		}
		r.Requests = slices.DeleteFunc(r.Requests, func(q results.Request) bool { return q.Phase == p.Name && q.Index > left })
	}
	r.Requests = slices.DeleteFunc(r.Requests, func(q results.Request) bool {
		return !slices.ContainsFunc(r.Run.Phases, func(p results.Phase) bool { return p.Name == q.Phase })
	})
	return results.SentYes
}

// InsertEntries puts entries into the ledger of a written campaign before its end.
func (tr *Trial) InsertEntries(dir string, more ...results.Entry) {
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	require.NoError(tr.T, err)
	last := len(entries) - 1
	entries = slices.Concat(entries[:last], more, entries[last:])
	l := &journal{}
	for _, e := range entries {
		tr.log(l, e)
	}
	require.NoError(tr.T, os.WriteFile(results.LedgerPath(dir), l.Bytes(), 0o644))
}

// Attempt measures an attempt of a block after the ledger's end.
func (tr *Trial) Attempt(dir, block string, attempt int) {
	for _, blk := range tr.Plan().Blocks {
		if blk.Name() != block {
			continue
		}
		l := &journal{}
		tr.block(dir, l, blk, attempt)
		for line := range strings.Lines(l.String()) {
			var e results.Entry
			require.NoError(tr.T, json.Unmarshal([]byte(line), &e))
			LedgerEntry(tr.T, dir, e)
		}
	}
}

// Damage adds a file to a sealed folder below blocks/.
func Damage(t *testing.T, dir, folder string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "blocks", folder, "extra"), nil, 0o644))
}

// Remove takes a folder below blocks/ away.
func Remove(t *testing.T, dir, folder string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "blocks", folder)))
}
