package view

import (
	"fmt"
	"strings"
)

// Repeats counts what was measured again, burn-in left out.
type Repeats struct {
	// Used is how many repeats were needed, one for all runs of a block that were lost
	// together, and Allowed how many the plan has.
	Used    int `json:"used"`
	Allowed int `json:"allowed"`
	Aborted int `json:"aborted_runs"`
	Void    int `json:"void_attempts"`
	// Arms are in the order of the scenario.
	Arms []ArmRepeats `json:"by_arm"`
}

// ArmRepeats are those of an arm.
type ArmRepeats struct {
	Arm     string `json:"arm"`
	Aborted int    `json:"aborted_runs"`
	Void    int    `json:"void_attempts"` // in which a rule fires in its run
}

// Words names what there is, the candidates before their baseline: "2 aborted runs (on
// 2, off 0), 1 void block (on 1, off 0)".
func (r *Repeats) Words() string {
	var parts []string
	if r.Aborted > 0 {
		parts = append(parts, Plural(r.Aborted, "aborted run", "aborted runs")+r.byArm(func(a ArmRepeats) int { return a.Aborted }))
	}
	if r.Void > 0 {
		parts = append(parts, Plural(r.Void, "void block", "void blocks")+r.byArm(func(a ArmRepeats) int { return a.Void }))
	}
	return strings.Join(parts, ", ")
}

func (r *Repeats) byArm(count func(ArmRepeats) int) string {
	var parts []string
	sum := 0
	for i := len(r.Arms) - 1; i >= 0; i-- {
		sum += count(r.Arms[i])
		parts = append(parts, fmt.Sprintf("%s %d", r.Arms[i].Arm, count(r.Arms[i])))
	}
	if sum == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// PutBack is a metric in a second analysis, in which the worst attempt of each block
// counts for the upper bound and the best for the lower one. A bound is absent where
// there is no interval.
type PutBack struct {
	Attempts []string `json:"attempts"` // folders of what does not count otherwise
	Lower    *float64 `json:"lower_pct,omitempty"`
	Upper    *float64 `json:"upper_pct,omitempty"`
}

// NewInRules3 reports whether plans of rules 1 and 2 could not end for this reason.
func (r Reason) NewInRules3() bool { return newInRules3[r] }
