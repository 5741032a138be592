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

// TellRepeats says for the first lines what was aborted and void, unless the sentence
// does, and what the worst attempts give; effects are those of a campaign that has any.
func (v *View) TellRepeats(effects bool) []string {
	if v.Repeats == nil {
		return nil
	}
	words := v.Repeats.Words()
	switch worst, any := v.worstPutBack(); {
	case strings.Contains(v.Sentence, words):
		return nil
	case !v.Finished || !effects || v.Repeats.Used > v.Repeats.Allowed:
	case worst != nil:
		words += fmt.Sprintf("; the worst attempt decides: bound %s (%s)", Percent(*worst.PutBack.Upper, worst.MarginPct), worst)
	case any:
		words += "; the worst attempt decides"
	default:
		words += "; nothing of it is put back: no phase is whole, or a fault is in the records"
	}
	return []string{words}
}

// worstPutBack is the primary metric whose bound with attempts put back lies furthest
// beyond its margin; any says that attempts were put back at all.
func (v *View) worstPutBack() (worst *Placed, any bool) {
	for i := range v.Comparisons {
		for _, p := range v.Comparisons[i].Primaries() {
			if p.PutBack == nil {
				continue
			}
			any = true
			if u := p.PutBack.Upper; u != nil && (worst == nil || *u-p.MarginPct > *worst.PutBack.Upper-worst.MarginPct) {
				worst = &p
			}
		}
	}
	return worst, any
}

// PutBack is a metric in a second analysis, in which the worst attempt of each block
// counts for the upper bound and the best for the lower one. A bound is absent where
// there is no interval.
type PutBack struct {
	Attempts []string `json:"attempts"` // folders of what does not count otherwise
	Lower    *float64 `json:"lower_pct,omitempty"`
	Upper    *float64 `json:"upper_pct,omitempty"`
}
