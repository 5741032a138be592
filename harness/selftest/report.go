package selftest

import (
	"fmt"
	"io"
	"time"
)

// Report is the JSON document of a selftest.
type Report struct {
	Schema  int    `json:"schema"`
	Kind    string `json:"kind"` // "selftest"
	Version string `json:"version"`
	// StepSeconds is the step that the server was asked for.
	StepSeconds  float64 `json:"step_s"`
	PromptTokens int     `json:"prompt_tokens"`
	Tokens       int     `json:"tokens"`
	PerStream    int     `json:"requests_per_stream"`
	Together     bool    `json:"together"`
	// ServerCPU and ClientCPU are the cores that the two processes were bound
	// to, -1: not bound.
	ServerCPU int     `json:"server_cpu"`
	ClientCPU int     `json:"client_cpu"`
	Points    []Point `json:"points"`
}

// Failed is the number of failed requests.
func (r *Report) Failed() int {
	n := 0
	for i := range r.Points {
		n += r.Points[i].Failed
	}
	return n
}

const (
	headFormat = "%7s %8s %6s %7s  %8s %8s  %8s %8s  %8s %8s  %7s %7s  %8s %10s %7s\n"
	rowFormat  = "%7d %8d %6d %7.1f  %+8.3f %+8.3f  %+8.3f %+8.3f  %8.3f %8.3f  %7.2f %7.2f  %8.0f %10.0f %7.2f%s\n"
)

// WriteHead prints what stands above the rows.
func (r *Report) WriteHead(w io.Writer) error {
	start := "streams start one after the other"
	if r.Together {
		start = "all streams start at once and stay in step"
	}
	fmt.Fprintf(w, "opbench %s client against a burst step server: step %v, %d prompt and %d output tokens, %s\n",
		r.Version, time.Duration(r.StepSeconds*float64(time.Second)), r.PromptTokens, r.Tokens, start)
	fmt.Fprintf(w, "server on %s, client on %s; errors are client minus truth of the same request, all times in ms\n\n",
		core(r.ServerCPU), core(r.ClientCPU))
	fmt.Fprintf(w, headFormat, "", "", "", "mean", "TTFT", "error", "TPOT", "error", "read", "lag", "server", "server",
		"chunks/s", "chunks per", "client")
	_, err := fmt.Fprintf(w, headFormat, "streams", "requests", "failed", "live", "p50", "p95", "p50", "p95", "p50", "p95",
		"step", "burst", "read", "CPU s", "CPU s")
	return err
}

func core(cpu int) string {
	if cpu < 0 {
		return "any core"
	}
	return fmt.Sprintf("CPU %d alone", cpu)
}

// WriteRow prints one point.
func (r *Report) WriteRow(w io.Writer, p Point) error {
	note := ""
	if r.Behind(p) {
		note = "  server behind its step"
	}
	const ms = 1e3
	_, err := fmt.Fprintf(w, rowFormat, p.Streams, p.Requests, p.Failed, p.MeanLive,
		ms*p.TTFT.Error.P50, ms*p.TTFT.Error.P95, ms*p.TPOT.Error.P50, ms*p.TPOT.Error.P95, ms*p.ReadLag.P50, ms*p.ReadLag.P95,
		ms*p.StepP50, ms*p.BurstP50, p.ChunksPerSecond, p.Capacity, p.ClientCPUSeconds, note)
	if err == nil && p.Failed > 0 {
		_, err = fmt.Fprintf(w, "        first failure: %s\n", p.FirstFailure)
	}
	return err
}

// Behind reports whether the server's median step was more than a tenth above
// the one that was asked for: then its own speed bounds the row.
func (r *Report) Behind(p Point) bool { return p.StepP50 > 1.1*r.StepSeconds }
