package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// watchEvery is how often --watch reads the ledger.
const watchEvery = time.Second

func (a *app) statusCommand() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "status DIR", Short: "Show where a campaign stands; never its effects",
		Long: `status shows counts, health and time left, from the run directory alone, so that
it works beside a running campaign and long after it. It never shows effects: who
sees them is tempted to stop early. --watch goes on until the session ends.`,
		Example: "opbench status --watch results/runs/20261204T101500Z-vllm-cpu-3f2a91c7", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if watch {
				if err := a.watch(args[0]); err != nil {
					return err
				}
			}
			return a.status(args[0])
		},
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "show it live, until no session works on the campaign")
	return c
}

func (a *app) status(dir string) error {
	plan, st, entries, err := harness.Progress(dir)
	if err != nil {
		return usageError(err)
	}
	fmt.Fprintf(a.stdout, "%s · plan %.8s · %d of %d runs done", plan.Scenario.Name, plan.Hash, st.Done, st.Runs)
	if st.Run != "" {
		fmt.Fprintf(a.stdout, " · in progress: %s", st.Run)
	}
	if st.Left > 0 {
		fmt.Fprintf(a.stdout, " · about %s left", st.Left.Round(time.Second))
	}
	fmt.Fprintln(a.stdout)
	for i, e := range entries {
		if e.Event != results.EventRunStart {
			fmt.Fprintf(a.stdout, "%s  %s\n", e.Time.Format(time.TimeOnly), view.Clean(harness.Describe(entries[:i+1])))
		}
	}
	next, err := nextStep(dir, entries)
	if err != nil {
		return usageError(err)
	}
	fmt.Fprintf(a.stdout, "next      %s\n", next)
	return nil
}

// nextStep is what can be done with a campaign as it stands.
func nextStep(dir string, entries []results.Entry) (string, error) {
	over := slices.ContainsFunc(entries, func(e results.Entry) bool {
		return e.Event == results.EventComplete || e.Event == results.EventClose
	})
	busy, err := results.Busy(results.LedgerPath(dir))
	switch {
	case err != nil:
		return "", err
	case busy:
		return "a session works on it; opbench status --watch " + dir + " shows it live", nil
	case over:
		return "opbench report " + dir, nil
	case len(entries) == 0: // nothing to give up
		return "opbench resume " + dir + " goes on", nil
	}
	return fmt.Sprintf("opbench resume %s goes on; opbench close %[1]s --why TEXT gives it up", dir), nil
}

// watch shows the progress of a session of another process until it ends, or
// until it is interrupted.
func (a *app) watch(dir string) error {
	var p *progress
	for {
		busy, unknown := results.Busy(results.LedgerPath(dir)) // before the state: the last event is shown
		_, st, entries, err := harness.Progress(dir)
		if err = cmp.Or(err, unknown); err != nil {
			return usageError(err)
		}
		if p == nil && busy {
			p = a.startProgress(false)
			defer p.stop()
			p.since(sessionBegan(entries))
		}
		if p != nil {
			p.observe(st)
		}
		if !busy || !a.wait(watchEvery) {
			return nil
		}
	}
}

// sessionBegan is when the last session began.
func sessionBegan(entries []results.Entry) time.Time {
	var began time.Time
	for _, e := range entries {
		if e.Event == results.EventSession {
			began = e.Time
		}
	}
	return began
}

// wait reports whether it waited to the end, undisturbed by a signal.
func (a *app) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-a.signals:
		return false
	}
}
