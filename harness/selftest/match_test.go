package selftest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/load"
	"github.com/aituner/opprof/results"
)

const ms = int64(time.Millisecond)

// constructed is a run of n requests of 5 tokens, the first warm of them
// warm-up, whose times are known. Request i is sent at 100 i ms, received 2 ms
// later, answered from 7 ms later every 10 ms; the client reads the first chunk
// 1 + i ms after its write, the last one 3 ms after its write.
func constructed(n, warm int) observed {
	saw := observed{origin: origin{host: 5_000_000 * ms, within: 100}, used: 0.5, truth: &Truth{}}
	for i := range n {
		sent := ms * int64(1+100*i)
		host := saw.origin.host + sent
		t := Served{Tag: i, ReceivedNS: host + 2*ms}
		for c := range int64(5) {
			t.WriteNS = append(t.WriteNS, host+(7+10*c)*ms)
		}
		saw.truth.Requests = append(saw.truth.Requests, t)
		saw.load.Requests = append(saw.load.Requests, results.Request{
			Phase: "selftest", Index: i, Warmup: i < warm, SentNS: sent, FirstNS: sent + int64(8+i)*ms, LastNS: sent + 50*ms,
			EndNS: sent + 50*ms, FirstTokens: 1, Chunks: 5, WantTokens: 5, OutputTokens: 5, FinishReason: "length",
		})
	}
	saw.load.Planned = n - warm
	return saw
}

func TestMatchPairsByTag(t *testing.T) {
	saw := constructed(4, 1)
	truth := saw.truth.Requests
	truth[0], truth[3] = truth[3], truth[0] // the order of ends is not that of sends
	pairs, err := match(saw.load.Requests, truth, saw.origin)
	require.NoError(t, err)
	require.Len(t, pairs, 4)
	for i, p := range pairs {
		assert.Equal(t, i, p.request.Index)
		assert.Equal(t, p.request.SentNS+2*ms, p.received)
		assert.Equal(t, p.request.SentNS+7*ms, p.first)
		assert.Equal(t, p.request.SentNS+47*ms, p.last)
	}
}

func TestMatchPassesOverFailures(t *testing.T) {
	saw := constructed(3, 0)
	saw.load.Requests[1].Error = "cut stream"
	saw.truth.Requests[1].Aborted = true
	pairs, err := match(saw.load.Requests, saw.truth.Requests, saw.origin)
	require.NoError(t, err)
	require.Len(t, pairs, 2)
	assert.Equal(t, 2, pairs[1].request.Index)

	pairs, err = match(saw.load.Requests, append(saw.truth.Requests[:1:1], saw.truth.Requests[2]), saw.origin)
	require.NoError(t, err, "a failed request may never have reached the server")
	assert.Len(t, pairs, 2)
}

// Every way in which a server's truth can be wrong is named.
func TestMatchNamesLies(t *testing.T) {
	for want, lie := range map[string]func(truth *[]Served){
		"request 1: the server has no truth for it":            func(truth *[]Served) { *truth = append((*truth)[:1], (*truth)[2:]...) },
		"request 0: the server has no truth for it":            func(truth *[]Served) { *truth = nil },
		"request 2: the server has two truths for it":          func(truth *[]Served) { *truth = append(*truth, (*truth)[2]) },
		"the server tells of request 7, which was not sent":    func(truth *[]Served) { *truth = append(*truth, Served{Tag: 7}) },
		"the server tells of a request without tag":            func(truth *[]Served) { (*truth)[1].Tag = -1 },
		"request 1: the client has all of it":                  func(truth *[]Served) { (*truth)[1].Aborted = true },
		"request 1: the server wrote 4 chunks, the client rea": func(truth *[]Served) { (*truth)[1].WriteNS = (*truth)[1].WriteNS[:4] },
		"request 1: the server wrote 0 chunks":                 func(truth *[]Served) { (*truth)[1].WriteNS = nil },
		"request 1: it was received 1000000 ns before it was":  func(truth *[]Served) { (*truth)[1].ReceivedNS -= 3 * ms },
		"request 1: the server's times run backwards by 1000000 ns at chunk 0": func(truth *[]Served) {
			(*truth)[1].ReceivedNS += 6 * ms
		},
		"request 1: the server's times run backwards by 5000000 ns at chunk 3": func(truth *[]Served) {
			(*truth)[1].WriteNS[2] += 15 * ms
		},
		"request 1: the first chunk was read 1000000 ns before it was written": func(truth *[]Served) {
			(*truth)[1].WriteNS[0] += 3 * ms
		},
		"request 1: the last chunk was read 2000000 ns before it was written": func(truth *[]Served) {
			(*truth)[1].WriteNS[4] += 5 * ms
		},
	} {
		saw := constructed(3, 0)
		lie(&saw.truth.Requests)
		_, err := match(saw.load.Requests, saw.truth.Requests, saw.origin)
		assert.ErrorContains(t, err, want)
		_, err = summarize(Trial{Streams: 1}, saw)
		assert.ErrorContains(t, err, want, "a point must not come from it either")
	}
}

// Two requests whose truths were swapped have impossible times.
func TestMatchFindsSwappedTruths(t *testing.T) {
	saw := constructed(2, 0)
	truth := saw.truth.Requests
	truth[0].Tag, truth[1].Tag = 1, 0
	_, err := match(saw.load.Requests, truth, saw.origin)
	assert.ErrorContains(t, err, "ns before it was")
}

// Within the error of the origin nothing is a lie.
func TestMatchAllowsClockError(t *testing.T) {
	saw := constructed(1, 0)
	saw.truth.Requests[0].ReceivedNS -= 2*ms + 100
	_, err := match(saw.load.Requests, saw.truth.Requests, saw.origin)
	require.NoError(t, err)
	saw.truth.Requests[0].ReceivedNS--
	_, err = match(saw.load.Requests, saw.truth.Requests, saw.origin)
	assert.ErrorContains(t, err, "received 101 ns before")
}

func TestSummarize(t *testing.T) {
	saw := constructed(6, 1)
	saw.load.MeanLive, saw.truth.CPUSeconds = 0.9, 0.25
	saw.load.Client = results.ClientHealth{ProbeLagP99: 0.001}
	for i := range int64(4) {
		saw.truth.Steps = append(saw.truth.Steps, Step{StartNS: 10 * i * ms, EndNS: (10*i + 2) * ms, Live: 1})
	}
	p, err := summarize(Trial{Streams: 1}, saw)
	require.NoError(t, err)
	// timed are requests 1 to 5: first chunks read 2 to 6 ms after their write
	near := func(want, got float64) { t.Helper(); assert.InDelta(t, want, got, 1e-9) }
	near(0.005, p.TTFT.Truth.P50)
	near(0.005, p.TTFT.Truth.P95)
	near(0.011, p.TTFT.Client.P50)
	near(0.002, p.RequestLag.P95)
	near(0.004, p.ReadLag.P50)
	near(0.0058, p.ReadLag.P95)
	near(0.006, p.TTFT.Error.P50)
	near(0.0078, p.TTFT.Error.P95)
	near(0.010, p.TPOT.Truth.P50)
	near(0.010-0.001/4, p.TPOT.Client.P50)
	near(-0.001/4, p.TPOT.Error.P50) // first read 4 ms late, last one 3 ms late
	near(0.0008/4, p.TPOT.Error.P95)
	near(0.010, p.StepP50)
	near(0.002, p.BurstP50)
	near(30/0.55, p.ChunksPerSecond)
	near(60, p.Capacity)
	near(1e-7, p.ClockError)
	assert.Equal(t, 5, p.Requests)
	assert.Equal(t, []float64{0.5, 0.25, 0.9, 0.001}, []float64{p.ClientCPUSeconds, p.ServerCPUSeconds, p.MeanLive, p.Client.ProbeLagP99})
}

func TestSummarizeFailures(t *testing.T) {
	saw := constructed(3, 1)
	saw.load.Requests[0].Error, saw.load.Requests[2].Error = "no usage", "cut stream"
	saw.load.Failed = 2
	p, err := summarize(Trial{Streams: 1}, saw)
	require.NoError(t, err)
	assert.Equal(t, 2, p.Failed)
	assert.Equal(t, "request 0: no usage", p.FirstFailure)

	saw.load.Requests[1].Error = "status 500"
	_, err = summarize(Trial{Streams: 1}, saw)
	assert.ErrorContains(t, err, "no timed request succeeded; the first failure: request 0: no usage")
}

func TestTags(t *testing.T) {
	for _, tag := range []int{0, 1, 255, 256, 65535, 65536, maxTag - 1} {
		prompt := taggedPrompt(tag, PromptTokens)
		assert.Len(t, prompt, PromptTokens)
		assert.Equal(t, tag, tagOf(prompt))
	}
	for _, ids := range [][]int{nil, {1, 2}, {1, 2, 256}, {-1, 2, 3}} {
		assert.Equal(t, -1, tagOf(ids))
	}
}

func TestTrialCheck(t *testing.T) {
	good := Trial{Streams: 2, PerStream: 3, Tokens: 4, Step: time.Millisecond}
	require.NoError(t, good.Check())
	for want, change := range map[string]func(*Trial){
		"both must be at least 1":   func(t *Trial) { t.PerStream = 0 },
		"a time per token":          func(t *Trial) { t.Tokens = 1 },
		"it must be positive":       func(t *Trial) { t.Step = -1 },
		"can't be told apart":       func(t *Trial) { t.Streams, t.PerStream = 1<<13, 1<<12 },
		"-1 streams with 3 request": func(t *Trial) { t.Streams = -1 },
	} {
		trial := good
		change(&trial)
		assert.ErrorContains(t, trial.Check(), want)
	}
}

// A spec sends one warm-up request per stream, and every prompt says which
// request it is.
func TestSpec(t *testing.T) {
	trial := Trial{Streams: 3, PerStream: 2, Tokens: 4, Step: time.Second}
	spec := trial.spec(load.Target{})
	require.Len(t, spec.Workload.Requests, 9)
	assert.Equal(t, 3, spec.Workload.Warmup())
	for i, r := range spec.Workload.Requests {
		assert.Equal(t, i, tagOf(r.Prompt))
		assert.Equal(t, 4, r.MaxTokens)
	}
	assert.Equal(t, 4*time.Second, spec.Arrival.Ramp)
	trial.Together = true
	assert.Zero(t, trial.spec(load.Target{}).Arrival.Ramp)
}
