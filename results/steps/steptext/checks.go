package steptext

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/aituner/opprof/results"
)

// WriteChecks prints one line of counts and one for each check.
func WriteChecks(out io.Writer, sum *results.Steps) error {
	fmt.Fprintf(out, "%d records, %d steps (%d empty), %d bytes, backlog high watermark %d, %d dropped\n",
		sum.Records, sum.Steps, sum.EmptySteps, sum.Bytes, sum.BacklogMax, sum.Dropped)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range sum.Checks {
		state, note := "ok", ""
		switch {
		case c.Failed > 0 && c.Warning:
			state, note = "warning", c.First
		case c.Failed > 0:
			state, note = "FAILED", c.First
		case c.Skipped != "":
			state, note = "skipped", c.Skipped
		}
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\n", state, c.ID, c.Checked-c.Failed, c.Checked, note)
	}
	return w.Flush()
}
