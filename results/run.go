package results

import (
	"time"

	"github.com/aituner/opprof/results/gaps"
	"github.com/aituner/opprof/scenarios"
)

// Run is the content of run.json: one fresh server start of one arm, through
// all phases. It says what happened; package results/validity says whether
// that makes the run INVALID.
type Run struct {
	Schema   int       `json:"schema"`
	Kind     string    `json:"kind"` // "run"
	Key      Key       `json:"key"`
	BurnIn   bool      `json:"burn_in,omitempty"`
	Position int       `json:"position"` // 0-based place in the block's order
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Server   Server    `json:"server"`
	Phases   []Phase   `json:"phases"`
	Identity *Outputs  `json:"identity,omitempty"` // summary only: the tokens are in outputs.json
	Steps    *Steps    `json:"steps,omitempty"`    // nil in an arm that does not record
	// Failure is why the run ended early: what was acted on and what went
	// wrong. Empty for a run that went through all phases.
	Failure string `json:"failure,omitempty"`
	// FailureClass says whose fault it is.
	FailureClass FailureClass `json:"failure_class,omitempty"`
	// ClockStep is by how many seconds the wall clock moved more (or, negative,
	// less) than the monotonic clock from Start to End. Phases are cut out of
	// the step records by wall time.
	ClockStep float64 `json:"clock_step_s,omitempty"`
}

// FailureClass says whose fault it is that a run ended early.
type FailureClass string

// The classes of failures.
const (
	FailureEngine   FailureClass = "engine"   // the server's: belongs to the arm
	FailureRecorder FailureClass = "recorder" // an arm that should record does not
	FailureHost     FailureClass = "host"     // a foreign server
	FailureHarness  FailureClass = "harness"
)

// Server is what is known about the server process of a run.
type Server struct {
	Engine    scenarios.EngineKind `json:"engine"`
	Simulated bool                 `json:"simulated,omitempty"`
	Command   []string             `json:"command"` // run directory, port and nonce replaced by tokens
	Env       map[string]string    `json:"env"`     // difference from the harness's own environment
	Model     string               `json:"model"`   // nonce as served
	Port      int                  `json:"port"`
	PID       int                  `json:"pid"`
	ReadyIn   float64              `json:"ready_in_s"` // seconds from start to first answer
	Patch     string               `json:"patch"`
	Blobs     map[string]string    `json:"blobs,omitempty"` // patched file to git blob id as found in the tree
	// Versions: vllm, torch, python, ... as the server's interpreter reports.
	Versions map[string]string `json:"versions,omitempty"`
	// Backends: attention, moe, cudagraph, dtype, compile_cache, ... as the
	// server's log says; a line that was not found is absent.
	Backends     map[string]string `json:"backends,omitempty"`
	ModelConfig  map[string]any    `json:"model_config,omitempty"`
	ModelSHA256  string            `json:"model_sha256,omitempty"` // of config.json and the weight index or file sizes
	Fingerprints []string          `json:"system_fingerprints,omitempty"`
	// Schedule is the CPU scheduling policy that was set, by process role.
	Schedule map[string]string `json:"schedule,omitempty"`
	// KVBlocks is the size of the KV cache in blocks, as /metrics says; 0: it
	// does not say.
	KVBlocks int64 `json:"kv_blocks,omitempty"`
	// Proofs that the server is ours, in time order: before load, before and
	// after each timed phase.
	Proofs []Proof `json:"proofs"`
	Stop   Stop    `json:"stop"`
	// LogFindings are lines of the server's log that matter: fatal errors,
	// tracebacks and warnings of the recorder, JIT compilations.
	LogFindings []LogLine `json:"log_findings,omitempty"`
}

// Proof is one look at the listening socket and the served model.
type Proof struct {
	When      string `json:"when"`      // "ready", "single:before", "single:after", ...
	Listeners int    `json:"listeners"` // sockets listening on the port
	Ours      int    `json:"ours"`      // of these, owned by the server's process group
	Detail    string `json:"detail,omitempty"`
}

// LogLine is a line of the server's log with the wall time at which the
// harness read it.
type LogLine struct {
	Kind   LogKind `json:"kind"`
	WallNS int64   `json:"wall_ns"`
	Text   string  `json:"text"`
}

// LogKind says what a line of the server's log is about.
type LogKind string

// The kinds of lines that matter.
const (
	LogJIT      LogKind = "jit"      // a kernel was compiled
	LogRecorder LogKind = "recorder" // a traceback through the recorder, or its errors and warnings
	LogEngine   LogKind = "engine"   // the engine core ends
	LogProfiler LogKind = "profiler" // the profiler was started
)

// Stop is how the server ended.
type Stop struct {
	Requested bool    `json:"requested"` // the harness asked it to stop
	Graceful  bool    `json:"graceful"`  // ended within the bound after SIGINT
	ExitCode  int     `json:"exit_code"`
	Signal    string  `json:"signal,omitempty"`
	Seconds   float64 `json:"seconds"`
}

// Phase is what happened in one phase of a run.
type Phase struct {
	Name string `json:"name"`
	// Wall clock, ns since the epoch: first warm-up send, first timed send,
	// read of the last timed token.
	WarmupStartNS int64 `json:"warmup_start_wall_ns"`
	TimedStartNS  int64 `json:"timed_start_wall_ns"`
	TimedEndNS    int64 `json:"timed_end_wall_ns"`
	// Planned and finished count the timed requests.
	Planned  int `json:"planned"`
	Finished int `json:"finished"`
	Failed   int `json:"failed"` // timed or warm-up
	Unsent   int `json:"unsent"` // timed or warm-up
	// Metrics holds the numbers of the run, named and defined in package
	// results/metrics: times in seconds, throughput in tokens per second. A
	// metric that is not defined is absent.
	Metrics map[string]float64 `json:"metrics"`
	// Undefined counts requests without a value, by metric.
	Undefined map[string]int `json:"undefined,omitempty"`
	// Gaps are those between the chunks of timed requests that succeeded, all
	// together. None: no request had two chunks, or an older client measured.
	Gaps gaps.Histogram `json:"gap_hist,omitzero"`
	// MeanLive is the mean number of live streams of the timed part.
	MeanLive float64      `json:"mean_live"`
	Client   ClientHealth `json:"client"`
	// CPUSeconds of the timed part by process role: engine_core, worker,
	// api_server, server (a single-process engine), client.
	CPUSeconds map[string]float64 `json:"cpu_seconds"`
	// Counters are differences of the server's /metrics over the phase.
	Counters map[string]float64 `json:"counters,omitempty"`
	// Gauges are the server's queue lengths right before the phase and right
	// after it.
	Gauges map[string][2]float64 `json:"gauges,omitempty"`
	// Dials counts the connections that the client opened, Redials those that
	// replaced one which was closed or too old between two requests.
	Dials   int `json:"dials,omitempty"`
	Redials int `json:"redials,omitempty"`
	// Slices are the parts of the timed requests of an interleaved run, in
	// running order; the times between them belong to the other arms. None:
	// the timed part is one piece.
	Slices []Slice `json:"slices,omitempty"`
	// IdleSeconds is how long slices of other arms lasted while this server
	// stood by, IdleCPUSeconds what its processes used meanwhile, by role.
	IdleSeconds    float64            `json:"idle_s,omitempty"`
	IdleCPUSeconds map[string]float64 `json:"idle_cpu_s,omitempty"`
	// GPU describes each GPU of the host during the timed part.
	GPU []GPU `json:"gpu,omitempty"`
	// ForeignGPU lists processes that computed on a GPU before or after the
	// phase and are not the server's.
	ForeignGPU []GPUProcess `json:"foreign_gpu,omitempty"`
	// GPUProblem says why the GPUs could not be looked at.
	GPUProblem string `json:"gpu_problem,omitempty"`
}

// Slice is one uninterrupted part of a timed phase. Slices of one number send
// the same requests in all arms.
type Slice struct {
	Number   int   `json:"number"`   // 1..n
	Position int   `json:"position"` // 0-based place among the arms of this number
	Requests int   `json:"requests"`
	StartNS  int64 `json:"start_wall_ns"` // first send, ns since the epoch
	EndNS    int64 `json:"end_wall_ns"`   // read of the last token
}

// GPU sums up what nvidia-smi said about one GPU during a timed part.
type GPU struct {
	Index int `json:"index"`
	// ID is a digest of the UUID: it tells boards apart without naming them.
	ID      string `json:"id"`
	Samples int    `json:"samples"`
	// Ranges by quantity: utilization_pct, sm_clock_mhz, memory_clock_mhz,
	// power_w, temperature_c, memory_used_mib. A quantity that the GPU does not
	// support is absent.
	Ranges map[string]Range `json:"ranges"`
	// Throttle counts the samples in which a reason held the clocks down.
	Throttle map[string]int `json:"throttle,omitempty"`
}

// Range is the spread of a sampled quantity.
type Range struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// GPUProcess is a process with a compute context on a GPU.
type GPUProcess struct {
	When string `json:"when"` // "before", "after"
	PID  int    `json:"pid"`
	GPU  string `json:"gpu"`            // as GPU.ID
	Name string `json:"name,omitempty"` // of the program, without its folder
}

// ClientHealth is the load generator's own lateness.
type ClientHealth struct {
	ProbeLagMean float64 `json:"probe_lag_mean_s"` // lateness of a 5 ms timer
	ProbeLagP99  float64 `json:"probe_lag_p99_s"`
	ProbeLagMax  float64 `json:"probe_lag_max_s"`
	Probes       int     `json:"probes"`
	SendLateP99  float64 `json:"send_late_p99_s"` // send against intended time, open loop
	// KernelStamps is the share of socket reads whose time is that of the
	// kernel's receive stamp; the others have the time of the read's return.
	KernelStamps   float64 `json:"kernel_stamps,omitempty"`
	GCPauses       int     `json:"gc_pauses"`
	GCPauseSeconds float64 `json:"gc_pause_s"`
}

// Outputs summarises the identity pass.
type Outputs struct {
	Prompts  int    `json:"prompts"`
	SHA256   string `json:"sha256"` // over all token ids in order
	Distinct int    `json:"distinct"`
	Unequal  bool   `json:"unequal"` // outputs differ between prompts
}

// Steps summarises the Layer-1 records of a run.
type Steps struct {
	Files []StepFile `json:"files"`
	// Revision and Blobs are what the recorder says of itself in its header:
	// patch id, and git blob ids of the patched files as imported.
	Revision      string            `json:"revision,omitempty"`
	Blobs         map[string]string `json:"blobs,omitempty"`
	Records       int64             `json:"records"`
	Steps         int64             `json:"steps"` // index range, empty runs counted
	EmptySteps    int64             `json:"empty_steps"`
	Bytes         int64             `json:"bytes"` // of the uncompressed files
	BacklogMax    int64             `json:"backlog_max"`
	Dropped       int64             `json:"dropped"`
	Preemptions   int64             `json:"preemptions"`
	PrefillTokens int64             `json:"prefill_tokens"`
	DecodeTokens  int64             `json:"decode_tokens"`
	ResumedTokens int64             `json:"resumed_tokens"`
	PrefixQueries int64             `json:"prefix_queries"`
	PrefixHits    int64             `json:"prefix_hits"`
	// Histogram sums over all records.
	ContextHist []int64 `json:"context_length_hist"`
	ChunkHist   []int64 `json:"chunk_size_hist"`
	// ClientPrefill and ClientDecode are what all requests sent to this server
	// explain: sum of prompt - cached, and of output - 1.
	ClientPrefill int64 `json:"client_prefill_tokens"`
	ClientDecode  int64 `json:"client_decode_tokens"`
	// Phases cuts the records by submit_wall_ns into the timed phases.
	Phases []StepPhase `json:"phases"`
	Footer bool        `json:"footer"`
	Checks []Check     `json:"checks"`
}

// StepFile names one file of step records.
type StepFile struct {
	Name   string `json:"name"` // relative to the run's directory, as stored
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// StepPhase is the step summary of one timed phase.
type StepPhase struct {
	Phase       string  `json:"phase"`
	Records     int64   `json:"records"`
	StepP50     float64 `json:"step_p50_s"` // step time, seconds
	StepP95     float64 `json:"step_p95_s"`
	MeanDecode  float64 `json:"mean_decode_batch"`
	Preemptions int64   `json:"preemptions"`
}

// Check is the result of one correctness check over the step records.
type Check struct {
	ID      string `json:"id"`
	Checked int64  `json:"checked"` // how often it was evaluated
	Failed  int64  `json:"failed"`
	First   string `json:"first,omitempty"`   // first offender: file:line: what is wrong
	Skipped string `json:"skipped,omitempty"` // why it could not be evaluated
	Warning bool   `json:"warning,omitempty"` // a failure does not make the run INVALID
}
