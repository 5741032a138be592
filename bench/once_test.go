package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/engine/enginetest"
	"github.com/aituner/opprof/report/post"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// oneBlock is one block of two arms, for which a campaign tries two attempts. The
// engine knows fewer tokens than the prompts have.
const oneBlock = `
scenario: one-block
purpose: correctness
engine: {kind: sim, args: {vocab-size: 400}}
arms:
  off: {}
  on:  {env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: single
    source:  {requests: 12, prompt_tokens: 64, output_tokens: 16, seed: 1, vocab_size: 5000}
  - name: wide
    source:  {requests: 12, prompt_tokens: 64, output_tokens: 16, seed: 2, vocab_size: 5000}
    arrival: {kind: closed, streams: 4}
design: {seed: 5, cooldown: 1s}
identity: {prompts: 4, prompt_tokens: 16, output_tokens: 12}
`

// deaf is an engine whose servers end before they answer.
type deaf struct{ enginetest.InProcess }

func (*deaf) Start(_ context.Context, s engine.Spec) (engine.Server, error) {
	log := strings.Repeat("  INFO engine process "+s.Nonce+" loads\n", 11)
	return nil, fmt.Errorf("the server ended before it answered (exit status 1); its log ends with:\n%s  ValueError: \x1b[31mno KV cache fits", log)
}

// failedBlock runs the one block on servers with a fault, as opbench run does, and
// returns what it printed to both streams.
func failedBlock(t *testing.T, servers engine.Engine) (v *view.View, report, progress string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := scenarios.Load("one-block.yaml", []byte(oneBlock), scenarios.Known{})
		require.NoError(t, err)
		plan, err := harness.Plan(s, "one-block.yaml", []byte(oneBlock), version)
		require.NoError(t, err)
		dir, err := results.Create(t.TempDir(), plan, time.Now())
		require.NoError(t, err)
		var out, said bytes.Buffer
		a := &app{stdout: &out, stderr: &said}
		err = a.execute(t.Context(), servers, plan, dir, runFlags{})
		var exit *exitError
		require.True(t, errors.As(err, &exit), "%v", err)
		require.Equal(t, exitInvalid, exit.code)
		v, report, progress = mustView(t, dir), out.String(), said.String()
	})
	return v, report, progress
}

// A server that refuses every prompt gives one cause, whichever rules notice it, in
// whichever phase, arm and attempt: it stands in the first line of everything that
// people read, and nowhere again.
func TestRefusedPromptsAreToldOnce(t *testing.T) {
	v, text, progress := failedBlock(t, &enginetest.InProcess{})
	const cause, often = "out of vocabulary (400 ids)", "6 attempts of 2 arms"
	require.Len(t, v.Causes, 1)
	assert.Equal(t, []view.Reason{"run failed", "request failed"}, v.Causes[0].Names)
	assert.Equal(t, []string{"0001/off", "0001/on", "0001.2/off", "0001.2/on"}, sortedRuns(v))

	report := unwrap(text)
	assert.Regexp(t, `^INVALID\(selection\) Simulated engine, not vLLM: 2 void blocks \(on 2, off 2\), only 1 may be repeated; 0 of 1 planned blocks are valid: status 400: token id \d+ `, report)
	first, _, _ := strings.Cut(report, "note ")
	for _, words := range []string{cause, often} {
		assert.Contains(t, first, words)
		assert.Equal(t, 1, strings.Count(report, words), report)
		for form, write := range map[string]func(*bytes.Buffer) error{
			"Markdown": func(b *bytes.Buffer) error { return render.WriteMarkdown(b, v) },
			"HTML":     func(b *bytes.Buffer) error { return renderers["html"](b, v) },
		} {
			var b bytes.Buffer
			require.NoError(t, write(&b))
			assert.Equal(t, 1, strings.Count(b.String(), words), form)
		}
	}
	comment := post.Result{View: v, Key: "one-block"}.Comment(post.Target{})
	assert.Contains(t, strings.SplitN(comment, "\n", 3)[1], cause)
	assert.Regexp(t, "0001/o.+, 0001/o.+ attempts 1, 2: void: run failed, request failed", report)
	assert.LessOrEqual(t, strings.Count(text, "\n"), 20, text)
	assert.Equal(t, 1, strings.Count(progress, cause), progress)
	assert.Contains(t, progress, "run 0001.2/on is INVALID like run burnin-1/off")
}

// sortedRuns are the runs of the first cause with the baseline's first: the arms of
// an attempt may run in either order.
func sortedRuns(v *view.View) []string {
	var runs []string
	for _, attempt := range []string{"0001", "0001.2"} {
		for _, arm := range []string{"off", "on"} {
			for _, r := range v.Causes[0].Runs {
				if r == attempt+"/"+arm {
					runs = append(runs, r)
				}
			}
		}
	}
	return runs
}

// A start that fails, with a log that would fill the terminal, prints at most 20
// lines: both ends of what was said, once.
func TestFailedStartIsShort(t *testing.T) {
	v, text, progress := failedBlock(t, &deaf{})
	require.Len(t, v.Causes, 1)
	report := unwrap(text)
	assert.LessOrEqual(t, strings.Count(text, "\n"), 20, text)
	for _, words := range []string{"the server ended before it answered (exit status 1)", "no KV cache fits; see server.log.zst of the run (first of 6 attempts of 2 arms)"} {
		assert.Equal(t, 1, strings.Count(report, words), report)
	}
	assert.Less(t, strings.Index(report, "no KV cache fits"), strings.Index(report, "note "), "in the first paragraph")
	for _, line := range strings.Split(strings.TrimSpace(progress), "\n")[1:] {
		assert.Regexp(t, `^\d\d:\d\d:\d\d  (session|run|block|complete)`, line, "an event is one line")
		assert.NotContains(t, line, "\x1b")
	}
	assert.Equal(t, 1, strings.Count(progress, "no KV cache fits"), progress)

	var markdown bytes.Buffer
	require.NoError(t, render.WriteMarkdown(&markdown, v))
	_, folded, _ := strings.Cut(markdown.String(), "<details>")
	assert.Equal(t, 11, strings.Count(folded, "INFO engine process"), "what was shortened is whole in the details")
}
