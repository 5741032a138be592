package steps

import "github.com/aituner/opprof/results"

// Survey describes the steps in one or more step files: what they did, how long
// that took, and how much the recorder writes. Counts are sums over all files.
type Survey struct {
	Engines    []SurveyEngine `json:"engines"`
	Records    int64          `json:"records"`
	Steps      int64          `json:"steps"`       // index range, empty runs counted
	EmptySteps int64          `json:"empty_steps"` // without scheduled tokens
	// StepTimes has a row for each kind of batch and, where requests decode, for
	// each range of decode batch sizes; see StepTime.
	StepTimes []StepTime `json:"step_times"`
	// The histograms count requests, once in each step; see ContextBin and ChunkBin.
	ContextEdges []int64 `json:"context_edges"`
	ContextHist  []int64 `json:"context_length_hist"`
	ChunkEdges   []int64 `json:"chunk_edges"`
	ChunkHist    []int64 `json:"chunk_size_hist"`
	Chunks       Chunks  `json:"chunks"`
	// Queues and KV are taken right after scheduling, over the steps with
	// scheduled tokens.
	Queues struct {
		Running  Level `json:"running"`
		Waiting  Level `json:"waiting"`
		Deferred Level `json:"deferred"`
	} `json:"queues"`
	KV struct {
		TotalBlocks int64 `json:"total_blocks"` // largest of any engine
		Usage       Level `json:"usage"`
	} `json:"kv"`
	Prefix struct {
		Local    *HitRate `json:"local"` // nil: no record has such counters
		External *HitRate `json:"external"`
	} `json:"prefix"`
	Graphs          []GraphUse      `json:"cudagraph"` // by mode; empty: no record has a stat
	Preemptions     int64           `json:"preemptions"`
	ResumedRequests int64           `json:"resumed_requests"`
	ResumedTokens   int64           `json:"resumed_tokens"`
	Dropped         int64           `json:"dropped"`
	BacklogMax      int64           `json:"backlog_max"`
	Volume          *Volume         `json:"volume"` // nil: too little, or damage
	Checks          []results.Check `json:"checks"` // as Check has them
}

// SurveyEngine is one step file: one engine core from its start to its end.
type SurveyEngine struct {
	File     string  `json:"file"`
	Engine   string  `json:"engine_id"`
	Revision string  `json:"revision"`
	VLLM     string  `json:"vllm"`
	Records  int64   `json:"records"`
	Bytes    int64   `json:"bytes"`   // uncompressed
	Seconds  float64 `json:"seconds"` // from the first submission to the last completion
}

// Level is a quantity that goes up and down.
type Level struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Chunks counts scheduled prefill chunks by their place in the prompt.
type Chunks struct {
	First   int64 `json:"first"`
	Middle  int64 `json:"middle"`
	Final   int64 `json:"final"`
	Unsplit int64 `json:"unsplit"`
}

// HitRate sums prefix-cache lookups; queries and hits are tokens.
type HitRate struct {
	Requests int64   `json:"requests"`
	Queries  int64   `json:"queries"`
	Hits     int64   `json:"hits"`
	Rate     float64 `json:"rate"` // hits / queries, 0 without queries
}

// GraphUse sums the steps that ran in one CUDA graph mode.
type GraphUse struct {
	Mode           string `json:"mode"`
	Steps          int64  `json:"steps"`
	UnpaddedTokens int64  `json:"unpadded_tokens"`
	PaddingTokens  int64  `json:"padding_tokens"`
}

// Overview reads step files, compressed or not, as Check does, and describes
// them. Memory does not grow with the files. What is wrong with the records is
// in the checks, and what could be read before damage is counted; the error is
// for what the operating system refuses.
func Overview(paths []string) (*Survey, error) {
	s := newSurveyor()
	p := newPass(Options{})
	p.survey = s
	if err := p.readAll(paths); err != nil {
		return nil, err
	}
	return s.finish(p.finish()), nil
}

// surveyor collects what a Survey says beyond results.Steps.
type surveyor struct {
	out    Survey
	times  map[batchKind]*stepTimes
	levels levels
	graphs map[string]*GraphUse
	span   span // of the file that is being read
	zstd   zstdSize
}

func newSurveyor() *surveyor {
	return &surveyor{times: map[batchKind]*stepTimes{}, graphs: map[string]*GraphUse{}}
}

// span is the time that a file covers, in ns on its monotonic clock.
type span struct {
	first, last int64
	begun       bool
}

func (s *surveyor) record(before *past, r *Record) {
	if !s.span.begun {
		s.span = span{first: r.SubmitMonoNS, begun: true}
	}
	s.span.last = r.CompleteMonoNS
	o := &s.out
	o.ResumedRequests += r.Resumed.Requests
	o.KV.TotalBlocks = max(o.KV.TotalBlocks, r.KV.TotalBlocks)
	o.Chunks.add(&r.ChunkedPrefill)
	o.Prefix.Local = o.Prefix.Local.plus(r.Prefix.Local)
	o.Prefix.External = o.Prefix.External.plus(r.Prefix.External)
	if g := r.CUDAGraph; g != nil {
		s.graph(g)
	}
	if r.EmptySteps == 0 {
		s.levels.add(r)
		s.time(before, r)
	}
}

func (c *Chunks) add(r *Chunked) {
	c.First += r.First
	c.Middle += r.Middle
	c.Final += r.Final
	c.Unsplit += r.Unsplit
}

func (h *HitRate) plus(l *Lookups) *HitRate {
	if l == nil {
		return h
	}
	if h == nil {
		h = new(HitRate)
	}
	h.Requests += l.Requests
	h.Queries += l.Queries
	h.Hits += l.Hits
	h.Rate = float64(h.Hits) / float64(max(1, h.Queries))
	return h
}

// graph counts a step under its mode. A file may hold any text as a mode; a
// long list of them is cut short.
func (s *surveyor) graph(g *CUDAGraph) {
	mode := g.RuntimeMode
	if s.graphs[mode] == nil && len(s.graphs) >= 16 {
		mode = "other"
	}
	use := s.graphs[mode]
	if use == nil {
		use = &GraphUse{Mode: mode}
		s.graphs[mode] = use
	}
	use.Steps++
	use.UnpaddedTokens += g.UnpaddedTokens
	use.PaddingTokens += g.PaddingTokens
}

// file closes the account of one file.
func (s *surveyor) file(f *File) {
	seconds := float64(s.span.last-s.span.first) / 1e9
	s.span = span{}
	s.out.Engines = append(s.out.Engines, SurveyEngine{
		File: f.Name, Engine: f.Header.EngineID, Revision: f.Header.Revision, VLLM: f.Header.VLLM,
		Records: f.Records, Bytes: f.Bytes, Seconds: seconds,
	})
}
