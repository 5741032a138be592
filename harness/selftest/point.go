package selftest

import (
	"fmt"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// Quantiles of a time over requests or steps, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Comparison holds one metric as the client and as the server had it. Error has
// the quantiles of client minus truth of the same request; it is not the
// difference of the other two.
type Comparison struct {
	Client Quantiles `json:"client"`
	Truth  Quantiles `json:"truth"`
	Error  Quantiles `json:"error"`
}

// Point is what was measured at one number of streams. Times are in seconds and
// over the timed requests that succeeded.
type Point struct {
	Streams  int `json:"streams"`
	Requests int `json:"requests"` // timed
	Failed   int `json:"failed"`   // warm-up included
	// FirstFailure is the failure of the first failed request.
	FirstFailure string  `json:"first_failure,omitempty"`
	MeanLive     float64 `json:"mean_live"`
	// TTFT: the client's from its send to its read of the first chunk, the
	// truth from the receipt of the whole request to the write of the first
	// chunk. The error is RequestLag plus ReadLag, request by request.
	TTFT Comparison `json:"ttft"`
	TPOT Comparison `json:"tpot"`
	// RequestLag is the time from the client's send to the server's receipt:
	// the way there and the server's own time to read it.
	RequestLag Quantiles `json:"request_lag"`
	// ReadLag is the time from the write of the first chunk to its read.
	ReadLag Quantiles `json:"read_lag"`
	// StepP50 is the median time between two bursts and BurstP50 that from the
	// first to the last write of a burst. A step above the one that was asked
	// for means that the server is the limit.
	StepP50  float64 `json:"step_p50"`
	BurstP50 float64 `json:"burst_p50"`
	// ChunksPerSecond were read, from the first send to the last read.
	ChunksPerSecond float64 `json:"chunks_per_second"`
	// Capacity is chunks per CPU second of the client, preparation included:
	// what one core could read.
	Capacity         float64 `json:"capacity"`
	ClientCPUSeconds float64 `json:"client_cpu_s"`
	ServerCPUSeconds float64 `json:"server_cpu_s"`
	// ClockError bounds the error of a difference between a time of the client
	// and one of the server.
	ClockError float64              `json:"clock_error_s"`
	Client     results.ClientHealth `json:"client"`
}

// summarize turns what both sides saw into a point.
func summarize(t Trial, saw observed) (Point, error) {
	res := &saw.load
	p := Point{
		Streams: t.Streams, Requests: res.Planned, Failed: res.Failed, FirstFailure: firstFailure(res.Requests),
		MeanLive: res.MeanLive, Client: res.Client, ClientCPUSeconds: saw.used, ServerCPUSeconds: saw.truth.CPUSeconds,
		ClockError: seconds(saw.origin.within),
	}
	pairs, err := match(res.Requests, saw.truth.Requests, saw.origin)
	if err != nil {
		return p, fmt.Errorf("%s: the server's truth does not fit what the client saw: %w", streams(t.Streams), err)
	}
	pairs = slices.DeleteFunc(pairs, func(q pair) bool { return q.request.Warmup })
	if len(pairs) == 0 {
		return p, fmt.Errorf("%s: no timed request succeeded; the first failure: %s", streams(t.Streams), p.FirstFailure)
	}
	p.compare(pairs)
	p.rates(res.Requests)
	p.StepP50, p.BurstP50 = bursts(saw.truth.Steps)
	return p, nil
}

// firstFailure describes the first request that failed, empty if none did.
func firstFailure(requests []results.Request) string {
	for i := range requests {
		if r := &requests[i]; !r.OK() {
			return fmt.Sprintf("request %d: %s", r.Index, r.Error)
		}
	}
	return ""
}

// compare fills in the times.
func (p *Point) compare(pairs []pair) {
	p.TTFT = comparison(pairs, pair.ttft)
	p.TPOT = comparison(pairs, pair.tpot)
	p.RequestLag = quantiles(pairs, func(q pair) float64 { return seconds(q.received - q.request.SentNS) })
	p.ReadLag = quantiles(pairs, func(q pair) float64 { return seconds(q.request.FirstNS - q.first) })
}

// ttft is the time to first token of one request. The client's is what a
// campaign would use.
func (q pair) ttft() (client, truth float64) {
	client, _ = metrics.TTFT(q.request) // defined: match has seen a chunk
	return client, seconds(q.first - q.received)
}

// tpot is the time per output token of one request. A trial has two tokens or
// more, each in a chunk of its own.
func (q pair) tpot() (client, truth float64) {
	client, _ = metrics.TPOT(q.request)
	return client, seconds(q.last-q.first) / float64(q.request.Chunks-1)
}

func comparison(pairs []pair, of func(pair) (client, truth float64)) Comparison {
	return Comparison{
		Client: quantiles(pairs, func(q pair) float64 { client, _ := of(q); return client }),
		Truth:  quantiles(pairs, func(q pair) float64 { _, truth := of(q); return truth }),
		Error:  quantiles(pairs, func(q pair) float64 { client, truth := of(q); return client - truth }),
	}
}

func quantiles(pairs []pair, of func(pair) float64) Quantiles {
	values := make([]float64, len(pairs))
	for i, q := range pairs {
		values[i] = of(q)
	}
	slices.Sort(values)
	return Quantiles{metrics.Quantile(values, 0.5), metrics.Quantile(values, 0.95)}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// rates fills in what depends on the number of chunks, warm-up included.
func (p *Point) rates(requests []results.Request) {
	chunks, from, to := 0, requests[0].SentNS, int64(0)
	for _, r := range requests {
		chunks += r.Chunks
		from, to = min(from, r.SentNS), max(to, r.LastNS)
	}
	if to > from {
		p.ChunksPerSecond = float64(chunks) / seconds(to-from)
	}
	if p.ClientCPUSeconds > 0 {
		p.Capacity = float64(chunks) / p.ClientCPUSeconds
	}
}

// bursts are the median time between two bursts and the median length of one.
func bursts(steps []Step) (step, burst float64) {
	var gaps, lengths []float64
	for i, s := range steps {
		lengths = append(lengths, seconds(s.EndNS-s.StartNS))
		if i > 0 {
			gaps = append(gaps, seconds(s.StartNS-steps[i-1].StartNS))
		}
	}
	return median(gaps), median(lengths)
}

// median of some values, 0 if there is none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return metrics.Quantile(values, 0.5)
}
