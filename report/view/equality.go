package view

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
)

// Statements about equal arms, beside the verdicts. UNDERPOWERED: the data are too
// noisy to show equality, and more blocks would help.
const (
	Equal        stat.Verdict = "EQUAL"
	Underpowered stat.Verdict = "UNDERPOWERED"
	Bias         stat.Verdict = "BIAS"
)

// Equality says whether the equal arms of a campaign were shown to be equal, and
// which metrics can carry the margin on its host. It is what opbench aa prints.
// Effects and bounds are percentages of the baseline, positive is worse.
type Equality struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "aa"
	Tool   string `json:"tool"`
	Rules  string `json:"rules"`
	// Result is EQUAL, INCONCLUSIVE(stalls), UNDERPOWERED, BIAS or INVALID(reason);
	// empty while a campaign is unfinished, with the text UNFINISHED.
	Result
	ExitCode int    `json:"exit_code"`
	Sentence string `json:"sentence"`

	Subject     Subject     `json:"subject"`
	Simulated   bool        `json:"simulated"`
	Blocks      Blocks      `json:"blocks"`
	Comparisons []EqualArms `json:"comparisons"`
	// Reach is absent where nothing was judged.
	Reach *Reach `json:"reach,omitempty"`
}

// EqualArms is one A/A comparison.
type EqualArms struct {
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
	Result
	Reasons []Finding     `json:"reasons,omitempty"` // of INVALID
	Stalls  string        `json:"stalls,omitempty"`  // set if one arm stalls more often
	Outputs string        `json:"outputs,omitempty"` // set if timed outputs differ more between the arms than within one
	Metrics []EqualMetric `json:"metrics"`
}

// EqualMetric is the statement about one primary metric of a phase.
type EqualMetric struct {
	Phase     string   `json:"phase"`
	Load      string   `json:"load"`
	Name      string   `json:"name"`
	Label     string   `json:"label"`
	Result             // EQUAL, UNDERPOWERED, BIAS, INVALID(reason)
	Why       string   `json:"why,omitempty"`
	Effect    *float64 `json:"effect_pct,omitempty"`
	Lower     *float64 `json:"lower_pct,omitempty"`
	Upper     *float64 `json:"upper_pct,omitempty"`
	MarginPct float64  `json:"margin_pct"`
	SD        float64  `json:"sd_log,omitempty"`          // of d, natural logarithm
	AdjustedP *float64 `json:"bias_p_holm,omitempty"`     // of no difference
	AA        *Need    `json:"blocks_for_aa,omitempty"`   // to show equality
	Gate      *Need    `json:"blocks_for_gate,omitempty"` // to pass a gate
	Noise     string   `json:"noise,omitempty"`           // where the spread comes from
}

// Need is the number of blocks for 90 % power if the true effect is 0, at the
// observed spread and at the one that a plan should reckon with. Zero: no number of
// blocks is enough.
type Need struct {
	Observed int `json:"at_observed_spread"`
	Upper    int `json:"at_upper_spread"`
}

// Reach says which metrics can carry the margin on a host. A metric is carried
// by a campaign with at least its blocks: then it passes with 90 % power if the
// true effect is 0 and the spread is the one that a plan should reckon with.
type Reach struct {
	// Shown were shown equal with the blocks of this A/A.
	Shown []Carried `json:"shown"`
	// Within can be carried by a campaign of practical length.
	Within []Carried `json:"within"`
	// Beyond cannot, unless the host gets quieter or the phases longer.
	Beyond []Carried `json:"beyond"`
	// Blocks is the plan in which all of Within pass with 90 % power; 0 if there are
	// none. It is more than each of them needs.
	Blocks int `json:"blocks,omitempty"`
	// Limit is the length up to which a campaign counts as practical.
	Limit     int     `json:"practical_blocks"`
	MarginPct float64 `json:"margin_pct"`
}

// Carried is a metric with the blocks that its gate needs; 0: no number of blocks
// is enough.
type Carried struct {
	Phase  string `json:"phase"`
	Name   string `json:"name"`
	Label  string `json:"label"`
	Blocks int    `json:"blocks"`
}

// String names the metric with its blocks.
func (c Carried) String() string {
	if c.Blocks == 0 || c.Blocks > MostBlocks {
		return fmt.Sprintf("%s of %s (more than %d)", c.Label, c.Phase, MostBlocks)
	}
	return fmt.Sprintf("%s of %s (%d)", c.Label, c.Phase, c.Blocks)
}

// Title is the metric of its phase.
func (c Carried) Title() string { return c.Label + " of " + c.Phase }
