package engine

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aituner/opprof/results"
)

// logTail follows a server's log file and keeps the lines that matter with the
// wall time at which they were read (at most tailEvery late).
type logTail struct {
	path string
	quit chan struct{}
	done chan struct{}

	mu    sync.Mutex
	found []results.LogLine
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
	var rest []byte
	for last := false; ; {
		chunk, _ := io.ReadAll(f)
		rest = t.lines(append(rest, chunk...))
		if last {
			t.line(string(rest))
			return
		}
		select {
		case <-t.quit:
			last = true
		case <-time.After(tailEvery):
		}
	}
}

// lines handles the whole lines of data and returns the unfinished rest.
func (t *logTail) lines(data []byte) []byte {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return data
		}
		t.line(string(data[:i]))
		data = data[i+1:]
	}
}

func (t *logTail) line(text string) {
	for _, r := range logRules {
		if r.re.MatchString(text) {
			t.keep(results.LogLine{Kind: r.kind, WallNS: time.Now().UnixNano(), Text: clip(text, 300)})
			return
		}
	}
}

func (t *logTail) keep(l results.LogLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, f := range t.found {
		if f.Kind == l.Kind {
			n++
		}
	}
	if n < maxFindings {
		t.found = append(t.found, l)
	}
}

func (t *logTail) findings() []results.LogLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]results.LogLine(nil), t.found...)
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
