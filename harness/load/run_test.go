package load

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

const ms = time.Millisecond

// since is a record's time as a duration after the start of the run, which is
// one second after the origin.
func since(ns int64) time.Duration { return time.Duration(ns) - time.Second }

// closedSpec is a phase of warm and timed requests of 5 tokens each.
func closedSpec(s *server, streams, warm, timed int) Spec {
	w := workload.Workload{Phase: "p"}
	for i := range warm + timed {
		w.Requests = append(w.Requests, workload.Request{Index: i, Prompt: []int{1, i}, MaxTokens: 5, Warmup: i < warm})
	}
	return Spec{
		Target:   Target{Dial: s.dial, Host: "h", Model: nonce, Timeout: time.Minute, Origin: time.Now().Add(-time.Second)},
		Workload: w,
		Arrival:  scenarios.Arrival{Kind: "closed", Streams: streams},
	}
}

// openSpec sends requests of 5 tokens at the given times.
func openSpec(s *server, warm int, offsets ...time.Duration) Spec {
	spec := closedSpec(s, 0, warm, len(offsets)-warm)
	spec.Arrival = scenarios.Arrival{Kind: "poisson", Rate: 1}
	spec.Workload.Open = true
	for i, offset := range offsets {
		spec.Workload.Requests[i].Offset = offset
	}
	return spec
}

func sendTimes(requests []results.Request) (at []time.Duration) {
	for _, r := range requests {
		at = append(at, since(r.SentNS))
	}
	return at
}

func TestClosedLoopTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &server{prefill: 30 * ms, step: 10 * ms}
		called := time.Duration(-1)
		spec := closedSpec(s, 2, 3, 5)
		spec.OnTimed = func() { called = time.Since(start) }
		res, err := Run(t.Context(), spec)
		require.NoError(t, err)
		assert.Empty(t, res.Stopped)
		// a request takes 70 ms; the third warm-up request runs beside the
		// first timed one: no drain
		assert.Equal(t, []time.Duration{0, 0, 70 * ms, 70 * ms, 140 * ms, 140 * ms, 210 * ms, 210 * ms}, sendTimes(res.Requests))
		for i, r := range res.Requests {
			assert.Empty(t, r.Error)
			assert.Equal(t, i, r.Index)
			assert.Equal(t, i < 3, r.Warmup)
			assert.Equal(t, r.SentNS, r.IntendedNS)
			assert.Equal(t, r.SentNS+int64(30*ms), r.FirstNS)
			assert.Equal(t, r.FirstNS+int64(40*ms), r.LastNS)
			assert.Equal(t, r.LastNS, r.EndNS)
			assert.Equal(t, int64(10*ms), r.GapMedianNS)
		}
		assert.Equal(t, 70*ms, called)
		assert.Equal(t, start.UnixNano(), res.WarmupStartNS)
		assert.Equal(t, start.Add(70*ms).UnixNano(), res.TimedStartNS)
		assert.Equal(t, start.Add(280*ms).UnixNano(), res.TimedEndNS)
		assert.Equal(t, 2.0, res.MeanLive)
		assert.Equal(t, []int{5, 5, 0, 0}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
		assert.Equal(t, []int{2, 0}, []int{res.Dials, res.Redials})
		phase := res.Phase(scenarios.Phase{Name: "p"})
		assert.InDelta(t, 0.030, phase.Metrics["ttft_p95"], 1e-12)
		assert.InDelta(t, 0.010, phase.Metrics["tpot_p50"], 1e-12)
		assert.InDelta(t, 25/0.210, phase.Metrics["output_throughput"], 1e-9)
		// four gaps of 10 ms in each of five timed requests; none of the warm-up
		assert.True(t, phase.Gaps.Fits(20, int64(200*ms), int64(10*ms)))
		assert.InEpsilon(t, 0.010, phase.Metrics["itl_p99"], 1e-3)
	})
}

func TestEveryRequestIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: ms, step: ms}
		res, err := Run(t.Context(), closedSpec(s, 7, 10, 40))
		require.NoError(t, err)
		require.Len(t, res.Requests, 50)
		seen := map[int]bool{}
		for _, b := range s.bodies {
			seen[b.Prompt[1]] = true
		}
		assert.Len(t, s.bodies, 50)
		assert.Len(t, seen, 50)
		assert.Equal(t, 7, res.Dials)
	})
}

func TestRamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: 10 * time.Second}
		spec := closedSpec(s, 4, 4, 4)
		spec.Arrival.Ramp = 8 * time.Second
		res, err := Run(t.Context(), spec)
		require.NoError(t, err)
		sec := time.Second
		assert.Equal(t, []time.Duration{0, 2 * sec, 4 * sec, 6 * sec, 10 * sec, 12 * sec, 14 * sec, 16 * sec}, sendTimes(res.Requests))
		for i, r := range res.Requests {
			assert.Equal(t, i%4, r.Stream)
		}
		assert.Equal(t, 4.0, res.MeanLive)
	})
}

func TestOpenLoopKeepsItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: 60 * ms, step: 10 * ms} // a request takes 100 ms
		offsets := []time.Duration{5 * ms, 20 * ms, 50 * ms, 90 * ms, 130 * ms}
		res, err := Run(t.Context(), openSpec(s, 1, offsets...))
		require.NoError(t, err)
		assert.Equal(t, offsets, sendTimes(res.Requests), "earlier requests hold none back")
		for i, r := range res.Requests {
			assert.Empty(t, r.Error)
			assert.Equal(t, offsets[i], since(r.IntendedNS))
		}
		// between 20 and 130 ms: 85 ms of the first (warm-up), 100, 80, 40, 0
		assert.InDelta(t, 305.0/110, res.MeanLive, 1e-9)
		assert.Zero(t, res.Client.SendLateP99)
		assert.Equal(t, 5, res.Dials, "one each: rate 1/s opens eight, but no more than requests")
	})
}

func TestOpenLoopDialsWhenNoneIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: time.Second}
		offsets := make([]time.Duration, 20)
		for i := range offsets {
			offsets[i] = time.Duration(i+1) * ms
		}
		spec := openSpec(s, 0, offsets...)
		dial := spec.Target.Dial
		spec.Target.Dial = func(ctx context.Context) (net.Conn, error) {
			time.Sleep(3 * ms)
			return dial(ctx)
		}
		res, err := Run(t.Context(), spec)
		require.NoError(t, err)
		assert.Equal(t, []int{20, 0}, []int{res.Dials, res.Redials})
		first, last := res.Requests[0], res.Requests[19]
		assert.Equal(t, first.IntendedNS, first.SentNS)
		assert.Equal(t, last.IntendedNS+int64(3*ms), last.SentNS, "the dial is lateness, not TTFT")
		assert.Equal(t, int64(time.Second), last.FirstNS-last.SentNS)
		assert.InDelta(t, 0.003, res.Client.SendLateP99, 1e-12)
	})
}

func TestProbeCoversTheTimedPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: time.Second}
		res, err := Run(t.Context(), closedSpec(s, 1, 1, 2))
		require.NoError(t, err)
		assert.InDelta(t, 400, res.Client.Probes, 2, "2 s of 5 ms")
		assert.Zero(t, res.Client.ProbeLagMax, "the virtual clock is never late")
	})
}

func TestProbeNumbers(t *testing.T) {
	var samples []lateness
	for i := range int64(101) {
		samples = append(samples, lateness{due: i, late: i * 1e6})
	}
	var health results.ClientHealth
	probeHealth(samples, []metrics.Window{{First: 1, End: 99}}, &health)
	assert.Equal(t, 99, health.Probes)
	assert.InDelta(t, 0.050, health.ProbeLagMean, 1e-12)
	assert.InDelta(t, 0.09802, health.ProbeLagP99, 1e-12)
	assert.InDelta(t, 0.099, health.ProbeLagMax, 1e-12)
	probeHealth(samples, []metrics.Window{{First: 200, End: 300}}, &health)
	assert.Zero(t, health.Probes)
}

func TestCancelLeavesTheRestUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("second interrupt")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*ms, func() { cancel(cause) })
		s := &server{prefill: 30 * ms, step: 10 * ms}
		start := time.Now()
		res, err := Run(ctx, closedSpec(s, 2, 2, 8))
		require.NoError(t, err)
		assert.Equal(t, 100*ms, time.Since(start), "nothing is waited for")
		assert.Equal(t, "second interrupt", res.Stopped)
		assert.Equal(t, []int{8, 0, 2, 6}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
		assert.Equal(t, "given up: second interrupt", res.Requests[3].Error)
		s.active.Wait()
	})
}

func TestCancelOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		s := &server{prefill: ms, step: ms}
		res, err := Run(ctx, openSpec(s, 0, 10*ms, 200*ms, time.Hour))
		require.NoError(t, err)
		assert.Equal(t, []int{3, 1, 0, 2}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
		assert.Contains(t, res.Stopped, "deadline exceeded")
	})
}

func TestFailuresStopTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{fault: func(n int, conn net.Conn) bool {
			io.WriteString(conn, "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n")
			return true
		}}
		res, err := Run(t.Context(), closedSpec(s, 1, 2, 100))
		require.NoError(t, err)
		assert.Contains(t, res.Stopped, "stopped after 16 failed requests, the last: status 503")
		assert.Equal(t, []int{100, 0, 16, 86}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
		assert.Equal(t, 16, s.requests)
	})
}

func TestServerGoneStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: 10 * ms}
		s.fault = func(n int, _ net.Conn) bool {
			if n == 5 {
				s.stopTaking()
			}
			return n >= 5
		}
		res, err := Run(t.Context(), closedSpec(s, 1, 1, 100))
		require.NoError(t, err)
		assert.Contains(t, res.Stopped, "takes no connections: dial: connection refused")
		assert.Equal(t, 2, res.Failed)
		assert.Equal(t, 94, res.Unsent)
		assert.Contains(t, res.Requests[5].Error, "no response: cut stream")
		assert.Contains(t, res.Requests[6].Error, "dial: connection refused")
		assert.Zero(t, res.Requests[6].SentNS)
	})
}

func TestNoServerIsAnError(t *testing.T) {
	s := &server{refuse: true}
	_, err := Run(t.Context(), closedSpec(s, 3, 0, 4))
	assert.ErrorContains(t, err, "3 connections before phase p: dial: connection refused")
}

func TestOneFailureDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: 10 * ms, fault: func(n int, conn net.Conn) bool {
			if n == 4 {
				io.WriteString(conn, headText+chunked(tokensEvent("", 1))+chunked(tokensEvent("", 2)))
			}
			return n == 4
		}}
		res, err := Run(t.Context(), closedSpec(s, 1, 2, 8))
		require.NoError(t, err)
		assert.Empty(t, res.Stopped)
		assert.Equal(t, []int{8, 7, 1, 0}, []int{res.Planned, res.Finished, res.Failed, res.Unsent})
		assert.Contains(t, res.Requests[4].Error, "cut stream")
		assert.Equal(t, 10, s.requests, "a failed request is not sent again")
		assert.True(t, res.gaps.Fits(7*4, 0, 0), "nor do its gaps count")
		assert.Equal(t, 1, res.Redials)
	})
}

func TestConnectionsAreReplacedBetweenRequests(t *testing.T) {
	times := []time.Duration{0, 100 * ms, 200 * ms}
	late := []time.Duration{0, 100 * ms, 100*ms + idleLimit + time.Second}
	for name, c := range map[string]struct {
		server  *server
		offsets []time.Duration
		redials int
	}{
		"kept":               {&server{}, times, 0},
		"closed by surprise": {&server{hangUp: true}, times, 2},
		"closed as said":     {&server{announce: true}, times, 2},
		"too old":            {&server{}, late, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := c.server
			spec := openSpec(s, 0, c.offsets...)
			dial := spec.Target.Dial
			var dials atomic.Int64
			spec.Target.Dial = func(ctx context.Context) (net.Conn, error) {
				if dials.Add(1) > 3 {
					time.Sleep(7 * ms)
				}
				return dial(ctx)
			}
			res, err := Run(t.Context(), spec)
			require.NoError(t, err)
			assert.Equal(t, 3, res.Finished, name)
			assert.Equal(t, c.redials, res.Redials, name)
			last := res.Requests[2]
			assert.Equal(t, last.SentNS, last.FirstNS, "%s: the dial is not part of the TTFT", name)
			wait := time.Duration(0)
			if c.redials > 0 {
				wait = 7 * ms
			}
			assert.Equal(t, int64(wait), last.SentNS-last.IntendedNS, name)
		})
	}
}

func TestSpecIsChecked(t *testing.T) {
	s := &server{}
	for want, change := range map[string]func(*Spec){
		"no Dial":             func(p *Spec) { p.Target.Dial = nil },
		"no model name":       func(p *Spec) { p.Target.Model = "" },
		"no timeout":          func(p *Spec) { p.Target.Timeout = 0 },
		"before the first":    func(p *Spec) { p.Target.Origin = time.Now().Add(time.Hour) },
		"no timed request":    func(p *Spec) { p.Workload.Requests = p.Workload.Requests[:1] },
		"at least one stream": func(p *Spec) { p.Arrival.Streams = 0 },
	} {
		spec := closedSpec(s, 1, 1, 1)
		change(&spec)
		_, err := Run(t.Context(), spec)
		assert.ErrorContains(t, err, want)
	}
}

func TestSequential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{prefill: 10 * ms, step: ms}
		spec := closedSpec(s, 1, 0, 3)
		tokens, records, err := Sequential(t.Context(), spec.Target, spec.Workload.Requests)
		require.NoError(t, err)
		assert.Equal(t, [][]int{{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}}, tokens)
		assert.Equal(t, []time.Duration{0, 14 * ms, 28 * ms}, sendTimes(records))
		assert.Equal(t, workload.IdentityPhase, records[2].Phase)
	})
}

func TestSequentialEndsAtAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{fault: func(n int, _ net.Conn) bool { return n == 1 }}
		spec := closedSpec(s, 1, 0, 3)
		tokens, records, err := Sequential(t.Context(), spec.Target, spec.Workload.Requests)
		assert.ErrorContains(t, err, "identity pass, prompt 1: no response")
		assert.Len(t, tokens, 2)
		assert.Len(t, records, 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = Sequential(ctx, spec.Target, spec.Workload.Requests)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// A trace has no stated rate: its times say how many connections to open.
func TestConnectionsOfATrace(t *testing.T) {
	for want, last := range map[int]time.Duration{8: 100 * time.Second, 20: 10 * time.Second, 100: 100 * ms} {
		w := workload.Workload{Open: true, Requests: make([]workload.Request, 100)}
		w.Requests[99].Offset = last
		r := Session{spec: Spec{Workload: w, Arrival: scenarios.Arrival{Kind: "trace", Scale: 1}}}
		assert.Equal(t, want, r.firstConnections())
	}
	r := Session{spec: Spec{Workload: workload.Workload{Requests: make([]workload.Request, 100)}}}
	assert.Equal(t, 8, r.firstConnections(), "all at once")
}
