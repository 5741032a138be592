package results

// Request is one line of requests.jsonl.zst: one request as the client saw it.
// Times are nanoseconds on the client's monotonic clock since the run's
// origin; 0 in a *_ns field that was never reached.
type Request struct {
	Phase  string `json:"phase"` // "identity" for the identity pass
	Index  int    `json:"index"` // place in the phase's workload, warm-up included
	Warmup bool   `json:"warmup,omitempty"`
	Stream int    `json:"stream"`          // closed loop: which stream sent it
	Slice  int    `json:"slice,omitempty"` // interleaved, timed: Slice.Number
	// IntendedNS is when the schedule wanted it sent (open loop; closed loop:
	// equal to SentNS).
	IntendedNS int64 `json:"intended_ns"`
	SentNS     int64 `json:"sent_ns"`  // before the first byte is written
	FirstNS    int64 `json:"first_ns"` // read of the first chunk with a token
	LastNS     int64 `json:"last_ns"`  // read of the last chunk with a token
	EndNS      int64 `json:"end_ns"`   // clean end of the stream, or the failure
	// FirstTokens is the number of tokens in the first token chunk (k).
	FirstTokens  int `json:"first_tokens"`
	Chunks       int `json:"chunks"`
	WantTokens   int `json:"want_tokens"`   // max_tokens asked for
	PromptTokens int `json:"prompt_tokens"` // usage
	CachedTokens int `json:"cached_tokens"` // usage, -1: the server did not say
	OutputTokens int `json:"output_tokens"` // usage
	// Gaps between chunks, ns: median, largest, and those of 50 ms and more
	// as start and end.
	GapMedianNS  int64      `json:"gap_median_ns"`
	GapMaxNS     int64      `json:"gap_max_ns"`
	LongGaps     [][2]int64 `json:"long_gaps,omitempty"`
	FinishReason string     `json:"finish_reason,omitempty"`
	Fingerprint  string     `json:"fingerprint,omitempty"`
	Model        string     `json:"model,omitempty"` // only if it is not the nonce
	OutputSHA256 string     `json:"output_sha256,omitempty"`
	// Error is empty for a success: finish_reason seen, clean end, usage
	// present and equal to the token ids received and to WantTokens.
	Error string `json:"error,omitempty"`
}

// OK reports whether the request succeeded.
func (r *Request) OK() bool { return r.Error == "" }

// Identity is the content of outputs.json: the token ids of the identity pass,
// in prompt order.
type Identity struct {
	Schema  int     `json:"schema"`
	Kind    string  `json:"kind"` // "identity"
	Prompts []int   `json:"prompts"`
	Tokens  [][]int `json:"tokens"`
	// PromptsSHA256 is the digest of the prompts that were sent, as in the plan;
	// empty in files of earlier versions.
	PromptsSHA256 string `json:"prompts_sha256,omitempty"`
}
