package steps

import "strconv"

// canonical reads a record line that is byte for byte what a recorder writes:
// the fields of schema 1 in their order and no others, no white space, no
// escapes, no signs. Nearly every line is. Any other line is left to
// recordFields, which is slower, tolerates more and says what is wrong. A line
// that canonical takes gives the record that recordFields gives.
type canonical struct {
	line []byte
	at   int
	bad  bool // the line is not canonical; what is read from here on is void

	// What records point to, so that none of them allocates.
	graph           CUDAGraph
	local, external Lookups
}

// record reads a whole line into r and reports whether it is canonical; if not,
// r is void. Each call below reads what stands between the value before and its
// own, then its value.
func (c *canonical) record(line []byte, r *Record) bool {
	c.line, c.at, c.bad = line, 0, false
	*r = Record{
		Schema:            Schema,
		EngineID:          c.word(`{"schema":1,"engine_id":"`, r.EngineID),
		StepIndex:         c.integer(`,"step_index":`),
		EmptySteps:        c.integer(`,"empty_steps":`),
		SubmitWallNS:      c.integer(`,"submit_wall_ns":`),
		SubmitMonoNS:      c.integer(`,"submit_mono_ns":`),
		ReadyMonoNS:       c.integer(`,"ready_mono_ns":`),
		CompleteMonoNS:    c.integer(`,"complete_mono_ns":`),
		ModelExecuted:     c.boolean(`,"model_executed":`),
		ScheduledRequests: c.integer(`,"scheduled_requests":`),
		ScheduledTokens:   c.integer(`,"scheduled_tokens":`),
		DecodeBatchSize:   c.integer(`,"decode_batch_size":`),
		PrefillRequests:   c.integer(`,"prefill_requests":`),
		PrefillTokens:     c.integer(`,"prefill_tokens":`),
		DecodeTokens:      c.integer(`,"decode_tokens":`),
		Resumed: Resumed{
			Requests: c.integer(`,"resumed":{"requests":`),
			Tokens:   c.integer(`,"tokens":`),
		},
		ChunkedPrefill: Chunked{
			First:    c.integer(`},"chunked_prefill":{"first":`),
			Middle:   c.integer(`,"middle":`),
			Final:    c.integer(`,"final":`),
			Unsplit:  c.integer(`,"unsplit":`),
			Tokens:   c.integer(`,"tokens":`),
			SizeHist: c.chunkBins(`,"chunk_size_hist":[`),
		},
		ContextLengthHist: c.contextBins(`},"context_length_hist":[`),
		Preemptions:       c.integer(`,"preemptions":`),
		Queues: Queues{
			Running:  c.integer(`,"queues":{"running":`),
			Waiting:  c.integer(`,"waiting":`),
			Deferred: c.integer(`,"deferred":`),
		},
		KV: KV{
			TotalBlocks: c.integer(`},"kv":{"total_blocks":`),
			FreeBlocks:  c.integer(`,"free_blocks":`),
			UsedBlocks:  c.integer(`,"used_blocks":`),
			Usage:       c.float(`,"usage":`),
		},
		Prefix: Prefix{
			Local:    c.lookups(`},"prefix":{"local":`, &c.local),
			External: c.lookups(`,"external":`, &c.external),
		},
		CUDAGraph:            c.cudaGraph(`},"cudagraph":`),
		Backlog:              c.integer(`,"moe_expert_load":null,"backlog":`),
		DroppedRecordsBefore: c.integer(`,"dropped_records_before":`),
	}
	c.text("}")
	return !c.bad && c.at == len(line)
}

func (c *canonical) lookups(key string, into *Lookups) *Lookups {
	c.text(key)
	if c.has("null") {
		return nil
	}
	*into = Lookups{
		Requests:          c.integer(`{"requests":`),
		Queries:           c.integer(`,"queries":`),
		Hits:              c.integer(`,"hits":`),
		PreemptedRequests: c.integer(`,"preempted_requests":`),
		PreemptedQueries:  c.integer(`,"preempted_queries":`),
		PreemptedHits:     c.integer(`,"preempted_hits":`),
	}
	c.text("}")
	return into
}

func (c *canonical) cudaGraph(key string) *CUDAGraph {
	c.text(key)
	if c.has("null") {
		return nil
	}
	c.graph = CUDAGraph{
		Hit:            c.boolean(`{"hit":`),
		RuntimeMode:    c.word(`,"runtime_mode":"`, c.graph.RuntimeMode, "NONE", "PIECEWISE", "FULL"),
		UnpaddedTokens: c.integer(`,"unpadded_tokens":`),
		BucketTokens:   c.integer(`,"bucket_tokens":`),
		PaddingTokens:  c.integer(`,"padding_tokens":`),
	}
	c.text("}")
	return &c.graph
}

func (c *canonical) chunkBins(key string) (bins [9]int64) {
	c.bins(key, bins[:])
	return bins
}

func (c *canonical) contextBins(key string) (bins [12]int64) {
	c.bins(key, bins[:])
	return bins
}

// bins reads small numbers with one byte behind each, so it looks at bytes.
func (c *canonical) bins(key string, bins []int64) {
	c.text(key)
	end := byte(',')
	for i := range bins {
		if i == len(bins)-1 {
			end = ']'
		}
		n, at := unsigned(c.line, c.at)
		if at == c.at || at == len(c.line) || c.line[at] != end {
			c.bad = true
			return
		}
		bins[i] = n
		c.at = at + 1
	}
}

// text passes over text, which must come next.
func (c *canonical) text(text string) {
	if !c.has(text) {
		c.bad = true
	}
}

// has passes over text if it comes next.
func (c *canonical) has(text string) bool {
	end := c.at + len(text)
	if c.bad || end > len(c.line) || string(c.line[c.at:end]) != text {
		return false
	}
	c.at = end
	return true
}

func (c *canonical) integer(key string) int64 {
	c.text(key)
	n, end := unsigned(c.line, c.at)
	c.bad = c.bad || end == c.at
	c.at = end
	return n
}

// float leaves the grammar of numbers to the cursor.
func (c *canonical) float(key string) float64 {
	c.text(key)
	number := cursor{line: c.line, at: c.at}
	text, err := number.number()
	x, wrong := strconv.ParseFloat(string(text), 64)
	c.bad = c.bad || err != nil || wrong != nil
	c.at = number.at
	return x
}

func (c *canonical) boolean(key string) bool {
	c.text(key)
	if c.has("true") {
		return true
	}
	c.text("false")
	return false
}

// word reads a string without escapes, behind its first quote, up to its last.
// It returns the one of known that is equal, to save an allocation.
func (c *canonical) word(key string, known ...string) string {
	c.text(key)
	start := c.at
	for c.at < len(c.line) && c.line[c.at] >= ' ' && c.line[c.at] != '"' && c.line[c.at] != '\\' {
		c.at++
	}
	word := c.line[start:c.at]
	c.text(`"`)
	for _, k := range known {
		if string(word) == k {
			return k
		}
	}
	return string(word)
}
