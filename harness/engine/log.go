package engine

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aituner/opprof/results"
)

// Log keeps the lines of a server's log that matter, with the wall time at which
// each was written to it. The zero value is an empty log; it is safe for
// concurrent use.
type Log struct {
	mu    sync.Mutex
	rest  []byte // a line that has no end yet
	found []results.LogLine
}

// logTail follows a server's log file. Lines are read at most tailEvery late.
type logTail struct {
	Log
	path string
	quit chan struct{}
	done chan struct{}
}

const tailEvery = 100 * time.Millisecond

// maxFindings bounds what is kept of each kind; the log itself is complete.
const maxFindings = 50

// logRules say which lines matter. vLLM prints the JIT line for each kernel
// when started with --jit-monitor-verbose.
var logRules = []struct {
	kind results.LogKind
	re   *regexp.Regexp
}{
	{results.LogJIT, regexp.MustCompile(`JIT compilation during inference`)},
	// A traceback counts when it passes through the recorder; vLLM itself
	// prints harmless ones, e.g. for a chat template that a model lacks.
	{results.LogRecorder, regexp.MustCompile(`opprof\.py", line|(?i)(error|warning).*opprof`)},
	{results.LogEngine, regexp.MustCompile(`EngineCore encountered a fatal error|EngineDeadError`)},
	{results.LogProfiler, regexp.MustCompile(`Starting profiler|POST /start_profile`)},
}

func tailLog(path string) *logTail {
	t := &logTail{path: path, quit: make(chan struct{}), done: make(chan struct{})}
	go t.follow()
	return t
}

func (t *logTail) follow() {
	defer close(t.done)
	f, err := os.Open(t.path)
	if err != nil {
		return
	}
	defer f.Close()
	for last := false; ; {
		_, _ = io.Copy(t, f) // to its end for now
		if last {
			_, _ = t.Write([]byte("\n"))
			return
		}
		select {
		case <-t.quit:
			last = true
		case <-time.After(tailEvery):
		}
	}
}

// Write looks at the lines that p ends. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ended := bytes.Cut(l.rest, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		l.line(string(line))
		l.rest = rest
	}
}

func (l *Log) line(text string) {
	for _, r := range logRules {
		if r.re.MatchString(text) {
			l.keep(results.LogLine{Kind: r.kind, WallNS: time.Now().UnixNano(), Text: clip(text, 300)})
			return
		}
	}
}

func (l *Log) keep(line results.LogLine) {
	n := 0
	for _, f := range l.found {
		if f.Kind == line.Kind {
			n++
		}
	}
	if n < maxFindings {
		l.found = append(l.found, line)
	}
}

// Findings are the lines that matter so far, in order.
func (l *Log) Findings() []results.LogLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.found)
}

func (t *logTail) stop() {
	close(t.quit)
	<-t.done
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// lastLines returns the end of a log for an error message.
func lastLines(path string, n int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i := range lines {
		lines[i] = "  " + clip(lines[i], 200)
	}
	return strings.Join(lines, "\n")
}
