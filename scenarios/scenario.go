// Package scenarios says what to ask: the scenario file, its types, defaults
// and validation, and the scenarios that ship with the tool.
//
// A Scenario holds every default filled in, so that its JSON form is canonical
// and can be hashed. Loading is strict: every problem of a file is reported at
// once with file, line and column.
package scenarios

import (
	"strings"
	"time"
)

// Purpose says what a campaign is for; it decides which rules apply.
type Purpose string

// The purposes of a scenario.
const (
	Overhead    Purpose = "overhead"    // does the candidate stay within the margin?
	AA          Purpose = "aa"          // equal arms: how noisy and how biased is the host?
	Control     Purpose = "control"     // a known slowdown that must not pass
	Correctness Purpose = "correctness" // checks and identity only, no effects
)

// PatchNone is the patch of an arm that runs the untouched package.
const PatchNone = "none"

// RunDirToken is replaced in an arm's environment by the run's own directory.
const RunDirToken = "{run_dir}"

// RecorderVariable turns the OpProf recorder on; its value is a directory.
const RecorderVariable = "VLLM_OPPROF_DIR"

// Scenario is one question, complete. The comments below give the default of
// each key of the file; README.md has them in one table.
type Scenario struct {
	Name     string       `json:"scenario"`
	Purpose  Purpose      `json:"purpose"` // overhead
	About    string       `json:"about"`   // empty
	Engine   Engine       `json:"engine"`
	Arms     []Arm        `json:"arms"` // in the file's order
	Compare  []Comparison `json:"compare"`
	Phases   []Phase      `json:"phases"`
	Design   Design       `json:"design"`
	Gate     Gate         `json:"gate"`
	Client   Client       `json:"client"`
	Identity Identity     `json:"identity"`
}

// Engine describes the server under test, equal for all arms.
type Engine struct {
	Kind EngineKind `json:"kind"`
	// Model is a model directory or name; for attach and sim just the name.
	// Only sim has a default, "simulated".
	Model string `json:"model"`
	// Python is the interpreter whose vllm package is tested (kind vllm).
	// It does not enter the plan hash. Default for vllm: python3.
	Python string `json:"python,omitempty"`
	// Args are the server's long options without the dashes. An empty value
	// is a bare flag (true in YAML). Default: none.
	Args map[string]string `json:"args"`
	Env  map[string]string `json:"env"`
	// Schedule puts process roles under a CPU scheduling policy; the only
	// value is "idle" (SCHED_IDLE). Roles: engine_core, worker.
	Schedule map[string]string `json:"schedule,omitempty"`
}

// Arm is one configuration of the server.
type Arm struct {
	Name  string `json:"name"`
	Patch string `json:"patch"` // revision id or "none", the default
	// PatchDir is the folder of a revision that does not ship with the tool, from
	// the working directory; see Known.Given. It does not enter the plan hash.
	PatchDir string            `json:"patch_dir,omitempty"`
	Env      map[string]string `json:"env"`
	Args     map[string]string `json:"args,omitempty"`
	// SameAs names the arm that this one repeats on purpose (A/A).
	SameAs string `json:"same_as,omitempty"`
	// URL is the endpoint of this arm (kind attach).
	URL string `json:"url,omitempty"`
}

// Records reports whether the arm turns the OpProf recorder on.
func (a Arm) Records() bool { return a.Env[RecorderVariable] != "" }

// Revision is the name that the arm's recorder writes into its records: the
// patch without what tells two states of a revision apart (r1-seed+337c3ac28b95).
func (a Arm) Revision() string {
	name, _, _ := strings.Cut(a.Patch, "+")
	return name
}

// Comparison is a pair of arms: what candidate costs relative to baseline.
// Default: the first arm is the baseline of each other arm.
type Comparison struct {
	Baseline  string `json:"baseline"`
	Candidate string `json:"candidate"`
}

// Phase is one workload on a running server: a warm-up, then a timed part.
type Phase struct {
	Name    string  `json:"name"`
	Source  Source  `json:"source"`
	Arrival Arrival `json:"arrival"`
	Warmup  Warmup  `json:"warmup"`
	// Primary are names of gateable Metrics. Default: output_throughput, tpot_p50,
	// tpot_p95 under closed loop, else ttft_p50, ttft_p95; none for
	// correctness.
	Primary []string `json:"primary"`
	// Goodput holds limits for a secondary metric; none by default.
	Goodput Goodput `json:"goodput,omitzero"`
}

// Goodput holds the limits that a request must meet; 0 is no limit.
type Goodput struct {
	TTFT time.Duration `json:"ttft_ns,omitempty"` // from the intended time of an open loop
	TPOT time.Duration `json:"tpot_ns,omitempty"`
}

// Source says which requests are sent. Synthetic prompts and outputs have 128
// tokens by default, those of a trace what its rows say.
type Source struct {
	Kind         SourceKind `json:"kind"`     // SourceSynthetic
	Requests     int        `json:"requests"` // timed requests; 100
	PromptTokens Dist       `json:"prompt_tokens,omitzero"`
	OutputTokens Dist       `json:"output_tokens,omitzero"`
	Seed         uint64     `json:"seed"`
	// VocabSize bounds the synthetic token ids: ids are drawn from
	// [VocabLow, VocabSize). Defaults: 10 and 32000.
	VocabSize int `json:"vocab_size"`
	VocabLow  int `json:"vocab_low"`
	// SharedPrefix is the number of prompt tokens that all requests of the
	// phase begin with (0: none).
	SharedPrefix int          `json:"shared_prefix,omitempty"`
	PrefixGroups PrefixGroups `json:"prefix_groups,omitzero"` // none
	// Format of a trace: azure, mooncake, vllm, guidellm, custom.
	Format string `json:"format,omitempty"`
	// Path of a trace: the name of one that ships with the tool (see Traces),
	// or a file, from the working directory. It does not enter the plan hash.
	Path string `json:"path,omitempty"`
	Skip int    `json:"skip,omitempty"` // rows of the trace before the warm-up; 0
	// ScaleTokens multiplies the lengths of a trace, MaxPrompt and MaxOutput
	// then cut them; 1, no bounds.
	ScaleTokens float64 `json:"scale_tokens,omitempty"`
	MaxPrompt   int     `json:"max_prompt,omitempty"`
	MaxOutput   int     `json:"max_output,omitempty"`
	// TimeUnit is what the timestamps of a vllm or custom trace count.
	TimeUnit time.Duration `json:"time_unit_ns,omitempty"`
}

// PrefixGroups are groups of requests whose prompts begin with the same tokens.
type PrefixGroups struct {
	Count  int `json:"count"`
	Tokens int `json:"tokens"` // that the prompts of one group share
}

// Dist is a distribution of token counts.
type Dist struct {
	Kind   DistKind `json:"dist"`
	Value  int      `json:"value,omitempty"`  // fixed
	Min    int      `json:"min,omitempty"`    // uniform, inclusive; lognormal: lower clip (default 1)
	Max    int      `json:"max,omitempty"`    // uniform, inclusive; lognormal: upper clip (default 4 x p95)
	Median int      `json:"median,omitempty"` // lognormal
	P95    int      `json:"p95,omitempty"`    // lognormal
}

// Arrival says when requests are sent: after one another in each stream of a
// closed loop, else at intended times, an open loop.
type Arrival struct {
	Kind    ArrivalKind   `json:"kind"`              // ArrivalClosed
	Streams int           `json:"streams,omitempty"` // closed: requests in flight; 1
	Ramp    time.Duration `json:"ramp_ns,omitempty"` // closed: time over which streams start; 0
	// Rate is the requests per second of poisson, constant and gamma; no
	// default.
	Rate float64 `json:"rate,omitempty"`
	// Burstiness of gamma: gaps have a coefficient of variation of
	// 1/sqrt(Burstiness); no default.
	Burstiness float64 `json:"burstiness,omitempty"`
	// Scale multiplies the times of a trace; 1.
	Scale float64 `json:"scale,omitempty"`
}

// Warmup is sent before the timed requests, which follow without draining.
// Default: 10 requests, or the streams if these are more.
type Warmup struct {
	Requests int `json:"requests"`
}

// Design is the plan of a campaign.
type Design struct {
	Blocks       int           `json:"blocks"` // the last look, else 10, with three or four arms 12; correctness: 1
	Seed         uint64        `json:"seed"`
	BurnInBlocks int           `json:"burn_in_blocks"` // 1; correctness: 0
	Looks        []int         `json:"looks"`          // one, after the last block
	MaxDropped   int           `json:"max_dropped"`    // step records, per run; 0
	Cooldown     time.Duration `json:"cooldown_ns"`    // between runs; 5 s
	AdjustOrder  bool          `json:"adjust_order"`   // false; true if interleaved
	// Interleave lets the arms of a block take turns on servers that run at
	// the same time; none by default: one server after the other.
	Interleave Interleave `json:"interleave,omitzero"`
}

// Interleave cuts each phase into slices that alternate between the arms.
type Interleave struct {
	Slice  time.Duration `json:"slice_ns"`  // aimed-at length of a slice
	Settle time.Duration `json:"settle_ns"` // pause before each slice; 1.5 s
}

// Interleaved reports whether the arms of a block are served at the same time.
func (d Design) Interleaved() bool { return d.Interleave.Slice > 0 }

// Gate holds the acceptance rule.
type Gate struct {
	Margin         float64 `json:"margin"`           // fraction; 0.03, which is 3 %
	Confidence     float64 `json:"confidence"`       // fraction, two-sided; 0.95
	RequireAA      bool    `json:"require_aa"`       // false
	RequireAllFive bool    `json:"require_all_five"` // true for phase2-* and revisions, else false
}

// Client holds the limits of the load generator's own health.
type Client struct {
	// MaxProbeLagP99 bounds the lateness of the probe timer; 2 ms.
	MaxProbeLagP99 time.Duration `json:"max_probe_lag_p99_ns"`
	// RequestTimeout bounds one request from send to end of stream; 120 s.
	RequestTimeout time.Duration `json:"request_timeout_ns"`
}

// Identity is the deterministic pass that follows the timed phases: greedy
// prompts, one at a time.
type Identity struct {
	Prompts      int    `json:"prompts"`       // 64; 0: no identity pass (only for purpose aa of attach)
	PromptTokens int    `json:"prompt_tokens"` // 32
	OutputTokens int    `json:"output_tokens"` // 64
	MinDistinct  int    `json:"min_distinct"`  // 4
	Seed         uint64 `json:"seed"`          // one constant, 20260711
	// Expect says whether arms must give the same outputs; absent, their differences decide.
	Expect Expectation `json:"expect,omitempty"`
}

// Arm returns the arm of that name.
func (s *Scenario) Arm(name string) (Arm, bool) {
	for _, a := range s.Arms {
		if a.Name == name {
			return a, true
		}
	}
	return Arm{}, false
}
