// Package steps owns the Layer-1 step records: their format, a streaming
// reader, and the correctness checks over them.
//
// A file is JSON Lines: one Header, then one Record per scheduler step, then a
// Footer. The format is schema 1 of the recorder for vLLM 0.24.0; unknown
// fields are allowed, missing ones are errors. Times are nanoseconds: *_wall_ns
// since the epoch, *_mono_ns on the monotonic clock of the recording process.
package steps

import (
	"fmt"
	"slices"
)

// Schema is the version of the record format that this package reads and
// writes.
const Schema = 1

// ContextEdges are the inclusive upper edges of Record.ContextLengthHist, in
// tokens; the last bin has no upper edge.
var ContextEdges = []int64{128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}

// ChunkEdges are the inclusive upper edges of Chunked.SizeHist, in tokens; the
// last bin has no upper edge.
var ChunkEdges = []int64{16, 32, 64, 128, 256, 512, 1024, 2048}

// ContextBin is the bin of ContextLengthHist for a sequence of n tokens.
func ContextBin(n int64) int { return bin(ContextEdges, n) }

// ChunkBin is the bin of Chunked.SizeHist for a prefill chunk of n tokens.
func ChunkBin(n int64) int { return bin(ChunkEdges, n) }

func bin(edges []int64, n int64) int {
	i, _ := slices.BinarySearch(edges, n)
	return i
}

// FileName is the name of a step file: one per data-parallel rank and process.
func FileName(rank, pid int, startWallNS int64) string {
	return fmt.Sprintf("opprof-s%d-dp%d-%d-%d.jsonl", Schema, rank, pid, startWallNS)
}

// Header is the first line of every file: which recorder wrote it, and how the
// engine was configured.
type Header struct {
	Header              int               `json:"header"` // always 1
	Schema              int               `json:"schema"`
	Revision            string            `json:"revision"`
	VLLM                string            `json:"vllm"`
	Commit              string            `json:"commit"`
	Blobs               map[string]string `json:"blobs"`  // patched file to git blob id
	Runner              string            `json:"runner"` // v1, v2
	AsyncScheduling     bool              `json:"async_scheduling"`
	MaxNumSeqs          int64             `json:"max_num_seqs"`
	MaxNumBatchedTokens int64             `json:"max_num_batched_tokens"`
	BlockSize           int64             `json:"block_size"`
	EngineID            string            `json:"engine_id"`
	PID                 int64             `json:"pid"`
	StartWallNS         int64             `json:"start_wall_ns"`
	StartMonoNS         int64             `json:"start_mono_ns"`
	ContextEdges        []int64           `json:"context_edges"`
	ChunkEdges          []int64           `json:"chunk_edges"`
}

// Record is one scheduler step, or one run of consecutive steps without
// scheduled tokens.
type Record struct {
	Schema   int    `json:"schema"`
	EngineID string `json:"engine_id"`
	// StepIndex counts scheduler calls from 0; of a run of empty steps it is
	// the index of the last.
	StepIndex int64 `json:"step_index"`
	// EmptySteps is 0 for a step with scheduled tokens, else the length of the
	// run of steps without.
	EmptySteps     int64 `json:"empty_steps"`
	SubmitWallNS   int64 `json:"submit_wall_ns"`
	SubmitMonoNS   int64 `json:"submit_mono_ns"`
	ReadyMonoNS    int64 `json:"ready_mono_ns"`    // entry of update_from_output
	CompleteMonoNS int64 `json:"complete_mono_ns"` // end of update_from_output
	ModelExecuted  bool  `json:"model_executed"`
	// ScheduledRequests and ScheduledTokens are the scheduler's own totals,
	// independent of the classification below.
	ScheduledRequests int64   `json:"scheduled_requests"`
	ScheduledTokens   int64   `json:"scheduled_tokens"`
	DecodeBatchSize   int64   `json:"decode_batch_size"` // requests in generation
	PrefillRequests   int64   `json:"prefill_requests"`
	PrefillTokens     int64   `json:"prefill_tokens"`
	DecodeTokens      int64   `json:"decode_tokens"`
	Resumed           Resumed `json:"resumed"`
	ChunkedPrefill    Chunked `json:"chunked_prefill"`
	// ContextLengthHist counts every scheduled request by its length at the
	// end of the step, see ContextBin.
	ContextLengthHist [12]int64 `json:"context_length_hist"`
	Preemptions       int64     `json:"preemptions"`
	Queues            Queues    `json:"queues"` // right after scheduling
	KV                KV        `json:"kv"`     // right after scheduling
	Prefix            Prefix    `json:"prefix"`
	// CUDAGraph is nil under model runner V2 and in empty steps.
	CUDAGraph *CUDAGraph `json:"cudagraph"`
	// MoEExpertLoad is always null in Layer 1: exact loads belong to Layer 2.
	MoEExpertLoad *struct{} `json:"moe_expert_load"`
	// Backlog is the number of records not yet handed to the operating system
	// when this one was enqueued.
	Backlog int64 `json:"backlog"`
	// DroppedRecordsBefore is the number of steps whose records were lost
	// between the record before this one and this one.
	DroppedRecordsBefore int64 `json:"dropped_records_before"`

	// private is the first unknown field that looks like a request id or a
	// list of raw lengths; empty if there is none.
	private string
}

// Resumed counts the requests of a step that go on after a preemption, and the
// tokens that this makes the engine compute again.
type Resumed struct {
	Requests int64 `json:"requests"`
	Tokens   int64 `json:"tokens"`
}

// Chunked classifies the prefill requests of a step: the first, a middle or
// the final chunk of a split prompt, or a prompt in one piece.
type Chunked struct {
	First    int64    `json:"first"`
	Middle   int64    `json:"middle"`
	Final    int64    `json:"final"`
	Unsplit  int64    `json:"unsplit"`
	Tokens   int64    `json:"tokens"`
	SizeHist [9]int64 `json:"chunk_size_hist"` // see ChunkBin
}

// Queues are the scheduler's queue lengths in requests.
type Queues struct {
	Running  int64 `json:"running"`
	Waiting  int64 `json:"waiting"`
	Deferred int64 `json:"deferred"`
}

// KV is the state of the block pool without the null block.
type KV struct {
	TotalBlocks int64   `json:"total_blocks"`
	FreeBlocks  int64   `json:"free_blocks"`
	UsedBlocks  int64   `json:"used_blocks"`
	Usage       float64 `json:"usage"` // used / total, 0 to 1
}

// Prefix holds what the prefix-cache counters grew by during the step.
type Prefix struct {
	Local    *Lookups `json:"local"`    // nil: no such cache
	External *Lookups `json:"external"` // nil: no connector
}

// Lookups are prefix-cache lookups; queries and hits are tokens.
type Lookups struct {
	Requests          int64 `json:"requests"`
	Queries           int64 `json:"queries"`
	Hits              int64 `json:"hits"`
	PreemptedRequests int64 `json:"preempted_requests"`
	PreemptedQueries  int64 `json:"preempted_queries"`
	PreemptedHits     int64 `json:"preempted_hits"`
}

// CUDAGraph is vLLM's CUDAGraphStat of the step. Hit means that the mode is not
// NONE; PIECEWISE is no full-step graph.
type CUDAGraph struct {
	Hit            bool   `json:"hit"`
	RuntimeMode    string `json:"runtime_mode"` // FULL, PIECEWISE, NONE
	UnpaddedTokens int64  `json:"unpadded_tokens"`
	BucketTokens   int64  `json:"bucket_tokens"`
	PaddingTokens  int64  `json:"padding_tokens"`
}

// Footer is the last line of a file that was closed in order.
type Footer struct {
	Footer   int    `json:"footer"` // always 1
	Schema   int    `json:"schema"`
	EngineID string `json:"engine_id"`
	// Encoded and Written count records; header and footer are not records.
	Encoded int64 `json:"encoded"`
	Written int64 `json:"written"`
	// Dropped counts lost steps, those after the last record included.
	Dropped    int64 `json:"dropped"`
	BacklogMax int64 `json:"backlog_max"`
}
