package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aituner/opprof/harness/workload/trace"
	"github.com/aituner/opprof/scenarios"
)

// maxShort is the share of timed outputs that may be too short for a time per
// output token where that is a primary metric: a run with more is INVALID.
const maxShort = 0.01

// replay makes the requests of a phase from the rows of its trace: the warm-up
// from the first, the timed requests from those that follow.
func replay(phase scenarios.Phase) ([]Request, error) {
	rows, err := readTrace(phase)
	if err != nil {
		return nil, err
	}
	s := phase.Source
	requests := make([]Request, len(rows))
	for i, row := range rows {
		requests[i] = Request{
			Index: i, Warmup: i < phase.Warmup.Requests, Text: row.Text, Chat: row.Chat,
			MaxTokens: bounded(scaled(row.Output, s.ScaleTokens), s.MaxOutput),
		}
		if phase.Arrival.Kind == scenarios.ArrivalTrace {
			later := float64(row.At - rows[0].At)
			requests[i].Offset = time.Duration(math.Round(later * phase.Arrival.Scale))
		}
	}
	if err := fill(requests, rows, phase); err != nil {
		return nil, err
	}
	return requests, longEnough(requests, phase)
}

func readTrace(phase scenarios.Phase) ([]trace.Row, error) {
	s := phase.Source
	in, err := scenarios.OpenTrace(s.Path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return trace.Read(in, s.Path, trace.Options{
		Format: s.Format, Unit: s.TimeUnit, Times: phase.Arrival.Kind == scenarios.ArrivalTrace,
		Skip: s.Skip, Rows: phase.Warmup.Requests + s.Requests,
	})
}

// scaled multiplies a length of a trace: to the nearest whole number, halves
// up, and at least 1.
func scaled(tokens int, factor float64) int {
	return max(1, int(math.Round(float64(tokens)*factor)))
}

func bounded(tokens, most int) int {
	if most > 0 {
		return min(tokens, most)
	}
	return tokens
}

// fill sets the prompts. Rows without hash ids get prompts that share nothing.
func fill(requests []Request, rows []trace.Row, phase scenarios.Phase) error {
	s := phase.Source
	var fresh [][]int
	for i, row := range rows {
		r := &requests[i]
		switch {
		case row.Text != "":
		case row.Prompt != nil:
			r.Prompt = row.Prompt[:bounded(len(row.Prompt), s.MaxPrompt)]
			if err := given(row, s); err != nil {
				return fmt.Errorf("%s:%d: %w", s.Path, row.Line, err)
			}
		case row.Blocks != nil:
			r.Prompt = blocks(row, phase)
		default:
			r.Prompt = make([]int, bounded(scaled(row.Input, s.ScaleTokens), s.MaxPrompt))
			fresh = append(fresh, r.Prompt)
		}
	}
	d := drawer{rng: stream(s.Seed, phase.Name, "tokens"), low: s.VocabLow, high: s.VocabSize}
	return d.fillAll(fresh, sharing{groups: 1, repeats: true})
}

// given checks token ids that the trace brings.
func given(row trace.Row, s scenarios.Source) error {
	if s.ScaleTokens != 1 {
		return errors.New("the row gives token ids, which scale_tokens cannot scale: leave it out")
	}
	for _, id := range row.Prompt {
		if id < 0 || id >= s.VocabSize {
			return fmt.Errorf("token id %d is outside the vocabulary [0, %d): set vocab_size to the model's", id, s.VocabSize)
		}
	}
	return nil
}

// blocks makes the prompt of a row with hash ids. The tokens of a block come
// from its id alone, so that prompts share what they shared in the source.
// Scaling goes block by block: so shared beginnings keep their proportion, and
// equal ones stay equal.
func blocks(row trace.Row, phase scenarios.Phase) []int {
	s := phase.Source
	whole, last := scaled(trace.BlockTokens, s.ScaleTokens), len(row.Blocks)-1
	rest := scaled(row.Input-last*trace.BlockTokens, s.ScaleTokens)
	prompt := make([]int, bounded(last*whole+rest, s.MaxPrompt))
	for i, id := range row.Blocks {
		if i*whole >= len(prompt) {
			break
		}
		d := drawer{stream(s.Seed, phase.Name, "block "+strconv.FormatUint(id, 10)), s.VocabLow, s.VocabSize}
		d.fill(prompt[i*whole : min((i+1)*whole, len(prompt))])
	}
	return prompt
}

// longEnough refuses a primary time per output token that too many timed
// requests of the trace could not have.
func longEnough(requests []Request, phase scenarios.Phase) error {
	gated := ""
	for _, name := range phase.Primary {
		if m, _ := scenarios.FindMetric(name); m.Of == scenarios.TPOT {
			gated = name
		}
	}
	short := 0
	for _, r := range requests {
		if !r.Warmup && r.MaxTokens < scenarios.MinTPOTOutput {
			short++
		}
	}
	if gated == "" || float64(short) <= maxShort*float64(phase.Source.Requests) {
		return nil
	}
	return fmt.Errorf("primary %s: %d of %d timed outputs are shorter than %d tokens, and at most 1 %% may be shorter: take it from the primary metrics or scale less",
		gated, short, phase.Source.Requests, scenarios.MinTPOTOutput)
}
