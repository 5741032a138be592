// Package view is the report as data: what a campaign means, in types that
// verdict.json holds whole, with the words and numbers that every rendering
// shares. It judges nothing and reads no run directory.
package view

import (
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
)

// View is everything a report says, computed from one run directory. It is the
// content of verdict.json. Effects and bounds are percentages of the baseline,
// positive is worse; times are seconds, throughput is tokens per second. A
// value that does not exist is absent, never zero.
type View struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "verdict"
	Tool   string `json:"tool"`
	Rules  string `json:"rules"` // that it was judged by
	// Planned is there for a plan of earlier rules.
	Planned *Planned `json:"planned,omitempty"`

	// Result is empty while a campaign is unfinished; its text is UNFINISHED then.
	Result
	ExitCode int `json:"exit_code"`
	// Sentence says what the verdict rests on, the worst bound first.
	Sentence string `json:"sentence"`
	// Notes belong into the first lines of every rendering: simulated engine,
	// metrics that are not gated, a positive control.
	Notes []string `json:"notes,omitempty"`
	// Next says what to do now; empty after a PASS.
	Next []string `json:"next,omitempty"`
	// Needs says for each undecided primary metric what would decide it, and for the
	// campaign.
	Needs []string `json:"needs,omitempty"`
	// Whole is what a new campaign would need to pass on all primary metrics at once.
	Whole *Whole `json:"new_campaign,omitempty"`

	Subject   Subject `json:"subject"`
	Simulated bool    `json:"simulated"`
	Finished  bool    `json:"finished"`
	Blocks    Blocks  `json:"blocks"`
	// ErrorRate is the share of campaigns that come to this verdict wrongly, and under
	// which conditions; empty where it rests on no interval, or nothing counts.
	ErrorRate string `json:"error_rate,omitempty"`

	// Looks are those of a plan with several, up to the one that decided.
	Looks       []LookResult `json:"looks,omitempty"`
	Comparisons []Comparison `json:"comparisons"`
	// Recorders sums up the step records of every recording arm.
	Recorders []Recorder `json:"recorders,omitempty"`
	// Beside is what was recorded beside the requests; nil before the end.
	Beside *Beside `json:"beside,omitempty"`
	// Causes are why runs do not count, the one that voided most of them first.
	Causes  []Cause   `json:"causes,omitempty"`
	Runs    []Run     `json:"runs"`
	Aborted []Aborted `json:"aborted,omitempty"`
	// Repeats counts aborted runs and void attempts; absent where there are none.
	Repeats *Repeats `json:"repeats,omitempty"`
	// Environment holds facts equal in all runs, and for the others who differs.
	Environment []Fact    `json:"environment,omitempty"`
	AA          string    `json:"aa"`
	Earlier     []Earlier `json:"earlier,omitempty"`
	// Thinned counts step files that publishing left out: their checks are
	// recorded, not recomputed.
	Thinned int `json:"thinned,omitempty"`
	// Pilot is how the slowdown of a positive control was set.
	Pilot     *results.Pilot `json:"pilot,omitempty"`
	Reproduce string         `json:"reproduce"`
	// Plots holds the points that the page draws beside the numbers.
	Plots *Plots `json:"plots,omitempty"`
	// Measured is what the runs gave, for databases of measurements; absent before
	// the end.
	Measured *Measured `json:"measured,omitempty"`
}

// Planned are the rules that a plan was made under, and the result under these; that
// is empty before the end.
type Planned struct {
	Rules string `json:"rules"`
	Result
}

// RulesLine names the rules of a verdict.
func (v *View) RulesLine() string {
	if v.Planned == nil {
		return v.Rules
	}
	return v.Rules + ", planned under " + v.Planned.Rules
}

// Subject says what was measured.
type Subject struct {
	Campaign     string  `json:"campaign"` // name of the run directory
	Scenario     string  `json:"scenario"`
	Purpose      string  `json:"purpose"`
	About        string  `json:"about,omitempty"`
	PlanHash     string  `json:"plan_hash"`
	WorkloadHash string  `json:"workload_hash"`
	Date         string  `json:"date,omitempty"` // UTC day of the ledger's first entry
	Engine       string  `json:"engine"`
	Model        string  `json:"model"`
	Hardware     string  `json:"hardware,omitempty"`
	Versions     string  `json:"versions,omitempty"`
	Arms         []Arm   `json:"arms"`
	Seeds        []Seed  `json:"seeds"`
	MarginPct    float64 `json:"margin_pct"`
	Confidence   float64 `json:"confidence_pct"`
	Looks        []int   `json:"looks,omitempty"`
	AdjustOrder  bool    `json:"adjust_order,omitempty"`
	// SliceS is the aimed-at length of a slice of interleaved arms, in seconds.
	SliceS float64 `json:"interleave_slice_s,omitempty"`
	// LevelPct is the two-sided confidence of each interval where several looks
	// share the error of Confidence; else absent.
	LevelPct float64 `json:"interval_level_pct,omitempty"`
}

// Arm is one configuration under test.
type Arm struct {
	Name        string `json:"name"`
	Patch       string `json:"patch"`
	PatchSHA256 string `json:"patch_sha256,omitempty"`
	Records     bool   `json:"records"` // the recorder is on
}

// Seed names a seed of the plan.
type Seed struct {
	Of   string `json:"of"`
	Seed uint64 `json:"seed"`
}

// Blocks counts the blocks of a campaign.
type Blocks struct {
	Planned   int `json:"planned"`
	Valid     int `json:"valid"`
	BurnIn    int `json:"burn_in"`
	Voided    int `json:"voided"`     // attempts of blocks
	ValidRuns int `json:"valid_runs"` // burn-in left out
	// Analysed is the number of the planned look that the verdict belongs to.
	Analysed int `json:"analysed,omitempty"`
	// NotPooled are valid blocks that are the only ones of their hosts.
	NotPooled int `json:"not_pooled,omitempty"`
}

// LookResult is one planned analysis of a plan with several.
type LookResult struct {
	Number  int          `json:"number"` // from 1
	Blocks  int          `json:"blocks"`
	Verdict stat.Verdict `json:"verdict,omitempty"`
	Decided bool         `json:"decided,omitempty"` // the verdict of the campaign is that of this look
	// ErrorPct is the one-sided error at this look, SpentPct the most that was
	// spent up to it.
	ErrorPct float64 `json:"one_sided_error_pct"`
	SpentPct float64 `json:"spent_pct"`
}

// Comparison is what the candidate costs relative to the baseline.
type Comparison struct {
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
	AA        bool   `json:"aa,omitempty"` // the arms are equal on purpose
	// Gating is false for an A/A comparison inside an overhead campaign that
	// does not ask for it: its result is shown and changes nothing.
	Gating bool `json:"gating"`
	Result
	Invalid []Finding `json:"invalid,omitempty"`
	Failed  []Finding `json:"failed,omitempty"` // identity, reliability
	Notes   []string  `json:"notes,omitempty"`
	// Identity sums up the deterministic pass: "identical 64/64".
	Identity string `json:"identity,omitempty"`
	// Outputs compares those of the timed requests, by phase.
	Outputs  []Outputs  `json:"timed_outputs,omitempty"`
	Phases   []Phase    `json:"phases,omitempty"`
	Stalls   *Stalls    `json:"stalls,omitempty"`
	Growth   []Growth   `json:"growth,omitempty"`
	ProbeLag []ProbeLag `json:"probe_lag,omitempty"`
	CPU      []CPU      `json:"cpu,omitempty"`
	Hosts    int        `json:"hosts,omitempty"`
}

// Phase holds the metrics of one workload.
type Phase struct {
	Name    string   `json:"name"`
	Load    string   `json:"load"` // "closed loop, 1 stream"
	Metrics []Metric `json:"metrics"`
}

// Metric is the effect on one number of a run.
type Metric struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Unit    string `json:"unit"`
	Better  string `json:"better"` // lower, higher
	Primary bool   `json:"primary"`

	// Baseline and Candidate are geometric means over the analysed blocks, so
	// that their ratio is the unadjusted effect.
	Baseline  *float64 `json:"baseline,omitempty"`
	Candidate *float64 `json:"candidate,omitempty"`
	Effect    *float64 `json:"effect_pct,omitempty"`
	Lower     *float64 `json:"lower_pct,omitempty"`
	Upper     *float64 `json:"upper_pct,omitempty"`
	MarginPct float64  `json:"margin_pct"`

	// Result is empty for a metric that is not primary.
	Result
	// PutBack is what the metric gives with the worst attempts; absent where there is
	// but one attempt of each block.
	PutBack *PutBack `json:"put_back,omitempty"`
	// Control is what a positive control shows about the metric.
	Control *Control `json:"control,omitempty"`
	// Equivalence is the A/A statement: "equal within 3 %" or UNDERPOWERED.
	Equivalence string `json:"equivalence,omitempty"`

	Detail  *Detail      `json:"detail,omitempty"`
	Advice  *Advice      `json:"advice,omitempty"`
	Pairs   []Pair       `json:"pairs,omitempty"`
	Hosts   *HostEffects `json:"by_host,omitempty"` // of a campaign on several
	Remarks []string     `json:"remarks,omitempty"`
	// Undefined says why a metric that is not primary has values and no effect: a
	// zero, or none in some run. Baseline and Candidate are then plain means of
	// what there is.
	Undefined string `json:"undefined,omitempty"`
}

// Detail holds the parts of an interval, in percent, and what they were computed
// from on the scale of d: the natural logarithm of the ratio of the two runs of a
// block, positive is worse.
type Detail struct {
	N  int     `json:"n"`
	SD float64 `json:"sd_log"` // of d
	// SDUpper is the spread that a plan should reckon with: the 80 % upper limit of SD,
	// or of the next campaign's where SDCampaigns of this host tell more than one.
	SDUpper     float64     `json:"sd_upper_log,omitempty"`
	SDCampaigns int         `json:"sd_campaigns,omitempty"`
	Mean        float64     `json:"mean_log"`
	L           float64     `json:"lower_log"`
	U           float64     `json:"upper_log"`
	Margin      float64     `json:"margin_log"`
	P           float64     `json:"p_no_effect"` // two-sided
	T           [2]float64  `json:"t_pct"`
	BootT       *[2]float64 `json:"bootstrap_t_pct,omitempty"`
	OneSided95  float64     `json:"one_sided_95_pct"`
	// NotUsed: percentile and BCa intervals undercover at this n.
	Percentile *[2]float64 `json:"percentile_not_used_pct,omitempty"`
	BCa        *[2]float64 `json:"bca_not_used_pct,omitempty"`
	OrderPct   *float64    `json:"order_effect_pct,omitempty"`
	OrderP     *float64    `json:"order_effect_p_holm,omitempty"`
	// PAbove is the one-sided p value of a cost of at most the margin, of a metric
	// that fails by its own bound; PAdjusted is that times Tests, the metrics of the
	// campaign that could fail.
	PAbove    *float64 `json:"p_above_margin,omitempty"`
	PAdjusted *float64 `json:"p_above_margin_adjusted,omitempty"`
	Tests     int      `json:"tests,omitempty"`
	// PBelow is the one-sided p value of no gain, of a metric whose whole interval
	// lies on the better side.
	PBelow *float64 `json:"p_below_zero,omitempty"`
	// What a PASS rests on beside its bound: the largest share of bad server starts
	// that so many blocks without one do not exclude (97.5 %), and the one-sided
	// randomisation p value at the margin, by flipping signs.
	BadStartsPct *float64 `json:"bad_starts_not_excluded_pct,omitempty"`
	SignFlipP    *float64 `json:"sign_flip_p_at_margin,omitempty"`
	// Lag1 is the autocorrelation of the effects of neighbouring blocks.
	Lag1 *float64 `json:"lag1_r,omitempty"`
}

// Advice says what an inconclusive metric would need.
type Advice struct {
	Supports float64 `json:"tightest_margin_pct"`
	// Blocks for 90 % power at the observed spread, and at the upper 80 %
	// limit of the spread; zero: no number of blocks is enough.
	IfZero          int `json:"blocks_if_no_effect"`
	IfZeroUpper     int `json:"blocks_if_no_effect_upper_spread"`
	IfObserved      int `json:"blocks_at_observed_effect"`
	IfObservedUpper int `json:"blocks_at_observed_effect_upper_spread"`
	// Noise says where the spread comes from; empty for rates.
	Noise string `json:"noise,omitempty"`
}

// Whole says what a new campaign of the same metrics would need: blocks for 90 % power
// that all of them pass, simulated with the gate's rule and the residuals of this one;
// zero: no number of blocks is enough.
type Whole struct {
	Metrics int `json:"metrics"`
	// At the observed spreads, and at those that a plan should reckon with, if no
	// metric has a true effect; and if each has its estimate.
	IfZero          int `json:"blocks_if_no_effect"`
	IfZeroUpper     int `json:"blocks_if_no_effect_upper_spread"`
	IfObservedUpper int `json:"blocks_at_observed_effect_upper_spread"`
	// Campaigns of this host that the upper spread comes from, this one included; 1:
	// what it says holds if the host stays as quiet.
	Campaigns int `json:"campaigns"`
}

// Pair is the two runs of one block.
type Pair struct {
	Block         string  `json:"block"`
	BaselineFirst bool    `json:"baseline_first"`
	Baseline      float64 `json:"baseline"`
	Candidate     float64 `json:"candidate"`
	Effect        float64 `json:"effect_pct"`
}

// HostEffects is a metric on each of several hosts.
type HostEffects struct {
	Hosts []HostEffect `json:"hosts"`
	// Q asks whether the pooled hosts differ by more than their noise; absent
	// with a single one.
	Q *float64 `json:"cochran_q,omitempty"`
	P *float64 `json:"cochran_p,omitempty"`
}

// HostEffect is the effect on one host. Hosts have numbers in order of
// appearance: their names are nobody's business.
type HostEffect struct {
	Host   int     `json:"host"`
	Blocks int     `json:"blocks"`
	Effect float64 `json:"effect_pct"`
	Pooled bool    `json:"pooled"`
}

// Growth is how the effect on a phase's median latency changes from the
// beginning of a run to its end, over tenths of the requests.
type Growth struct {
	Phase   string  `json:"phase"`
	Metric  string  `json:"metric"`
	Pct     float64 `json:"change_pct"`
	P       float64 `json:"p"` // two-sided, t over the blocks
	Flagged bool    `json:"flagged,omitempty"`
}

// Stalls compares long gaps between chunks, over all phases.
type Stalls struct {
	Baseline         int     `json:"baseline_events"`
	Candidate        int     `json:"candidate_events"`
	BaselineSeconds  float64 `json:"baseline_s"`
	CandidateSeconds float64 `json:"candidate_s"`
	P                float64 `json:"p"`
	Flagged          bool    `json:"stalls"`
	// LargestBaseline and LargestCandidate are the largest gaps, in seconds.
	LargestBaseline  float64 `json:"baseline_largest_gap_s"`
	LargestCandidate float64 `json:"candidate_largest_gap_s"`
	// Thresholds say what a long gap is, by phase, in seconds.
	Thresholds []Threshold `json:"thresholds"`
}

// Threshold is the gap from which chunks of a phase count as stalled.
type Threshold struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
}

// ProbeLag is the relative bias that the client's own lateness could put into
// a primary metric, with its two-sided 99 % interval, in percent.
type ProbeLag struct {
	Phase   string  `json:"phase"`
	Of      string  `json:"of"` // ttft, tpot, throughput
	MeanPct float64 `json:"mean_pct"`
	Lower   float64 `json:"lower_pct"`
	Upper   float64 `json:"upper_pct"`
	Invalid bool    `json:"invalid,omitempty"`
}

// CPU compares the CPU seconds of one process role, means over the runs.
type CPU struct {
	Phase     string   `json:"phase"`
	Role      string   `json:"role"`
	Baseline  float64  `json:"baseline_s"`
	Candidate float64  `json:"candidate_s"`
	Effect    *float64 `json:"effect_pct,omitempty"`
}

// Recorder sums up the step records of one arm over its valid runs.
type Recorder struct {
	Arm          string     `json:"arm"`
	Runs         int        `json:"runs"`
	Records      int64      `json:"records"`
	BytesPerStep float64    `json:"bytes_per_step"`
	BacklogMax   int64      `json:"backlog_max"`
	BacklogLimit int64      `json:"backlog_limit"`
	Dropped      int64      `json:"dropped"`
	StepTimes    []StepTime `json:"step_times,omitempty"`
}

// StepTime is the mean over the runs of the median step time of a phase.
type StepTime struct {
	Phase string  `json:"phase"`
	P50   float64 `json:"p50_s"`
	P95   float64 `json:"p95_s"`
}

// Run is one sealed run with the names of everything that speaks against it.
type Run struct {
	Block    string   `json:"block"`
	Attempt  int      `json:"attempt"`
	Arm      string   `json:"arm"`
	Position int      `json:"position"` // 1-based place in the block
	State    RunState `json:"state"`
	Why      string   `json:"why,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"`
	Ready    float64  `json:"ready_s,omitempty"`
	Findings []Reason `json:"findings,omitempty"` // names; causes and comparisons have the words
	Warnings []string `json:"warnings,omitempty"`
}

// RunState is what a run is worth.
type RunState string

// States of a run. Those from RunSealed on are of a time line only, for runs that
// the run directory does not have.
const (
	RunValid     RunState = "valid"
	RunBurnIn    RunState = "burn-in"
	RunVoid      RunState = "void"
	RunDamaged   RunState = "damaged"
	RunInvalid   RunState = "INVALID" // accepted by the harness, refused by the report
	RunBlockOpen RunState = "block open"
	RunSealed    RunState = "sealed"
	RunLost      RunState = "lost"
	RunNotEnded  RunState = "not ended"
)

// Aborted is a run that was lost.
type Aborted struct {
	Block   string `json:"block"`
	Attempt int    `json:"attempt"`
	Arm     string `json:"arm"`
	Why     string `json:"why"`
}

// Fact is a line of the environment, equal in all runs unless By is set.
type Fact struct {
	Name  string   `json:"name"`
	Value string   `json:"value,omitempty"`
	By    []Differ `json:"by,omitempty"`
}

// Differ says which runs have which value.
type Differ struct {
	Value string   `json:"value"`
	Runs  []string `json:"runs"`
}

// Earlier is another campaign of the same comparison: see sameComparison.
type Earlier struct {
	Campaign string `json:"campaign"`
	Verdict  string `json:"verdict"` // the result in its verdict.json
	PlanHash string `json:"plan_hash"`
}
