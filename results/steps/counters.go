package steps

import "slices"

// counters are the fields that can never be negative.
var counters = []struct {
	name string
	of   func(r *Record) int64
}{
	{"step_index", func(r *Record) int64 { return r.StepIndex }},
	{"empty_steps", func(r *Record) int64 { return r.EmptySteps }},
	{"submit_wall_ns", func(r *Record) int64 { return r.SubmitWallNS }},
	{"submit_mono_ns", func(r *Record) int64 { return r.SubmitMonoNS }},
	{"ready_mono_ns", func(r *Record) int64 { return r.ReadyMonoNS }},
	{"complete_mono_ns", func(r *Record) int64 { return r.CompleteMonoNS }},
	{"scheduled_requests", func(r *Record) int64 { return r.ScheduledRequests }},
	{"scheduled_tokens", func(r *Record) int64 { return r.ScheduledTokens }},
	{"decode_batch_size", func(r *Record) int64 { return r.DecodeBatchSize }},
	{"prefill_requests", func(r *Record) int64 { return r.PrefillRequests }},
	{"prefill_tokens", func(r *Record) int64 { return r.PrefillTokens }},
	{"decode_tokens", func(r *Record) int64 { return r.DecodeTokens }},
	{"resumed.requests", func(r *Record) int64 { return r.Resumed.Requests }},
	{"resumed.tokens", func(r *Record) int64 { return r.Resumed.Tokens }},
	{"chunked_prefill.first", func(r *Record) int64 { return r.ChunkedPrefill.First }},
	{"chunked_prefill.middle", func(r *Record) int64 { return r.ChunkedPrefill.Middle }},
	{"chunked_prefill.final", func(r *Record) int64 { return r.ChunkedPrefill.Final }},
	{"chunked_prefill.unsplit", func(r *Record) int64 { return r.ChunkedPrefill.Unsplit }},
	{"chunked_prefill.tokens", func(r *Record) int64 { return r.ChunkedPrefill.Tokens }},
	{"chunk_size_hist", func(r *Record) int64 { return slices.Min(r.ChunkedPrefill.SizeHist[:]) }},
	{"context_length_hist", func(r *Record) int64 { return slices.Min(r.ContextLengthHist[:]) }},
	{"preemptions", func(r *Record) int64 { return r.Preemptions }},
	{"queues.running", func(r *Record) int64 { return r.Queues.Running }},
	{"queues.waiting", func(r *Record) int64 { return r.Queues.Waiting }},
	{"queues.deferred", func(r *Record) int64 { return r.Queues.Deferred }},
	{"kv.total_blocks", func(r *Record) int64 { return r.KV.TotalBlocks }},
	{"kv.free_blocks", func(r *Record) int64 { return r.KV.FreeBlocks }},
	{"kv.used_blocks", func(r *Record) int64 { return r.KV.UsedBlocks }},
	{"prefix.local", func(r *Record) int64 { return r.Prefix.Local.least() }},
	{"prefix.external", func(r *Record) int64 { return r.Prefix.External.least() }},
	{"cudagraph", func(r *Record) int64 { return r.CUDAGraph.least() }},
	{"backlog", func(r *Record) int64 { return r.Backlog }},
	{"dropped_records_before", func(r *Record) int64 { return r.DroppedRecordsBefore }},
}

// least is the smallest counter, 0 for none.
func (l *Lookups) least() int64 {
	if l == nil {
		return 0
	}
	return min(l.Requests, l.Queries, l.Hits, l.PreemptedRequests, l.PreemptedQueries, l.PreemptedHits)
}

// least is the smallest counter, 0 for none.
func (g *CUDAGraph) least() int64 {
	if g == nil {
		return 0
	}
	return min(g.UnpaddedTokens, g.BucketTokens, g.PaddingTokens)
}

func sum(bins []int64) int64 {
	n := int64(0)
	for _, b := range bins {
		n += b
	}
	return n
}
