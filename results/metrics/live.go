package metrics

import (
	"math"
	"slices"

	"github.com/aituner/opprof/results"
)

// Window is a piece of a phase's timed part that was sent without a break: a slice
// of an interleaved run, or the whole. Times are ns since the run's origin.
type Window struct {
	Slice           int   // 0: the phase is one piece
	First, LastSend int64 // of timed requests
	LastToken       int64 // read of the last token of a timed request; 0: none came
	End             int64 // of the last response to a timed request
}

// Windows returns the pieces in which timed requests were sent, in the order of
// their records.
func Windows(requests []results.Request) []Window {
	var all []Window
	place := map[int]int{}
	for i := range requests {
		r := &requests[i]
		if r.Warmup || r.SentNS == 0 {
			continue
		}
		at, seen := place[r.Slice]
		if !seen {
			at = len(all)
			place[r.Slice], all = at, append(all, Window{Slice: r.Slice, First: r.SentNS})
		}
		w := &all[at]
		w.First, w.LastSend = min(w.First, r.SentNS), max(w.LastSend, r.SentNS)
		w.LastToken, w.End = max(w.LastToken, r.LastNS), max(w.End, r.EndNS)
	}
	return all
}

// TimedSeconds is how long the timed part of a phase lasted: from the first
// timed send to the read of the last timed token, for interleaved arms summed
// over the slices. 0: no token arrived.
func TimedSeconds(requests []results.Request) float64 {
	total := int64(0) // whole nanoseconds: the sum has no order
	for _, w := range Windows(requests) {
		total += max(0, w.LastToken-w.First)
	}
	return span(0, total, 1)
}

// MeanLive is the mean number of requests of a phase in flight, warm-up included,
// from the first to the last timed send. The drain that follows is left out: no
// load holds its concurrency there. 0: no timed request was sent.
func MeanLive(requests []results.Request) float64 {
	return liveOver(requests, func(w Window) int64 { return w.LastSend })
}

// MeanLiveWithDrain is the same from the first timed send to the last timed token,
// which is the time that output_throughput and request_rate divide by.
func MeanLiveWithDrain(requests []results.Request) float64 {
	return liveOver(requests, func(w Window) int64 { return w.LastToken })
}

// liveOver weights the pieces of a phase by their length.
func liveOver(requests []results.Request, end func(Window) int64) float64 {
	windows := Windows(requests)
	if len(windows) == 0 {
		return 0
	}
	var live, seconds float64
	for _, w := range windows {
		last := max(w.First, end(w))
		length := float64(max(1, last-w.First))
		live += length * inFlight(requests, w.First, last)
		seconds += length
	}
	return live / seconds
}

// inFlight is the mean number of requests in flight between two times; if they are
// equal, the number in flight then.
func inFlight(requests []results.Request, from, to int64) float64 {
	if from == to {
		to++
	}
	live := 0.0
	for i := range requests {
		r := &requests[i]
		if r.SentNS > 0 {
			live += math.Max(0, float64(min(r.EndNS, to)-max(r.SentNS, from)))
		}
	}
	return live / float64(to-from)
}

// SendLateP99 is the 99 % quantile, in seconds, of send against intended time over
// the timed requests that were sent: the lateness of an open loop's client. 0: none
// was sent.
func SendLateP99(requests []results.Request) float64 {
	var late []float64
	for i := range requests {
		if r := &requests[i]; !r.Warmup && r.SentNS > 0 {
			late = append(late, float64(r.SentNS-r.IntendedNS)/1e9)
		}
	}
	if len(late) == 0 {
		return 0
	}
	slices.Sort(late)
	return Quantile(late, 0.99)
}
