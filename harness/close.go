package harness

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
)

// Close gives a campaign up before its end, say because its machine is gone: no
// session goes on with it, and its report shows what was measured. Whoever could
// choose when to stop has no error rate, so fewer blocks than planned are INVALID.
// It returns ErrRefused if the campaign is complete, results.ErrBusy while a
// session works on it.
func Close(dir, why, tool string) error {
	if why = strings.TrimSpace(why); why == "" || strings.ContainsAny(why, "\r\n") {
		return fmt.Errorf("%w: the reason must be one line of text, it stands in the report", ErrRefused)
	}
	plan, err := results.ReadPlan(dir)
	if err != nil {
		return err
	}
	path := results.LedgerPath(dir)
	if entries, err := results.ReadLedger(path); err != nil || len(entries) == 0 {
		return cmp.Or(err, fmt.Errorf("%w: nothing was measured in %s, or its ledger was lost", ErrRefused, dir))
	}
	ledger, err := results.OpenLedger(path)
	if err != nil {
		return err
	}
	j := &journal{dir: dir, plan: plan, ledger: ledger, state: replay(plan, ledger.Entries())}
	return errors.Join(j.giveUp(why, tool), ledger.Close())
}

func (j *journal) giveUp(why, tool string) error {
	if j.state.complete {
		return fmt.Errorf("%w: %s is complete, nothing is left to give up", ErrRefused, j.dir)
	}
	for _, key := range slices.Clone(j.state.open) {
		if err := j.abort(key, "the session ended in mid-run"); err != nil {
			return err
		}
	}
	return j.append(results.Entry{Event: results.EventClose, Detail: why, Tool: tool})
}
