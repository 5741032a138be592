package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// victimScenario is one block of real processes in real time, and is repeated
// once if the block is void. %s are options of the candidate.
const victimScenario = `
scenario: victim
purpose: correctness
about: real processes that something happens to
engine: {kind: sim, model: toy}
arms:
  off: {patch: none}
  on:  {patch: none, args: {%s}, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source: {kind: synthetic, requests: 16, prompt_tokens: 8, output_tokens: 6, seed: 1, vocab_size: 500}
    arrival: {kind: closed, streams: 2}
    warmup: {requests: 12}
  - name: two
    source: {kind: synthetic, requests: 2, prompt_tokens: 8, output_tokens: 2, seed: 2, vocab_size: 500}
    arrival: {kind: closed, streams: 1}
    warmup: {requests: 1}
design: {blocks: 1, seed: 1, cooldown: 0s}
identity: {prompts: 2, prompt_tokens: 8, output_tokens: 4, min_distinct: 3}
client: {request_timeout: 1s}
`

const warmups = 12 // of phase one

// linkToSelf is this binary under the name with which it is the command.
func linkToSelf(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(dir, "opbench")
	require.NoError(t, os.Symlink(self, link))
	return link
}

// victim is a campaign whose recording servers something happens to.
type victim struct {
	t       *testing.T
	dir     string   // run directory
	strikes []strike // one for each attempt of the candidate, in order
	work    sync.WaitGroup
}

// strike happens to a server of the candidate when the harness says that it does
// what when says: in a goroutine of its own, or before the harness goes on.
type strike struct {
	when   string
	before bool
	do     func(*target)
}

// target is a live server process.
type target struct {
	t    *testing.T
	pid  int
	port string
}

// run runs the campaign to its end, as opbench run does, and returns what the
// user reads and the exit code. That it ends is asserted by a bound: a minute.
func (v *victim) run(options string) (text string, code int) {
	t := v.t
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := scenarios.Load("victim.yaml", fmt.Appendf(nil, victimScenario, options), scenarios.Known{})
	require.NoError(t, err)
	plan, err := harness.Plan(s, "victim.yaml", fmt.Appendf(nil, victimScenario, options), version)
	require.NoError(t, err)
	v.dir, err = results.Create(t.TempDir(), plan, time.Now())
	require.NoError(t, err)
	eng, err := engine.New(ctx, s, engine.Config{Environ: os.Environ(), Self: linkToSelf(t, t.TempDir()), StopTimeout: 3 * time.Second})
	require.NoError(t, err)
	require.NoError(t, harness.Execute(ctx, v.dir, harness.Options{Engine: eng, Observe: v.observe, Tool: version}))
	v.work.Wait()
	assert.Empty(t, v.strikes, "it happened to every attempt")
	var out bytes.Buffer
	err = (&app{stdout: &out, stderr: io.Discard}).verdict(v.dir)
	var exit *exitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		code = exit.code
	}
	requireNoServer(t, v.dir)
	return unwrap(out.String()), code
}

var recordingRun = regexp.MustCompile(`^block \d+ on\b`)

func (v *victim) observe(st harness.Status) {
	if len(v.strikes) == 0 || st.Doing != v.strikes[0].when || !recordingRun.MatchString(st.Run) {
		return
	}
	now, server := v.strikes[0], v.server()
	v.strikes = v.strikes[1:]
	if now.before {
		now.do(server)
		return
	}
	v.work.Go(func() { now.do(server) })
}

// server finds the process of the run in progress by the files of the run.
func (v *victim) server() *target {
	names := results.ServerPIDs(v.dir)
	require.Len(v.t, names, 1)
	data, err := os.ReadFile(names[0])
	require.NoError(v.t, err)
	text, _, _ := strings.Cut(string(data), " ")
	pid, err := strconv.Atoi(text)
	require.NoError(v.t, err)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	require.NoError(v.t, err)
	_, rest, found := strings.Cut(string(line), "--port\x00")
	require.True(v.t, found)
	port, _, _ := strings.Cut(rest, "\x00")
	return &target{v.t, pid, port}
}

var finished = regexp.MustCompile(`(?m)^vllm:request_success_total\{.*\} (\d+)`)

// after waits until the server has finished more than n requests.
func (s *target) after(n int) {
	for range 500 {
		time.Sleep(10 * time.Millisecond)
		resp, err := http.Get("http://127.0.0.1:" + s.port + "/metrics")
		if err != nil {
			continue
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if m := finished.FindSubmatch(text); err == nil && m != nil {
			if done, _ := strconv.Atoi(string(m[1])); done > n {
				return
			}
		}
	}
	assert.Fail(s.t, "the server did not get so far", "%d requests", n)
}

func (s *target) signal(sig syscall.Signal) { assert.NoError(s.t, syscall.Kill(s.pid, sig)) }

// kill also waits until the harness has taken note: its zombie is gone.
func (s *target) kill() {
	s.signal(syscall.SIGKILL)
	for range 500 {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", s.pid)); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	assert.Fail(s.t, "the killed server was not waited for")
}

// attempts reads the campaign back: complete, whole, every run noted.
func (v *victim) attempts() map[string]results.Attempt {
	c, err := results.Load(v.dir)
	require.NoError(v.t, err)
	assert.True(v.t, c.Complete)
	assert.Empty(v.t, c.Aborted)
	all := map[string]results.Attempt{}
	for _, a := range c.Attempts {
		assert.Empty(v.t, a.Damage)
		all[fmt.Sprintf("%s.%d", a.Key.Arm, a.Key.Attempt)] = a
	}
	require.Len(v.t, all, 4, "a block and its one repetition")
	return all
}

// failure is how an attempt of the candidate has to end.
type failure struct {
	strike
	say      string                                 // begins the reason why the run ended early
	requests func(timed, warmup, identity int) bool // what the run got to
}

// SIGKILL at any moment of a run: the baseline is untouched, the candidate
// fails by its own fault, twice, and the report says when and how.
func TestKilledServers(t *testing.T) {
	t.Parallel()
	const itself = "phase one: the server ended by itself (signal: killed)"
	// A busy machine strikes late: some timed requests may have been sent.
	warmup := failure{strike{"phase one", false, func(s *target) { s.after(0); s.kill() }}, itself,
		func(timed, warmup, _ int) bool { return warmup > 0 && timed < 16 }}
	timed := failure{strike{"phase one", false, func(s *target) { s.after(warmups + 1); s.kill() }}, itself,
		func(timed, warmup, _ int) bool { return timed > 0 && warmup == warmups }}
	between := failure{strike{"phase two", true, (*target).kill}, "phase two: read /metrics: dial tcp",
		func(timed, _, identity int) bool { return timed == 16 && identity == 0 }}
	identity := failure{strike{"identity pass", true, (*target).kill}, "identity pass, prompt 0: dial: dial tcp",
		func(timed, _, _ int) bool { return timed == 18 }}
	for name, ends := range map[string][]failure{"in a phase": {warmup, timed}, "beside the phases": {between, identity}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &victim{t: t, strikes: []strike{ends[0].strike, ends[1].strike}}
			text, code := v.run("")
			assert.Equal(t, 10, code, text)
			assert.Contains(t, text, "FAIL(reliability)")
			assert.Contains(t, text, "on failed by its own fault in 2 runs and off in none; first 0001/on: the run ended early: "+ends[0].say)
			all := v.attempts()
			for i, end := range ends {
				assert.Empty(t, all[fmt.Sprintf("off.%d", i+1)].Findings)
				a := all[fmt.Sprintf("on.%d", i+1)]
				assert.True(t, strings.HasPrefix(a.Run.Failure, end.say), a.Run.Failure)
				assert.Equal(t, results.FailureEngine, a.Run.FailureClass)
				assert.Equal(t, "killed", a.Run.Server.Stop.Signal)
				assert.True(t, end.requests(count(a.Requests)), "%s: %d requests", end.say, len(a.Requests))
			}
		})
	}
}

func count(requests []results.Request) (timed, warmup, identity int) {
	for i := range requests {
		switch {
		case requests[i].Warmup:
			warmup++
		case requests[i].Phase == workload.IdentityPhase:
			identity++
		default:
			timed++
		}
	}
	return timed, warmup, identity
}

// A server that stands still for longer than a request may take, as one whose
// host is paused or swaps: its streams are half open, the kernel goes on taking
// connections. The first goes on after that, the second is killed.
func TestStoppedServers(t *testing.T) {
	t.Parallel()
	stopThen := func(then func(*target)) strike {
		return strike{"phase one", false, func(s *target) {
			s.after(0)
			s.signal(syscall.SIGSTOP)
			time.Sleep(1300 * time.Millisecond) // request_timeout is 1 s
			then(s)
		}}
	}
	v := &victim{t: t, strikes: []strike{stopThen(func(s *target) { s.signal(syscall.SIGCONT) }), stopThen((*target).kill)}}
	text, code := v.run("")
	assert.Equal(t, 10, code, text)
	assert.Contains(t, text, "FAIL(reliability)")
	assert.Contains(t, text, "timeout: no end of the response within 1s")
	all := v.attempts()
	assert.Empty(t, all["on.1"].Run.Failure)
	assert.True(t, all["on.1"].Run.Server.Stop.Graceful)
	assert.Equal(t, "phase one: the server ended by itself (signal: killed)", all["on.2"].Run.Failure)
	for _, name := range []string{"on.1", "on.2"} {
		timeouts := 0
		for _, r := range all[name].Requests {
			if strings.HasPrefix(r.Error, "timeout: no end of the response within 1s") {
				timeouts++
			}
		}
		assert.GreaterOrEqual(t, timeouts, 2, "both streams of %s", name)
	}
}

// A process that is well and leaves some streams unanswered and others
// unfinished.
func TestSilentStreamsOfAProcess(t *testing.T) {
	t.Parallel()
	v := &victim{t: t}
	text, code := v.run(`fault: "half-open=17,stalled-stream=19"`)
	assert.Equal(t, 10, code, text)
	assert.Contains(t, text, "FAIL(reliability)")
	assert.Contains(t, text, "timeout: no end of the response within 1s")
	for name, a := range v.attempts() {
		assert.True(t, a.Run.Server.Stop.Graceful, name)
		unanswered, unfinished := 0, 0
		for _, r := range a.Requests {
			switch {
			case r.OK():
			case r.OutputTokens > 0 || r.FirstNS > 0:
				unfinished++
			default:
				unanswered++
			}
		}
		assert.Equal(t, a.Key.Arm == "on", unanswered > 0, name)
		assert.Equal(t, a.Key.Arm == "on", unfinished > 0, name)
	}
}
