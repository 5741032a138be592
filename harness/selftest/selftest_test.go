package selftest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The real client against the real step server: every request has its truth,
// and cause comes before effect on the one clock. How large the lags are is the
// machine's business.
func TestMeasure(t *testing.T) {
	address := running(t, 2*time.Millisecond, nil)
	for _, streams := range []int{1, 16} {
		trial := Trial{Streams: streams, PerStream: 3, Tokens: 6, Step: 2 * time.Millisecond, Together: streams == 1}
		saw, err := observe(t.Context(), address, testModel, trial)
		require.NoError(t, err)
		require.Len(t, saw.truth.Requests, 4*streams)
		pairs, err := match(saw.load.Requests, saw.truth.Requests, saw.origin)
		require.NoError(t, err)
		require.Len(t, pairs, 4*streams)
		for _, q := range pairs {
			assertCausal(t, q, saw.origin.within)
		}
		p, err := summarize(trial, saw)
		require.NoError(t, err)
		assert.Zero(t, p.Failed)
		assert.Equal(t, 3*streams, p.Requests)
		assert.Greater(t, p.MeanLive, 0.0)
		assert.Positive(t, p.TPOT.Truth.P50)
		assert.Positive(t, p.StepP50)
		assert.Positive(t, p.ClientCPUSeconds)
		assert.Positive(t, p.Capacity)
	}
}

// assertCausal checks what must hold on any machine: the lags are not negative,
// and the errors of TTFT and TPOT are made of them and of nothing else.
func assertCausal(t *testing.T, q pair, within int64) {
	t.Helper()
	toServer, firstLag, lastLag := q.received-q.request.SentNS, q.request.FirstNS-q.first, q.request.LastNS-q.last
	for _, lag := range []int64{toServer, firstLag, lastLag} {
		assert.GreaterOrEqual(t, lag, -within)
	}
	client, truth := q.ttft()
	assert.InDelta(t, seconds(toServer+firstLag), client-truth, 1e-9)
	client, truth = q.tpot()
	assert.InDelta(t, seconds(lastLag-firstLag), (client-truth)*5, 1e-8)
	assert.GreaterOrEqual(t, (client-truth)*5, -seconds(firstLag+within)-1e-8, "a TPOT is too small only by a late first read")
}

// spoil changes the truth on its way to the client.
func spoil(change func(*Truth)) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != truthPath {
				h.ServeHTTP(w, r)
				return
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			var truth Truth
			_ = json.Unmarshal(rec.Body.Bytes(), &truth)
			change(&truth)
			_ = json.NewEncoder(w).Encode(truth)
		})
	}
}

func TestMeasureNamesLyingServer(t *testing.T) {
	trial := Trial{Streams: 2, PerStream: 1, Tokens: 2, Step: time.Millisecond}
	for want, lie := range map[string]func(*Truth){
		"the server has no truth for it":   func(truth *Truth) { truth.Requests = truth.Requests[1:] },
		"the server has two truths for it": func(truth *Truth) { truth.Requests = append(truth.Requests, truth.Requests[0]) },
		"ns before it was written":         func(truth *Truth) { truth.Requests[0].WriteNS[1] += int64(time.Hour) },
		"ns before it was sent": func(truth *Truth) { // another host's clock
			for i := range truth.Requests {
				truth.Requests[i].ReceivedNS -= int64(time.Hour)
			}
		},
		`its truth is kind "other"`: func(truth *Truth) { truth.Kind = "other" },
	} {
		_, err := Measure(t.Context(), running(t, trial.Step, spoil(lie)), testModel, trial)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "2 streams: ")
	}
}

func TestMeasureCountsFailures(t *testing.T) {
	trial := Trial{Streams: 2, PerStream: 3, Tokens: 2, Step: time.Millisecond}
	failing := func(every int64) func(http.Handler) http.Handler {
		var n atomic.Int64
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/completions" && n.Add(1)%every == 0 {
					http.Error(w, "no luck", http.StatusInternalServerError)
					return
				}
				h.ServeHTTP(w, r)
			})
		}
	}
	p, err := Measure(t.Context(), running(t, trial.Step, failing(4)), testModel, trial)
	require.NoError(t, err)
	assert.Equal(t, 2, p.Failed)
	assert.Contains(t, p.FirstFailure, `status 500: "no luck`)

	trial.PerStream = 20
	_, err = Measure(t.Context(), running(t, trial.Step, failing(1)), testModel, trial)
	assert.ErrorContains(t, err, "2 streams: stopped after 16 failed requests")
	_, err = Measure(t.Context(), "127.0.0.1:1", testModel, trial)
	assert.ErrorContains(t, err, "step server: ")
	_, err = Measure(t.Context(), "127.0.0.1:1", testModel, Trial{})
	assert.ErrorContains(t, err, "must be at least 1")
}

// Both clocks run alike: a moment on one is the same moment on the other.
func TestOrigin(t *testing.T) {
	o := readOrigin()
	before := HostTime()
	since := int64(time.Since(o.client))
	after := HostTime()
	assert.GreaterOrEqual(t, o.host+since, before-o.within)
	assert.LessOrEqual(t, o.host+since, after+o.within)
}

func TestPin(t *testing.T) {
	var old unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &old))
	procs := runtime.GOMAXPROCS(0)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		require.NoError(t, bind(old))
	})
	cpus, err := CPUs()
	require.NoError(t, err)
	require.NotEmpty(t, cpus)
	require.NoError(t, Pin(cpus[0]))
	now, err := CPUs()
	require.NoError(t, err)
	assert.Equal(t, cpus[:1], now)
	assert.Equal(t, 1, runtime.GOMAXPROCS(0))
	threads, err := threadIDs()
	require.NoError(t, err)
	assert.Greater(t, len(threads), 1)
	for _, id := range threads {
		var set unix.CPUSet
		if unix.SchedGetaffinity(id, &set) == nil {
			assert.Equal(t, 1, set.Count())
		}
	}
	assert.ErrorContains(t, Pin(1<<20), "there is no such CPU")
	assert.ErrorContains(t, Pin(1023), "pin to CPU 1023: ")
}

// modeVariable makes this test binary a child under test.
const modeVariable = "SELFTEST_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(modeVariable) {
	case "":
		os.Exit(m.Run())
	case "good":
		_ = Announce(os.Stdout, "127.0.0.1:4242")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent closes it
	case "bad-end":
		_ = Announce(os.Stdout, "127.0.0.1:4242")
		os.Exit(7)
	case "wrong-line":
		os.Stdout.WriteString("hello\n")
	case "silent":
		os.Stderr.WriteString("port in use")
		os.Exit(3)
	}
}

func startChild(t *testing.T, mode string) (*Child, string, error) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	var stderr bytes.Buffer
	c, err := StartServer([]string{self}, append(os.Environ(), modeVariable+"="+mode), &stderr)
	if err == nil {
		return c, "", nil // it may still write
	}
	return nil, stderr.String(), err
}

func TestChild(t *testing.T) {
	c, _, err := startChild(t, "good")
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:4242", c.Address)
	require.NoError(t, c.Stop())

	c, _, err = startChild(t, "bad-end")
	require.NoError(t, err)
	assert.ErrorContains(t, c.Stop(), "step server: exit status 7")

	_, _, err = startChild(t, "wrong-line")
	assert.ErrorContains(t, err, `announced "hello\n", no address`)
	_, said, err := startChild(t, "silent")
	assert.ErrorContains(t, err, "exit status 3")
	assert.Equal(t, "port in use", said)
	_, err = StartServer([]string{"/nonexistent/opbench"}, nil, nil)
	assert.ErrorContains(t, err, "start step server: ")
}

func TestReport(t *testing.T) {
	r := Report{Version: "1", StepSeconds: 0.01, PromptTokens: 32, Tokens: 64, ServerCPU: 0, ClientCPU: -1, Together: true}
	p := Point{Streams: 64, Requests: 320, MeanLive: 63.52, StepP50: 0.01, BurstP50: 0.001, ChunksPerSecond: 6400,
		Capacity: 50000, ClientCPUSeconds: 1.5, TTFT: Comparison{Error: Quantiles{0.001, 0.002}}, TPOT: Comparison{Error: Quantiles{-0.00001, 0}}}
	var out bytes.Buffer
	require.NoError(t, r.WriteHead(&out))
	require.NoError(t, r.WriteRow(&out, p))
	text := out.String()
	assert.Contains(t, text, "step 10ms, 32 prompt and 64 output tokens, all streams start at once and stay in step")
	assert.Contains(t, text, "server on CPU 0 alone, client on any core")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	row := strings.Fields(lines[len(lines)-1])
	assert.Equal(t, strings.Fields("64 320 0 63.5 +1.000 +2.000 -0.010 +0.000 0.000 0.000 10.00 1.00 6400 50000 1.50"), row)

	p.StepP50, p.Failed, p.FirstFailure = 0.012, 1, "request 3: no usage"
	out.Reset()
	require.NoError(t, r.WriteRow(&out, p))
	assert.Contains(t, out.String(), "server behind its step\n        first failure: request 3: no usage\n")
	r.Points = []Point{p, p}
	assert.Equal(t, 2, r.Failed())
}
