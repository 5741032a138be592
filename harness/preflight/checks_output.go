package preflight

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

func opprofDir(j subject) outcome {
	arms := recording(j.s)
	if len(arms) == 0 {
		return skip("no arm records")
	}
	for _, name := range arms {
		a, _ := j.s.Arm(name)
		dir := strings.ReplaceAll(a.Env[scenarios.RecorderVariable], scenarios.RunDirToken, j.Output)
		if !filepath.IsAbs(dir) {
			return fail(`write "{run_dir}/steps"`, "arm %s would record into %s, which depends on the server's working directory", name, dir)
		}
	}
	if j.Recorder != nil {
		return fail("choose another folder with -o, or mend its rights", "records cannot be written below %s: %v", j.Output, j.Recorder)
	}
	return ok("records can be written below %s", j.Output)
}

// Bounds of what a run writes, in bytes. A step record has about 1 KiB, and there
// are up to half as many again as streams that are always full would take; the
// server logs a line for each request, the client keeps one.
const (
	stepBytes    = 3 << 9
	requestBytes = 1 << 9
	tokenBytes   = 8       // of an identity output, in JSON
	runBytes     = 4 << 20 // start of the log, run.json and the rest
	// stepsPerSecond is the rate that the recorder was designed for; it bounds
	// an open loop, whose number of steps hangs on how requests overlap.
	stepsPerSecond = 500
	// spareBytes must be free beside the forecast: vLLM's caches and the
	// system's own logs share the disk.
	spareBytes = 1 << 30
)

// forecast is what a campaign writes at most.
type forecast struct {
	runs  int // with the repeats of void blocks
	steps int // of one recording run
	bytes uint64
}

// foresee bounds the files of the runs that are left. Record files are
// compressed after each run, so that the real campaign is smaller.
func foresee(s *scenarios.Scenario, runs int) forecast {
	f := forecast{runs: runs + (runs+2)/3}
	requests := s.Identity.Prompts
	steps := float64(s.Identity.Prompts * (s.Identity.OutputTokens + 1))
	for _, ph := range s.Phases {
		requests += ph.Source.Requests + ph.Warmup.Requests
		steps += phaseSteps(ph)
	}
	f.steps = int(steps)
	perRun := uint64(runBytes + requests*requestBytes + s.Identity.Prompts*s.Identity.OutputTokens*tokenBytes)
	f.bytes = perRun * uint64(f.runs)
	if arms := len(s.Arms); arms > 0 {
		recordingRuns := (f.runs*len(recording(s)) + arms - 1) / arms
		f.bytes += uint64(f.steps) * stepBytes * uint64(recordingRuns)
	}
	return f
}

// phaseSteps is about the number of scheduler steps: a token each, shared by
// the requests in flight, and the chunks of long prompts.
func phaseSteps(ph scenarios.Phase) float64 {
	n := float64(ph.Source.Requests + ph.Warmup.Requests)
	prefill := n * (1 + mean(ph.Source.PromptTokens)/1024)
	decode := n * mean(ph.Source.OutputTokens)
	if ph.Arrival.Rate > 0 {
		return prefill + min(decode, n/ph.Arrival.Rate*stepsPerSecond)
	}
	return prefill + decode/float64(max(1, ph.Arrival.Streams))
}

// mean of a distribution of token counts; a lognormal's clip is left out, which
// makes the bound larger.
func mean(d scenarios.Dist) float64 {
	switch d.Kind {
	case scenarios.DistUniform:
		return float64(d.Min+d.Max) / 2
	case scenarios.DistLognormal:
		sigma := math.Log(float64(d.P95)/float64(d.Median)) / 1.6449 // 95 % quantile of the normal
		return min(float64(d.Median)*math.Exp(sigma*sigma/2), float64(max(d.Max, d.Median)))
	}
	return float64(d.Value)
}

func diskSpace(j subject) outcome {
	if j.Free.Err != nil {
		return unseen("free space of "+j.Output, j.Free.Err)
	}
	f := foresee(j.s, j.runs)
	finding := size(f.bytes) + " at most for " + plural(f.runs, "run") + " with repeats (about " + plural(f.steps, "step") +
		" in a recording run, requests, logs), " + size(j.Free.Value) + " free in " + j.Output
	switch {
	case j.Free.Value < f.bytes:
		return fail("free space, or choose another folder with -o", "%s", finding)
	case j.Free.Value < f.bytes+spareBytes:
		return warn("free space: caches and logs need some too", "%s", finding)
	}
	return ok("%s", finding)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
