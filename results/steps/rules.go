package steps

import (
	"fmt"
	"math"
)

// rule is one correctness check of a record, given what came before it in the
// same file.
type rule struct {
	id string
	// applies is nil for a rule that holds for every record.
	applies func(r *Record) bool
	// wrong says what is wrong, or nothing.
	wrong func(past *past, r *Record) string
	// skipped is the reason given when no record was checked.
	skipped string
}

// past is what a file held before the current record.
type past struct {
	records int64
	dropped int64
	backlog int64 // maximum
	// Of the record before; before the first, index is -1 and the rest 0.
	index, empty, submit, ready, complete int64
}

func (p *past) add(r *Record) {
	p.records++
	p.dropped += r.DroppedRecordsBefore
	p.backlog = max(p.backlog, r.Backlog)
	p.index, p.empty = r.StepIndex, r.EmptySteps
	p.submit, p.ready, p.complete = r.SubmitMonoNS, r.ReadyMonoNS, r.CompleteMonoNS
}

var recordRules = []rule{
	{id: "contiguous-steps", wrong: contiguous},
	{id: "empty-steps", wrong: emptySteps},
	{id: "token-split", wrong: tokenSplit},
	{id: "request-split", wrong: requestSplit},
	{id: "unpadded-tokens", applies: hasGraph, wrong: unpaddedTokens, skipped: "no record has a CUDA graph stat"},
	{id: "context-histogram", wrong: contextHistogram},
	{id: "chunk-histogram", wrong: chunkHistogram},
	{id: "chunk-classes", wrong: chunkClasses},
	{id: "chunk-tokens", wrong: chunkTokens},
	{id: "kv-usage", wrong: kvUsage},
	{id: "kv-blocks", wrong: kvBlocks},
	{id: "prefix-hits", applies: hasPrefix, wrong: prefixHits, skipped: "no record has prefix-cache counters"},
	{id: "graph-mode", applies: hasGraph, wrong: graphMode, skipped: "no record has a CUDA graph stat"},
	{id: "padding", applies: hasGraph, wrong: padding, skipped: "no record has a CUDA graph stat"},
	{id: "non-negative", wrong: nonNegative},
	{id: "no-private-fields", wrong: noPrivateFields},
	{id: "backlog", wrong: backlog},
	{id: "monotone-times", wrong: monotoneTimes},
}

func hasGraph(r *Record) bool  { return r.CUDAGraph != nil }
func hasPrefix(r *Record) bool { return r.Prefix.Local != nil || r.Prefix.External != nil }

// unequal is the message of a sum that does not hold.
func unequal(what string, got int64, field string, want int64) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s is %d, %s is %d", what, got, field, want)
}

func contiguous(p *past, r *Record) string {
	if r.StepIndex == p.index+max(1, r.EmptySteps)+r.DroppedRecordsBefore {
		return ""
	}
	return fmt.Sprintf("step_index %d follows %d with empty_steps %d and dropped_records_before %d",
		r.StepIndex, p.index, r.EmptySteps, r.DroppedRecordsBefore)
}

// emptySteps: k consecutive steps without tokens are one record, so two such
// records never follow each other unless something between them was dropped.
func emptySteps(p *past, r *Record) string {
	switch {
	case (r.EmptySteps > 0) != (r.ScheduledTokens == 0):
		return fmt.Sprintf("empty_steps is %d with %d scheduled tokens", r.EmptySteps, r.ScheduledTokens)
	case r.EmptySteps > 0 && r.ScheduledRequests != 0:
		return fmt.Sprintf("%d scheduled requests in an empty step", r.ScheduledRequests)
	case r.EmptySteps > 0 && r.CUDAGraph != nil:
		return "a CUDA graph stat in an empty step"
	case r.EmptySteps > 0 && p.empty > 0 && r.DroppedRecordsBefore == 0:
		return "an empty run directly after another one"
	}
	return ""
}

func tokenSplit(_ *past, r *Record) string {
	return unequal("prefill_tokens + decode_tokens", r.PrefillTokens+r.DecodeTokens, "scheduled_tokens", r.ScheduledTokens)
}

func requestSplit(_ *past, r *Record) string {
	return unequal("prefill_requests + decode_batch_size", r.PrefillRequests+r.DecodeBatchSize, "scheduled_requests", r.ScheduledRequests)
}

func unpaddedTokens(_ *past, r *Record) string {
	return unequal("cudagraph.unpadded_tokens", r.CUDAGraph.UnpaddedTokens, "scheduled_tokens", r.ScheduledTokens)
}

func contextHistogram(_ *past, r *Record) string {
	return unequal("the sum of context_length_hist", sum(r.ContextLengthHist[:]), "scheduled_requests", r.ScheduledRequests)
}

func chunkHistogram(_ *past, r *Record) string {
	return unequal("the sum of chunk_size_hist", sum(r.ChunkedPrefill.SizeHist[:]), "prefill_requests", r.PrefillRequests)
}

func chunkClasses(_ *past, r *Record) string {
	c := &r.ChunkedPrefill
	return unequal("first + middle + final + unsplit", c.First+c.Middle+c.Final+c.Unsplit, "prefill_requests", r.PrefillRequests)
}

func chunkTokens(_ *past, r *Record) string {
	return unequal("chunked_prefill.tokens", r.ChunkedPrefill.Tokens, "prefill_tokens", r.PrefillTokens)
}

func kvUsage(_ *past, r *Record) string {
	if u := r.KV.Usage; !(u >= 0 && u <= 1) { // also true for NaN
		return fmt.Sprintf("kv.usage %v is outside [0, 1]", u)
	}
	return ""
}

// kvBlocks: total_blocks leaves the null block out, so all others are either
// free or used. The usage may be rounded, to six digits or more.
func kvBlocks(_ *past, r *Record) string {
	kv := &r.KV
	if wrong := unequal("free_blocks + used_blocks", kv.FreeBlocks+kv.UsedBlocks, "kv.total_blocks", kv.TotalBlocks); wrong != "" {
		return wrong
	}
	usage := float64(kv.UsedBlocks) / float64(max(1, kv.TotalBlocks))
	if math.Abs(usage-kv.Usage) > 1e-6 {
		return fmt.Sprintf("used %d of %d blocks is %.6f, kv.usage is %v", kv.UsedBlocks, kv.TotalBlocks, usage, kv.Usage)
	}
	return ""
}

func prefixHits(_ *past, r *Record) string {
	for _, l := range []struct {
		name string
		*Lookups
	}{{"local", r.Prefix.Local}, {"external", r.Prefix.External}} {
		switch {
		case l.Lookups == nil:
		case l.Hits > l.Queries:
			return fmt.Sprintf("prefix.%s has %d hits in %d queries", l.name, l.Hits, l.Queries)
		case l.PreemptedHits > l.PreemptedQueries:
			return fmt.Sprintf("prefix.%s has %d preempted hits in %d queries", l.name, l.PreemptedHits, l.PreemptedQueries)
		}
	}
	return ""
}

func graphMode(_ *past, r *Record) string {
	g := r.CUDAGraph
	if g.Hit == (g.RuntimeMode != "NONE") {
		return ""
	}
	return fmt.Sprintf("cudagraph.hit is %v in mode %q", g.Hit, g.RuntimeMode)
}

func padding(_ *past, r *Record) string {
	g := r.CUDAGraph
	if g.PaddingTokens < 0 || g.BucketTokens < g.UnpaddedTokens {
		return fmt.Sprintf("cudagraph bucket of %d for %d tokens", g.BucketTokens, g.UnpaddedTokens)
	}
	return unequal("bucket_tokens - unpadded_tokens", g.BucketTokens-g.UnpaddedTokens, "cudagraph.padding_tokens", g.PaddingTokens)
}

func noPrivateFields(_ *past, r *Record) string {
	if r.private == "" {
		return ""
	}
	return fmt.Sprintf("unknown field %q looks like request ids or raw lengths", r.private)
}

// backlog: what waits was enqueued before, records and perhaps the header.
func backlog(p *past, r *Record) string {
	if limit := p.records + p.dropped + r.DroppedRecordsBefore + 2; r.Backlog > limit {
		return fmt.Sprintf("backlog %d, but only %d lines can be waiting", r.Backlog, limit)
	}
	return ""
}

// monotoneTimes: outputs come back in the order of scheduling, also when two
// steps are in flight.
func monotoneTimes(p *past, r *Record) string {
	switch {
	case r.ReadyMonoNS < r.SubmitMonoNS || r.CompleteMonoNS < r.ReadyMonoNS:
		return fmt.Sprintf("submit %d, ready %d, complete %d are out of order", r.SubmitMonoNS, r.ReadyMonoNS, r.CompleteMonoNS)
	case r.SubmitMonoNS < p.submit || r.ReadyMonoNS < p.ready || r.CompleteMonoNS < p.complete:
		return fmt.Sprintf("submit %d, ready %d, complete %d go back behind %d, %d, %d of the record before",
			r.SubmitMonoNS, r.ReadyMonoNS, r.CompleteMonoNS, p.submit, p.ready, p.complete)
	}
	return ""
}

func nonNegative(_ *past, r *Record) string {
	for _, c := range counters {
		if n := c.of(r); n < 0 {
			return fmt.Sprintf("%s is %d", c.name, n)
		}
	}
	return ""
}
