package view

import (
	"math"
	"time"
)

// Plots are what the page draws beside the numbers, as points. They decide
// nothing. What could show an effect is absent before the end of the campaign.
type Plots struct {
	Latencies []Latency `json:"latencies,omitempty"`
	StepTimes []Steps   `json:"step_times,omitempty"`
	TimeLine  *TimeLine `json:"time_line,omitempty"`
}

// Latency is how a time of single requests is spread in a phase, over all timed
// requests of an arm's analysed runs.
type Latency struct {
	Phase string         `json:"phase"`
	Of    string         `json:"of"` // TPOT, TTFT
	Arms  []Distribution `json:"arms"`
}

// QuantileParts is in how many equal parts of the values a distribution is told:
// that bounds the view, whatever the number of requests.
const QuantileParts = 100

// Distribution is that of one arm; one without values is left out.
type Distribution struct {
	Arm string `json:"arm"`
	N   int    `json:"n"`
	// Quantiles at 0, 1/QuantileParts, … 1, in seconds, ascending.
	Quantiles []float64 `json:"quantiles_s"`
}

// At is a quantile, in seconds; p is a multiple of 1/QuantileParts.
func (d *Distribution) At(p float64) float64 {
	if len(d.Quantiles) == 0 {
		return 0
	}
	return d.Quantiles[min(int(math.Round(p*QuantileParts)), len(d.Quantiles)-1)]
}

// Steps is how the step times of a phase are spread, by arm that records.
type Steps struct {
	Phase string      `json:"phase"`
	Arms  []Histogram `json:"arms"`
}

// Of the bins of a Histogram: bin k holds the times from ShortestTime (in
// seconds) times StepWidth^k; so fine that they can be joined to columns of any
// plot. What is shorter than ShortestTime is in bin 0.
const (
	ShortestTime = 1e-6
	StepWidth    = 1.02
)

// Histogram counts the steps of one arm by their time.
type Histogram struct {
	Arm string `json:"arm"`
	// Bins are pairs of a bin and its count, ascending; empty bins are left out.
	Bins [][2]int64 `json:"bins"`
}

// Total is the number of steps.
func (h *Histogram) Total() (n int64) {
	for _, bin := range h.Bins {
		n += bin[1]
	}
	return n
}

// TimeLine is when it ran, as the ledger dates it.
type TimeLine struct {
	Sessions []Span     `json:"sessions"`
	Runs     []TimedRun `json:"runs"`
}

// Span is a piece of wall time, UTC.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Seconds is how long it lasted.
func (s Span) Seconds() float64 { return s.To.Sub(s.From).Seconds() }

// TimedRun is a run in the ledger.
type TimedRun struct {
	Block   string     `json:"block"`
	Attempt int        `json:"attempt"`
	Arm     string     `json:"arm"`
	Session int        `json:"session"` // from 1
	From    time.Time  `json:"from"`
	To      *time.Time `json:"to,omitempty"` // absent: whoever killed the process left no end
	// State is that of the view's run of this name, or one of a run without one.
	State RunState `json:"state"`
}
