package scenarios

import (
	"fmt"
	"strings"
	"time"
)

// Defaults that other packages or documents speak of.
const (
	defaultBlocks   = 10
	defaultRequests = 100
	defaultTokens   = 128
	// Ids below defaultVocabLow are often special tokens; 32000 is the
	// smallest vocabulary of the common model families.
	defaultVocabLow  = 10
	defaultVocabSize = 32000
	defaultWarmup    = 10
	defaultSettle    = 1500 * time.Millisecond
	// identitySeed is one number for all scenarios, so that two campaigns on
	// one model send the same identity prompts.
	identitySeed = 20260711
)

// defaults returns a scenario with every default that hangs on nothing else.
func defaults() Scenario {
	return Scenario{
		Purpose: Overhead,
		Engine:  Engine{Args: map[string]string{}, Env: map[string]string{}},
		Design:  Design{Cooldown: 5 * time.Second},
		Gate:    Gate{Margin: 0.03, Confidence: 0.95},
		Client:  Client{MaxProbeLagP99: 2 * time.Millisecond, RequestTimeout: 120 * time.Second},
		Identity: Identity{
			Prompts: 64, PromptTokens: 32, OutputTokens: 64, MinDistinct: 4, Seed: identitySeed,
		},
	}
}

func defaultPhase() Phase {
	tokens := Dist{Kind: DistFixed, Value: defaultTokens}
	return Phase{
		Source: Source{
			Kind: SourceSynthetic, Requests: defaultRequests,
			PromptTokens: tokens, OutputTokens: tokens,
			VocabSize: defaultVocabSize, VocabLow: defaultVocabLow,
		},
		Arrival: Arrival{Kind: ArrivalClosed},
	}
}

// complete fills in the defaults that hang on other values.
func complete(f *file, s *Scenario) {
	completeEngine(f, s)
	completeDesign(f, s)
	for i := range s.Phases {
		completePhase(f, fmt.Sprintf("phases[%d]", i), s.Purpose, &s.Phases[i])
	}
	if !f.has("compare") && len(s.Arms) > 0 {
		for _, a := range s.Arms[1:] {
			s.Compare = append(s.Compare, Comparison{Baseline: s.Arms[0].Name, Candidate: a.Name})
		}
	}
	if !f.has("gate.require_all_five") && s.Purpose != Correctness {
		s.Gate.RequireAllFive = strings.HasPrefix(s.Name, "phase2-") || s.Name == "revisions"
	}
}

func completeEngine(f *file, s *Scenario) {
	can := s.Engine.Kind.Capabilities()
	if !f.has("engine.python") {
		s.Engine.Python = can.Python
	}
	if !f.has("engine.model") {
		s.Engine.Model = can.model
	}
}

func completeDesign(f *file, s *Scenario) {
	checks := s.Purpose == Correctness
	if !f.has("design.blocks") {
		s.Design.Blocks = s.usualBlocks()
	}
	if !f.has("design.burn_in_blocks") && !checks {
		s.Design.BurnInBlocks = 1
	}
	if !f.has("design.looks") {
		s.Design.Looks = []int{s.Design.Blocks}
	}
	if !s.Design.Interleaved() {
		return
	}
	if !f.has("design.interleave.settle") {
		s.Design.Interleave.Settle = defaultSettle
	}
	if !f.has("design.adjust_order") && !checks {
		s.Design.AdjustOrder = true // the server started second may be faster for its whole life
	}
}

func completePhase(f *file, path string, purpose Purpose, p *Phase) {
	closed := p.Arrival.Kind == ArrivalClosed
	if closed && p.Arrival.Streams == 0 {
		p.Arrival.Streams = 1
	}
	if !f.has(path + ".warmup.requests") {
		p.Warmup.Requests = max(defaultWarmup, p.Arrival.Streams)
	}
	completeDist(&p.Source.PromptTokens)
	completeDist(&p.Source.OutputTokens)
	completeTrace(f, path, p)
	if f.has(path + ".primary") {
		return
	}
	p.Primary = []string{}
	switch {
	case purpose == Correctness:
	case closed:
		p.Primary = []string{"output_throughput", "tpot_p50", "tpot_p95"}
	default:
		p.Primary = []string{"ttft_p50", "ttft_p95"}
	}
}

// completeTrace leaves the lengths to the rows of a trace.
func completeTrace(f *file, path string, p *Phase) {
	if p.Arrival.Kind == ArrivalTrace && !f.has(path+".arrival.scale") {
		p.Arrival.Scale = 1
	}
	if p.Source.Kind != SourceTrace {
		return
	}
	p.Source.PromptTokens, p.Source.OutputTokens = Dist{}, Dist{}
	if !f.has(path + ".source.scale_tokens") {
		p.Source.ScaleTokens = 1
	}
}

// completeDist clips a lognormal at four times its p95: the far tail would
// decide a run's length by a single request.
func completeDist(d *Dist) {
	if d.Kind != DistLognormal {
		return
	}
	if d.Min == 0 {
		d.Min = 1
	}
	if d.Max == 0 {
		d.Max = min(4*d.P95, maxTokens)
	}
}
