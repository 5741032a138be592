package view

import (
	"fmt"

	"github.com/aituner/opprof/report/stat"
)

// Enough is the other result of a table of power than Underpowered.
const Enough stat.Verdict = "ENOUGH"

// PowerTable is what opbench power prints: for each metric the chance to pass,
// by number of blocks.
type PowerTable struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "power"
	Tool   string `json:"tool"`
	// Result is ENOUGH or UNDERPOWERED: whether the most blocks of the table have
	// the wanted power that all metrics of a campaign pass, at the spreads that were
	// observed or given (where nothing is known, of metrics that have nothing in common)
	// and the effects that are assumed.
	Result   stat.Verdict `json:"result"`
	ExitCode int          `json:"exit_code"`
	Sentence string       `json:"sentence"`
	// Subject is the A/A that the spreads come from; absent for given ones.
	Subject   *Subject `json:"subject,omitempty"`
	Simulated bool     `json:"simulated,omitempty"`

	ConfidencePct float64      `json:"confidence_pct"`
	PowerPct      float64      `json:"power_pct"` // wanted
	Arms          int          `json:"arms"`
	Blocks        []int        `json:"blocks"`
	Groups        []PowerGroup `json:"metrics"`
	// Notes say what the numbers mean and what they leave out.
	Notes []string `json:"notes"`
}

// PowerGroup is one metric of a phase, or all metrics of a campaign.
type PowerGroup struct {
	// Whole: the chance that all metrics pass. Correlation is what is assumed between
	// them; absent where their residuals say it.
	Whole       bool         `json:"campaign,omitempty"`
	Correlation *float64     `json:"correlation,omitempty"`
	Phase       string       `json:"phase,omitempty"`
	Name        string       `json:"name,omitempty"`
	Label       string       `json:"label"`
	Better      string       `json:"better"` // lower, higher
	MarginPct   float64      `json:"margin_pct"`
	Curves      []PowerCurve `json:"curves"`
}

// PowerCurve is the chance to pass at one spread and one true effect.
type PowerCurve struct {
	// SD is the standard deviation of d, natural logarithm.
	SD     float64 `json:"sd_log,omitempty"` // absent where each metric has its own
	Spread string  `json:"spread"`           // observed, upper, given
	Effect float64 `json:"effect_pct"`
	Seen   bool    `json:"effect_observed,omitempty"` // else assumed
	// Needed is the number of blocks of a plan with the wanted power; 0: none is
	// enough.
	Needed int `json:"blocks_needed"`
	// Power at the table's numbers of blocks, from 0 to 1.
	Power []float64 `json:"power"`
}

// SpreadText is the spread; ≤ is the upper value.
func (c PowerCurve) SpreadText() string {
	s := fmt.Sprintf("%.2f %%", 100*c.SD)
	if c.SD == 0 {
		s = "theirs"
	}
	if c.Spread == "upper" {
		s = "≤ " + s
	}
	return s
}

// EffectText is the true effect; * is one that an A/A observed.
func (c PowerCurve) EffectText() string {
	s := Percent(c.Effect, NoMargin)
	if c.Seen && c.SD == 0 {
		s = "theirs"
	}
	if c.Seen {
		s += " *"
	}
	return s
}

// NeededText is the number of blocks of a plan.
func (c PowerCurve) NeededText() string {
	if c.Needed == 0 || c.Needed > MostBlocks {
		return fmt.Sprintf("> %d", MostBlocks)
	}
	return fmt.Sprint(c.Needed)
}

// Title is a metric of a phase, or one at a given spread.
func (g PowerGroup) Title(c PowerCurve) string {
	if g.Phase == "" {
		return g.Label + " with an SD of " + c.SpreadText()
	}
	return g.Label + " of " + g.Phase
}
