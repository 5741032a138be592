package export

import (
	"slices"

	"github.com/aituner/opprof/results/steps"
)

// stepRow is a steps.Record as a flat row, in the recorder's order. What the
// recorder writes as null is null here: prefix caches that the engine does not
// have, CUDA graphs of steps without one.
type stepRow struct {
	File                      string  `parquet:"file,dict" json:"file"`
	EngineID                  string  `parquet:"engine_id,dict" json:"engine_id"`
	StepIndex                 int64   `parquet:"step_index" json:"step_index"`
	EmptySteps                int64   `parquet:"empty_steps" json:"empty_steps"`
	SubmitWallNS              int64   `parquet:"submit_wall_ns" json:"submit_wall_ns"`
	SubmitMonoNS              int64   `parquet:"submit_mono_ns" json:"submit_mono_ns"`
	ReadyMonoNS               int64   `parquet:"ready_mono_ns" json:"ready_mono_ns"`
	CompleteMonoNS            int64   `parquet:"complete_mono_ns" json:"complete_mono_ns"`
	ModelExecuted             bool    `parquet:"model_executed" json:"model_executed"`
	ScheduledRequests         int64   `parquet:"scheduled_requests" json:"scheduled_requests"`
	ScheduledTokens           int64   `parquet:"scheduled_tokens" json:"scheduled_tokens"`
	DecodeBatchSize           int64   `parquet:"decode_batch_size" json:"decode_batch_size"`
	PrefillRequests           int64   `parquet:"prefill_requests" json:"prefill_requests"`
	PrefillTokens             int64   `parquet:"prefill_tokens" json:"prefill_tokens"`
	DecodeTokens              int64   `parquet:"decode_tokens" json:"decode_tokens"`
	ResumedRequests           int64   `parquet:"resumed_requests" json:"resumed_requests"`
	ResumedTokens             int64   `parquet:"resumed_tokens" json:"resumed_tokens"`
	ChunksFirst               int64   `parquet:"chunks_first" json:"chunks_first"`
	ChunksMiddle              int64   `parquet:"chunks_middle" json:"chunks_middle"`
	ChunksFinal               int64   `parquet:"chunks_final" json:"chunks_final"`
	ChunksUnsplit             int64   `parquet:"chunks_unsplit" json:"chunks_unsplit"`
	ChunkTokens               int64   `parquet:"chunk_tokens" json:"chunk_tokens"`
	ChunkSizeHist             []int64 `parquet:"chunk_size_hist,list" json:"chunk_size_hist"`
	ContextHist               []int64 `parquet:"context_length_hist,list" json:"context_length_hist"`
	Preemptions               int64   `parquet:"preemptions" json:"preemptions"`
	QueueRunning              int64   `parquet:"queue_running" json:"queue_running"`
	QueueWaiting              int64   `parquet:"queue_waiting" json:"queue_waiting"`
	QueueDeferred             int64   `parquet:"queue_deferred" json:"queue_deferred"`
	KVTotalBlocks             int64   `parquet:"kv_total_blocks" json:"kv_total_blocks"`
	KVFreeBlocks              int64   `parquet:"kv_free_blocks" json:"kv_free_blocks"`
	KVUsedBlocks              int64   `parquet:"kv_used_blocks" json:"kv_used_blocks"`
	KVUsage                   float64 `parquet:"kv_usage" json:"kv_usage"`
	LocalRequests             *int64  `parquet:"prefix_local_requests" json:"prefix_local_requests"`
	LocalQueries              *int64  `parquet:"prefix_local_queries" json:"prefix_local_queries"`
	LocalHits                 *int64  `parquet:"prefix_local_hits" json:"prefix_local_hits"`
	LocalPreemptedRequests    *int64  `parquet:"prefix_local_preempted_requests" json:"prefix_local_preempted_requests"`
	LocalPreemptedQueries     *int64  `parquet:"prefix_local_preempted_queries" json:"prefix_local_preempted_queries"`
	LocalPreemptedHits        *int64  `parquet:"prefix_local_preempted_hits" json:"prefix_local_preempted_hits"`
	ExternalRequests          *int64  `parquet:"prefix_external_requests" json:"prefix_external_requests"`
	ExternalQueries           *int64  `parquet:"prefix_external_queries" json:"prefix_external_queries"`
	ExternalHits              *int64  `parquet:"prefix_external_hits" json:"prefix_external_hits"`
	ExternalPreemptedRequests *int64  `parquet:"prefix_external_preempted_requests" json:"prefix_external_preempted_requests"`
	ExternalPreemptedQueries  *int64  `parquet:"prefix_external_preempted_queries" json:"prefix_external_preempted_queries"`
	ExternalPreemptedHits     *int64  `parquet:"prefix_external_preempted_hits" json:"prefix_external_preempted_hits"`
	GraphHit                  *bool   `parquet:"cudagraph_hit" json:"cudagraph_hit"`
	GraphMode                 *string `parquet:"cudagraph_mode,dict" json:"cudagraph_mode"`
	GraphUnpadded             *int64  `parquet:"cudagraph_unpadded_tokens" json:"cudagraph_unpadded_tokens"`
	GraphBucket               *int64  `parquet:"cudagraph_bucket_tokens" json:"cudagraph_bucket_tokens"`
	GraphPadding              *int64  `parquet:"cudagraph_padding_tokens" json:"cudagraph_padding_tokens"`
	Backlog                   int64   `parquet:"backlog" json:"backlog"`
	Dropped                   int64   `parquet:"dropped_records_before" json:"dropped_records_before"`
}

// rowOf copies a record, whose memory is used again.
func rowOf(name string, r *steps.Record) stepRow {
	row := stepRow{
		File: text(name), EngineID: text(r.EngineID), StepIndex: r.StepIndex, EmptySteps: r.EmptySteps,
		SubmitWallNS: r.SubmitWallNS, SubmitMonoNS: r.SubmitMonoNS, ReadyMonoNS: r.ReadyMonoNS,
		CompleteMonoNS: r.CompleteMonoNS, ModelExecuted: r.ModelExecuted, ScheduledRequests: r.ScheduledRequests,
		ScheduledTokens: r.ScheduledTokens, DecodeBatchSize: r.DecodeBatchSize, PrefillRequests: r.PrefillRequests,
		PrefillTokens: r.PrefillTokens, DecodeTokens: r.DecodeTokens, ResumedRequests: r.Resumed.Requests,
		ResumedTokens: r.Resumed.Tokens, ChunksFirst: r.ChunkedPrefill.First, ChunksMiddle: r.ChunkedPrefill.Middle,
		ChunksFinal: r.ChunkedPrefill.Final, ChunksUnsplit: r.ChunkedPrefill.Unsplit,
		ChunkTokens: r.ChunkedPrefill.Tokens, ChunkSizeHist: slices.Clone(r.ChunkedPrefill.SizeHist[:]),
		ContextHist: slices.Clone(r.ContextLengthHist[:]), Preemptions: r.Preemptions,
		QueueRunning: r.Queues.Running, QueueWaiting: r.Queues.Waiting, QueueDeferred: r.Queues.Deferred,
		KVTotalBlocks: r.KV.TotalBlocks, KVFreeBlocks: r.KV.FreeBlocks, KVUsedBlocks: r.KV.UsedBlocks,
		KVUsage: r.KV.Usage, Backlog: r.Backlog, Dropped: r.DroppedRecordsBefore,
	}
	if l := r.Prefix.Local; l != nil {
		c := *l
		row.LocalRequests, row.LocalQueries, row.LocalHits = &c.Requests, &c.Queries, &c.Hits
		row.LocalPreemptedRequests, row.LocalPreemptedQueries, row.LocalPreemptedHits = &c.PreemptedRequests, &c.PreemptedQueries, &c.PreemptedHits
	}
	if l := r.Prefix.External; l != nil {
		c := *l
		row.ExternalRequests, row.ExternalQueries, row.ExternalHits = &c.Requests, &c.Queries, &c.Hits
		row.ExternalPreemptedRequests, row.ExternalPreemptedQueries, row.ExternalPreemptedHits = &c.PreemptedRequests, &c.PreemptedQueries, &c.PreemptedHits
	}
	if g := r.CUDAGraph; g != nil {
		c := *g
		c.RuntimeMode = text(c.RuntimeMode)
		row.GraphHit, row.GraphMode = &c.Hit, &c.RuntimeMode
		row.GraphUnpadded, row.GraphBucket, row.GraphPadding = &c.UnpaddedTokens, &c.BucketTokens, &c.PaddingTokens
	}
	return row
}
