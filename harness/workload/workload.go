// Package workload turns the phases of a scenario into requests: token ids,
// output lengths and, for an open loop, send times.
//
// The same phase gives the same requests on every machine and in every arm:
// all numbers come from PCG generators whose seeds are derived from the source
// seed, the phase name and the purpose of the stream, and the two
// transcendental functions that are needed are computed without fused
// operations. Hash says in one number what was sent.
package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/aituner/opprof/results/shapes"
	"github.com/aituner/opprof/scenarios"
)

// IdentityPhase is the phase name of the identity pass.
const IdentityPhase = "identity"

// Sampling holds the members that every request body has beside model, prompt
// and max_tokens, as JSON without the braces. It is sent as written here and is
// part of the workload hash.
const Sampling = `"temperature":0,"ignore_eos":true,"return_token_ids":true,` +
	`"stream":true,"stream_options":{"include_usage":true}`

// Request is one request to send.
type Request struct {
	Index  int   // place in the phase's list, warm-up included
	Prompt []int // token ids
	// Text is sent instead of Prompt where it is not empty, as it is: the JSON
	// of a string or, if Chat is set, of a list of chat messages.
	Text      string
	Chat      bool
	MaxTokens int // output tokens asked for; the end-of-sequence token is ignored
	Warmup    bool
	// Offset is the intended send time since the start of the phase. It is 0
	// in a closed loop, where a request follows the end of another one.
	Offset time.Duration
}

// Workload is the ordered list of requests of one phase: first the warm-up,
// then the timed requests.
type Workload struct {
	Phase    string
	Open     bool // the requests have intended times
	Requests []Request
}

// Warmup is the number of warm-up requests, the index of the first timed one.
func (w Workload) Warmup() int {
	n := 0
	for n < len(w.Requests) && w.Requests[n].Warmup {
		n++
	}
	return n
}

// Shapes are what the requests ask of a server; known is false where a prompt is a
// text, whose tokens only the server counts.
func (w Workload) Shapes() (list []shapes.Shape, known bool) {
	for _, r := range w.Requests {
		if r.Text != "" {
			return nil, false
		}
		list = append(list, shapes.Shape{Index: r.Index, Warmup: r.Warmup, Prompt: len(r.Prompt), Want: r.MaxTokens})
	}
	return list, true
}

// Expand makes the requests of a phase: drawn from distributions, or read from
// a trace.
//
// Synthetic warm-up lengths come from the same distributions as the timed ones,
// and where lengths vary the warm-up holds the smallest and the largest timed
// prompt and output, so that the timed part meets no new shape. Prompts differ
// from each other within the first cache block after what they are meant to
// share. The warm-up of a trace are the rows before the timed ones.
//
// Expand reads the trace's file and nothing else; an error names the phase and
// the key, or file and line.
func Expand(phase scenarios.Phase) (Workload, error) {
	w := Workload{Phase: phase.Name, Open: phase.Arrival.Kind != scenarios.ArrivalClosed}
	if err := check(phase); err != nil {
		return w, fmt.Errorf("phase %s: %w", phase.Name, err)
	}
	made := synthetic
	if phase.Source.Kind == scenarios.SourceTrace {
		made = replay
	}
	var err error
	if w.Requests, err = made(phase); err != nil {
		return w, fmt.Errorf("phase %s: %w", phase.Name, err)
	}
	arrivals(w.Requests, phase.Arrival, stream(phase.Source.Seed, phase.Name, "arrivals"))
	return w, nil
}

// Identity draws the requests of the identity pass, token ids from
// [low, high). No prompts is an empty list.
func Identity(id scenarios.Identity, low, high int) ([]Request, error) {
	if id.Prompts == 0 {
		return nil, nil
	}
	if id.Prompts < 0 || id.PromptTokens < 1 || id.OutputTokens < 1 {
		return nil, fmt.Errorf("identity: prompts %d, prompt_tokens %d and output_tokens %d must be at least 1",
			id.Prompts, id.PromptTokens, id.OutputTokens)
	}
	requests := make([]Request, id.Prompts)
	prompts := make([][]int, id.Prompts)
	for i := range requests {
		prompts[i] = make([]int, id.PromptTokens)
		requests[i] = Request{Index: i, Prompt: prompts[i], MaxTokens: id.OutputTokens}
	}
	d := drawer{rng: stream(id.Seed, IdentityPhase, "tokens"), low: low, high: high}
	if err := d.fillAll(prompts, sharing{groups: 1}); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return requests, nil
}

func check(phase scenarios.Phase) error {
	s, a := phase.Source, phase.Arrival
	switch {
	case s.Kind != scenarios.SourceSynthetic && s.Kind != scenarios.SourceTrace:
		return fmt.Errorf("source kind %q is not known: use synthetic or trace", s.Kind)
	case s.Requests < 1:
		return fmt.Errorf("source requests %d: at least 1 is needed", s.Requests)
	case phase.Warmup.Requests < 0:
		return fmt.Errorf("warmup requests %d is negative", phase.Warmup.Requests)
	}
	if err := checkArrival(a, s.Kind); err != nil {
		return err
	}
	if s.Kind == scenarios.SourceTrace {
		return checkTrace(s)
	}
	for _, d := range []struct {
		key  string
		dist scenarios.Dist
		low  int
	}{{"prompt_tokens", s.PromptTokens, max(s.SharedPrefix, s.PrefixGroups.Tokens) + 1}, {"output_tokens", s.OutputTokens, 1}} {
		if err := checkDist(d.dist, d.low); err != nil {
			return fmt.Errorf("source %s: %w", d.key, err)
		}
	}
	return nil
}

func checkArrival(a scenarios.Arrival, source scenarios.SourceKind) error {
	switch a.Kind {
	case scenarios.ArrivalClosed:
		return nil
	case scenarios.ArrivalTrace:
		if source != scenarios.SourceTrace {
			return fmt.Errorf("arrival kind trace needs a source of kind trace, not %s", source)
		}
		if !(a.Scale > 0) || math.IsInf(a.Scale, 0) {
			return fmt.Errorf("arrival scale %g: a positive factor is needed", a.Scale)
		}
		return nil
	case scenarios.ArrivalGamma:
		if !(a.Burstiness > 0) || math.IsInf(a.Burstiness, 0) {
			return fmt.Errorf("arrival burstiness %g: a positive number is needed", a.Burstiness)
		}
	case scenarios.ArrivalConstant, scenarios.ArrivalPoisson:
	default:
		return fmt.Errorf("arrival kind %q is not known: use closed, poisson, constant, gamma or trace", a.Kind)
	}
	if !(a.Rate > 0) {
		return fmt.Errorf("arrival rate %g: a positive number of requests per second is needed", a.Rate)
	}
	return nil
}

func checkTrace(s scenarios.Source) error {
	switch {
	case s.Skip < 0:
		return fmt.Errorf("source skip %d is negative", s.Skip)
	case s.VocabLow < 0 || s.VocabSize <= s.VocabLow:
		return fmt.Errorf("vocabulary [%d, %d) holds no token id", s.VocabLow, s.VocabSize)
	case !(s.ScaleTokens > 0) || s.ScaleTokens > 1000:
		return fmt.Errorf("source scale_tokens %g: a factor above 0 and up to 1000 is needed", s.ScaleTokens)
	}
	return nil
}

// synthetic draws the requests of a phase from distributions.
func synthetic(phase scenarios.Phase) ([]Request, error) {
	requests := lengths(phase)
	prompts := make([][]int, len(requests))
	for i := range requests {
		prompts[i] = requests[i].Prompt
	}
	s := phase.Source
	d := drawer{rng: stream(s.Seed, phase.Name, "tokens"), low: s.VocabLow, high: s.VocabSize}
	return requests, d.fillAll(prompts, share(phase))
}

// stream is a generator of its own for one purpose of one phase: drawing more
// of one kind of number never shifts the others.
func stream(seed uint64, phase, purpose string) *rand.Rand {
	text := fmt.Appendf(nil, "opbench workload 1\x00%s\x00%s\x00", phase, purpose)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, seed))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
