package steps

// The fields of schema 1, in the recorder's order.

var headerFields = object[Header]{
	constant("header", 1, func(h *Header) *int { return &h.Header }),
	constant("schema", Schema, func(h *Header) *int { return &h.Schema }),
	text("revision", func(h *Header) *string { return &h.Revision }),
	text("vllm", func(h *Header) *string { return &h.VLLM }),
	text("commit", func(h *Header) *string { return &h.Commit }),
	texts("blobs", func(h *Header) *map[string]string { return &h.Blobs }),
	text("runner", func(h *Header) *string { return &h.Runner }),
	boolean("async_scheduling", func(h *Header) *bool { return &h.AsyncScheduling }),
	integer("max_num_seqs", func(h *Header) *int64 { return &h.MaxNumSeqs }),
	integer("max_num_batched_tokens", func(h *Header) *int64 { return &h.MaxNumBatchedTokens }),
	integer("block_size", func(h *Header) *int64 { return &h.BlockSize }),
	text("engine_id", func(h *Header) *string { return &h.EngineID }),
	integer("pid", func(h *Header) *int64 { return &h.PID }),
	integer("start_wall_ns", func(h *Header) *int64 { return &h.StartWallNS }),
	integer("start_mono_ns", func(h *Header) *int64 { return &h.StartMonoNS }),
	edges("context_edges", ContextEdges, func(h *Header) *[]int64 { return &h.ContextEdges }),
	edges("chunk_edges", ChunkEdges, func(h *Header) *[]int64 { return &h.ChunkEdges }),
}

var recordFields = object[Record]{
	constant("schema", Schema, func(r *Record) *int { return &r.Schema }),
	text("engine_id", func(r *Record) *string { return &r.EngineID }),
	integer("step_index", func(r *Record) *int64 { return &r.StepIndex }),
	integer("empty_steps", func(r *Record) *int64 { return &r.EmptySteps }),
	integer("submit_wall_ns", func(r *Record) *int64 { return &r.SubmitWallNS }),
	integer("submit_mono_ns", func(r *Record) *int64 { return &r.SubmitMonoNS }),
	integer("ready_mono_ns", func(r *Record) *int64 { return &r.ReadyMonoNS }),
	integer("complete_mono_ns", func(r *Record) *int64 { return &r.CompleteMonoNS }),
	boolean("model_executed", func(r *Record) *bool { return &r.ModelExecuted }),
	integer("scheduled_requests", func(r *Record) *int64 { return &r.ScheduledRequests }),
	integer("scheduled_tokens", func(r *Record) *int64 { return &r.ScheduledTokens }),
	integer("decode_batch_size", func(r *Record) *int64 { return &r.DecodeBatchSize }),
	integer("prefill_requests", func(r *Record) *int64 { return &r.PrefillRequests }),
	integer("prefill_tokens", func(r *Record) *int64 { return &r.PrefillTokens }),
	integer("decode_tokens", func(r *Record) *int64 { return &r.DecodeTokens }),
	nested("resumed", resumedFields, func(r *Record) *Resumed { return &r.Resumed }),
	nested("chunked_prefill", chunkedFields, func(r *Record) *Chunked { return &r.ChunkedPrefill }),
	histogram("context_length_hist", func(r *Record) []int64 { return r.ContextLengthHist[:] }),
	integer("preemptions", func(r *Record) *int64 { return &r.Preemptions }),
	nested("queues", queueFields, func(r *Record) *Queues { return &r.Queues }),
	nested("kv", kvFields, func(r *Record) *KV { return &r.KV }),
	nested("prefix", prefixFields, func(r *Record) *Prefix { return &r.Prefix }),
	nullable("cudagraph", graphFields, func(r *Record) **CUDAGraph { return &r.CUDAGraph }),
	onlyNull[Record]("moe_expert_load"),
	integer("backlog", func(r *Record) *int64 { return &r.Backlog }),
	integer("dropped_records_before", func(r *Record) *int64 { return &r.DroppedRecordsBefore }),
}

var resumedFields = object[Resumed]{
	integer("requests", func(r *Resumed) *int64 { return &r.Requests }),
	integer("tokens", func(r *Resumed) *int64 { return &r.Tokens }),
}

var chunkedFields = object[Chunked]{
	integer("first", func(c *Chunked) *int64 { return &c.First }),
	integer("middle", func(c *Chunked) *int64 { return &c.Middle }),
	integer("final", func(c *Chunked) *int64 { return &c.Final }),
	integer("unsplit", func(c *Chunked) *int64 { return &c.Unsplit }),
	integer("tokens", func(c *Chunked) *int64 { return &c.Tokens }),
	histogram("chunk_size_hist", func(c *Chunked) []int64 { return c.SizeHist[:] }),
}

var queueFields = object[Queues]{
	integer("running", func(q *Queues) *int64 { return &q.Running }),
	integer("waiting", func(q *Queues) *int64 { return &q.Waiting }),
	integer("deferred", func(q *Queues) *int64 { return &q.Deferred }),
}

var kvFields = object[KV]{
	integer("total_blocks", func(k *KV) *int64 { return &k.TotalBlocks }),
	integer("free_blocks", func(k *KV) *int64 { return &k.FreeBlocks }),
	integer("used_blocks", func(k *KV) *int64 { return &k.UsedBlocks }),
	float("usage", func(k *KV) *float64 { return &k.Usage }),
}

var lookupFields = object[Lookups]{
	integer("requests", func(l *Lookups) *int64 { return &l.Requests }),
	integer("queries", func(l *Lookups) *int64 { return &l.Queries }),
	integer("hits", func(l *Lookups) *int64 { return &l.Hits }),
	integer("preempted_requests", func(l *Lookups) *int64 { return &l.PreemptedRequests }),
	integer("preempted_queries", func(l *Lookups) *int64 { return &l.PreemptedQueries }),
	integer("preempted_hits", func(l *Lookups) *int64 { return &l.PreemptedHits }),
}

var prefixFields = object[Prefix]{
	nullable("local", lookupFields, func(p *Prefix) **Lookups { return &p.Local }),
	nullable("external", lookupFields, func(p *Prefix) **Lookups { return &p.External }),
}

var graphFields = object[CUDAGraph]{
	boolean("hit", func(c *CUDAGraph) *bool { return &c.Hit }),
	text("runtime_mode", func(c *CUDAGraph) *string { return &c.RuntimeMode }),
	integer("unpadded_tokens", func(c *CUDAGraph) *int64 { return &c.UnpaddedTokens }),
	integer("bucket_tokens", func(c *CUDAGraph) *int64 { return &c.BucketTokens }),
	integer("padding_tokens", func(c *CUDAGraph) *int64 { return &c.PaddingTokens }),
}

var footerFields = object[Footer]{
	constant("footer", 1, func(f *Footer) *int { return &f.Footer }),
	constant("schema", Schema, func(f *Footer) *int { return &f.Schema }),
	text("engine_id", func(f *Footer) *string { return &f.EngineID }),
	integer("encoded", func(f *Footer) *int64 { return &f.Encoded }),
	integer("written", func(f *Footer) *int64 { return &f.Written }),
	integer("dropped", func(f *Footer) *int64 { return &f.Dropped }),
	integer("backlog_max", func(f *Footer) *int64 { return &f.BacklogMax }),
}
