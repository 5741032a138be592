package view

// Revisions compares what two revisions cost. It is information, not a gate: it
// has no margin and decides nothing. Effects and bounds are percentages, positive
// is worse.
type Revisions struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "compare"
	Tool   string `json:"tool"`
	// Method is "paired" for two arms of one campaign, "welch" for two campaigns.
	Method        string  `json:"method"`
	ConfidencePct float64 `json:"confidence_pct"`
	Simulated     bool    `json:"simulated,omitempty"`

	A RevisionOf `json:"a"`
	B RevisionOf `json:"b"`
	// Stated are the differences that the user excused.
	Stated []string `json:"stated_differences,omitempty"`
	// PlanDiffers names the parts of the two plans that differ and may.
	PlanDiffers []string         `json:"plan_differs,omitempty"`
	Notes       []string         `json:"notes"`
	Metrics     []RevisionMetric `json:"metrics"`
}

// RevisionOf is one side: an arm, and the arm that its effect is relative to.
type RevisionOf struct {
	Campaign string `json:"campaign"`
	Arm      string `json:"arm"`
	Patch    string `json:"patch"`
	Baseline string `json:"baseline,omitempty"` // absent: no common one was measured
	PlanHash string `json:"plan_hash"`
	Date     string `json:"date,omitempty"`
	Blocks   int    `json:"blocks"`
}

// RevisionMetric is one metric of a phase.
type RevisionMetric struct {
	Phase string `json:"phase"`
	Load  string `json:"load"`
	Name  string `json:"name"`
	Label string `json:"label"`
	// A and B are the effects against the baseline; absent without a common one.
	A *Effect `json:"a,omitempty"`
	B *Effect `json:"b,omitempty"`
	// Difference is what B costs relative to A.
	Difference Effect `json:"difference"`
}

// Effect is a change with its two-sided interval, in percent.
type Effect struct {
	Pct   float64 `json:"pct"`
	Lower float64 `json:"lower_pct"`
	Upper float64 `json:"upper_pct"`
}

// Told reports whether the interval excludes zero.
func (e Effect) Told() bool { return e.Lower > 0 || e.Upper < 0 }
