package bench

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/report/view"
)

const (
	redrawEvery    = 200 * time.Millisecond // on a terminal
	heartbeatEvery = 30 * time.Second       // elsewhere
)

// progress tells a person or a CI log where a campaign stands. It shows counts
// and health, never effects: who sees them is tempted to stop early.
type progress struct {
	w     io.Writer
	tty   bool
	begin time.Time
	quit  chan struct{}
	done  chan struct{}

	mu sync.Mutex
	st harness.Status
}

func (a *app) startProgress(quiet bool) *progress {
	p := &progress{w: a.stderr, tty: a.tty, begin: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	if quiet {
		p.w, p.tty = io.Discard, false
	}
	go p.loop()
	return p
}

func (p *progress) loop() {
	defer close(p.done)
	every := heartbeatEvery
	if p.tty {
		every = redrawEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			p.beat()
			p.mu.Unlock()
		}
	}
}

func (p *progress) beat() {
	if p.tty {
		fmt.Fprintf(p.w, "\r\x1b[K%.*s", 110, p.line())
		return
	}
	fmt.Fprintln(p.w, p.line())
}

// observe takes a new state and prints the event that led to it.
func (p *progress) observe(st harness.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := st.Last != p.st.Last
	p.st = st
	if !news {
		return
	}
	if p.tty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "%s  %s\n", time.Now().Format(time.TimeOnly), view.Clean(st.Last))
}

func (p *progress) line() string {
	left := "unknown"
	if p.st.Left > 0 {
		left = "about " + p.st.Left.Round(time.Second).String()
	}
	parts := []string{fmt.Sprintf("%d/%d runs", p.st.Done, p.st.Runs)}
	for _, part := range []string{p.st.Run, p.st.Doing} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	parts = append(parts, fmt.Sprintf("%s elapsed, %s left", time.Since(p.begin).Round(time.Second), left))
	return strings.Join(parts, " · ")
}

// since sets when what is shown began, if that is known.
func (p *progress) since(begin time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !begin.IsZero() {
		p.begin = begin
	}
}

func (p *progress) stop() {
	close(p.quit)
	<-p.done
	if p.tty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
