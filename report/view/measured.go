package view

import "github.com/aituner/opprof/scenarios"

// Measured is what the counted runs of a finished campaign gave, with what their
// servers were asked to be: databases of measurements take it as it is. It
// decides nothing.
type Measured struct {
	Arms   []Settings    `json:"arms,omitempty"`   // in the scenario's order
	Phases []Workload    `json:"phases,omitempty"` // in the scenario's order
	Runs   []MeasuredRun `json:"runs,omitempty"`   // of accepted blocks without burn-in, in running order
}

// Settings are what the scenario says of an arm's server.
type Settings struct {
	Arm            string `json:"arm"`
	TensorParallel int    `json:"tensor_parallel_size"` // 1 unless an option says otherwise
	// Args are the server's long options without dashes, the engine's and over
	// them the arm's; a bare flag has no value. Env are its variables. Both are
	// in order of their names, and of a path of one machine only the last element
	// is there.
	Args []Setting `json:"args,omitempty"`
	Env  []Setting `json:"env,omitempty"`
}

// Setting is an option or a variable.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Workload is what a phase asks of the server.
type Workload struct {
	Phase   string  `json:"phase"`
	Rate    float64 `json:"rate,omitempty"`    // requests per second of an open loop
	Streams int     `json:"streams,omitempty"` // requests in flight of a closed loop
	// PromptTokens and OutputTokens are absent where a trace gives the lengths.
	PromptTokens *Lengths `json:"prompt_tokens,omitempty"`
	OutputTokens *Lengths `json:"output_tokens,omitempty"`
}

// Lengths is a planned distribution of numbers of tokens, as in the scenario.
type Lengths struct {
	Kind   scenarios.DistKind `json:"distribution"`     // fixed, uniform, lognormal
	Value  int                `json:"value,omitempty"`  // fixed
	Min    int                `json:"min,omitempty"`    // uniform; lognormal: lower clip
	Max    int                `json:"max,omitempty"`    // uniform; lognormal: upper clip
	Median int                `json:"median,omitempty"` // lognormal
	P95    int                `json:"p95,omitempty"`    // lognormal
}

// MeasuredRun is a run with the server and the machine that it found.
type MeasuredRun struct {
	Block         string `json:"block"`
	Attempt       int    `json:"attempt"`
	Arm           string `json:"arm"`
	Engine        string `json:"engine"`                   // vllm, sim, attach
	EngineVersion string `json:"engine_version,omitempty"` // of vLLM
	Dtype         string `json:"dtype,omitempty"`          // as the server's log says
	// Accelerator is the model of the first GPU, or of the CPU of a host without
	// one. GPUs counts those that the server may use.
	Accelerator string          `json:"accelerator"`
	GPUs        int             `json:"gpus,omitempty"`
	Phases      []MeasuredPhase `json:"phases,omitempty"`
}

// MeasuredPhase sums up the timed requests of a phase of one run.
type MeasuredPhase struct {
	Phase    string `json:"phase"`
	StartNS  int64  `json:"timed_start_wall_ns"` // first timed send, ns since the epoch
	EndNS    int64  `json:"timed_end_wall_ns"`   // read of the last timed token
	Requests int    `json:"requests"`
	Failed   int    `json:"failed,omitempty"`
	// Of the requests that did not fail, as package metrics defines them; times
	// in seconds.
	PromptTokens     *Summary `json:"prompt_tokens,omitempty"`
	OutputTokens     *Summary `json:"output_tokens,omitempty"`
	TTFT             *Summary `json:"ttft_s,omitempty"`
	TPOT             *Summary `json:"tpot_s,omitempty"`
	EndToEnd         *Summary `json:"e2e_s,omitempty"`
	OutputThroughput float64  `json:"output_throughput,omitempty"` // tokens per second
	RequestRate      float64  `json:"request_rate,omitempty"`      // requests per second
}

// SummaryQuantiles are the probabilities of the quantiles of a Summary.
var SummaryQuantiles = [11]float64{0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999}

// Summary describes one quantity of the requests of a run.
type Summary struct {
	Mean float64  `json:"mean"`
	SD   *float64 `json:"sd,omitempty"` // absent for a single value
	Min  float64  `json:"min"`
	Max  float64  `json:"max"`
	// Quantiles are those at 0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99 and 99.9 %, by
	// linear interpolation; absent where all values are equal.
	Quantiles *[11]float64 `json:"quantiles,omitempty"`
}

// Quantile is the i-th of SummaryQuantiles.
func (s *Summary) Quantile(i int) float64 {
	if s.Quantiles == nil {
		return s.Min
	}
	return s.Quantiles[i]
}
