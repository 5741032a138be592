package view

import (
	"fmt"
	"strings"
)

// Outputs says how many timed requests of a phase gave another output in another run:
// means over pairs of runs, in percent.
type Outputs struct {
	Phase    string `json:"phase"`
	Requests int    `json:"requests"` // compared in every run; 0 where outputs are not recorded
	// Baseline and Candidate are among the runs of an arm, absent with one run;
	// Across is between the arms.
	Baseline  *float64 `json:"baseline_pct,omitempty"`
	Candidate *float64 `json:"candidate_pct,omitempty"`
	Across    float64  `json:"across_pct"`
	// P is that of the permutation test of Across minus Baseline; absent where it is
	// not asked, and Unasked says why.
	P       *float64 `json:"p,omitempty"`
	Unasked string   `json:"unasked,omitempty"`
	Flagged bool     `json:"differ_in_batch,omitempty"`
	// Failed is the finding of a phase in which nothing but the arm can change an
	// output. Wavers says that its baseline does not agree with itself, so that it is
	// asked as a batch is.
	Failed string `json:"failed,omitempty"`
	Wavers string `json:"wavers,omitempty"`
}

// Differ reports whether any output differs between any two runs.
func (o *Outputs) Differ() bool {
	return o.Across > 0 || o.Baseline != nil && *o.Baseline > 0 || o.Candidate != nil && *o.Candidate > 0
}

// Batched reports whether outputs of a batch differ more between the arms than
// within the baseline.
func (c *Comparison) Batched() bool {
	for i := range c.Outputs {
		if c.Outputs[i].Flagged {
			return true
		}
	}
	return false
}

// OutputsLine compares the timed outputs of all phases.
func OutputsLine(c *Comparison) string {
	var parts []string
	for i := range c.Outputs {
		parts = append(parts, c.Outputs[i].line(c))
	}
	return "timed requests with another output: " + strings.Join(parts, " · ")
}

func (o *Outputs) line(c *Comparison) string {
	if o.Requests == 0 {
		return o.Phase + ", outputs not recorded"
	}
	line := fmt.Sprintf("%s, %s against %s %s", o.Phase, c.Baseline, c.Candidate, sharePct(&o.Across))
	if o.Baseline != nil {
		line += fmt.Sprintf(", %s against itself %s", c.Baseline, sharePct(o.Baseline))
	}
	if o.Candidate != nil {
		line += fmt.Sprintf(", %s against itself %s", c.Candidate, sharePct(o.Candidate))
	}
	var remarks []string
	if o.P != nil {
		remarks = append(remarks, fmt.Sprintf("p = %.2g", *o.P))
	}
	for _, remark := range []string{o.Unasked, o.Wavers} {
		if remark != "" && o.Differ() {
			remarks = append(remarks, remark)
		}
	}
	if remarks != nil {
		line += " (" + strings.Join(remarks, "; ") + ")"
	}
	return line
}

// sharePct has the digits that tell a share from none.
func sharePct(x *float64) string {
	if *x > 0 && *x < 0.05 {
		return fmt.Sprintf("%.2g %%", *x)
	}
	return fmt.Sprintf("%.1f %%", *x)
}
