package selftest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// ServerConfig is what a step server does.
type ServerConfig struct {
	Model string        // served model name
	Step  time.Duration // time from the start of one burst to the next
}

// Server writes one chunk to every live stream at each step, in one burst, as an
// engine with continuous batching does, and remembers when it wrote what. It
// computes nothing: all that a client measures beside its times is the client.
type Server struct {
	cfg  ServerConfig
	live []*stream // owned by Run

	mu       sync.Mutex
	waiting  []*stream // to go live with the next step
	active   int       // waiting or live
	stopped  bool
	arrived  int
	truth    Truth
	cleared  int64   // when the truth was cleared, host time
	usedThen float64 // CPU seconds of the process at that time
}

// NewServer returns a server that writes nothing before Run.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Step <= 0 || cfg.Model == "" {
		return nil, fmt.Errorf("step server: step %v and model name %q: both must be given", cfg.Step, cfg.Model)
	}
	s := &Server{cfg: cfg}
	s.forget()
	return s, nil
}

// stream is one request that is being answered.
type stream struct {
	tag      int
	received int64
	want     int // tokens
	writes   []int64
	chunks   chunks
	buf      []byte
	w        http.ResponseWriter
	flush    *http.ResponseController
	done     chan struct{} // closed after the last write
}

// Run writes a burst every step until the context ends. A step that took too
// long delays the later ones: nothing is caught up.
func (s *Server) Run(ctx context.Context) {
	defer s.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	for {
		if now := time.Now(); next.Before(now) {
			next = now
		}
		timer.Reset(time.Until(next))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			s.burst()
		}
		next = next.Add(s.cfg.Step)
	}
}

// errStopped is the answer to requests that come too late.
var errStopped = errors.New("the step server is stopping")

// join lets a stream take part from the next step on.
func (s *Server) join(st *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errStopped
	}
	s.waiting = append(s.waiting, st)
	s.active++
	return nil
}

// burst is one step.
func (s *Server) burst() {
	s.admit()
	if len(s.live) == 0 {
		return
	}
	step := Step{StartNS: HostTime(), Live: len(s.live)}
	still := s.live[:0]
	for _, st := range s.live {
		err := st.write()
		if err != nil || len(st.writes) == st.want {
			s.leave(st, err != nil)
			continue
		}
		still = append(still, st)
	}
	clear(s.live[len(still):])
	s.live = still
	step.EndNS = HostTime()
	s.note(step)
}

func (s *Server) admit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = append(s.live, s.waiting...)
	clear(s.waiting)
	s.waiting = s.waiting[:0]
}

// leave ends a stream. Its truth is there before the client can see the end of
// the response, which the handler writes.
func (s *Server) leave(st *stream, aborted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.truth.Requests = append(s.truth.Requests,
		Served{Tag: st.tag, ReceivedNS: st.received, WriteNS: st.writes, Aborted: aborted})
	close(st.done)
}

// note keeps a step, unless the truth was cleared while it ran.
func (s *Server) note(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.StartNS >= s.cleared {
		s.truth.Steps = append(s.truth.Steps, step)
	}
}

// stop ends all streams where they are.
func (s *Server) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.admit()
	for _, st := range s.live {
		s.leave(st, true)
	}
	s.live = nil
}

// write sends the next chunk. The time is taken before: no client can read it
// earlier.
func (st *stream) write() error {
	st.buf = st.chunks.chunk(st.buf[:0], len(st.writes), st.want)
	st.writes = append(st.writes, HostTime())
	if _, err := st.w.Write(st.buf); err != nil {
		return err
	}
	return st.flush.Flush()
}

// forget clears the truth. The caller holds the lock, or is the only one.
func (s *Server) forget() {
	s.truth = Truth{Schema: truthSchema, Kind: truthKind, Requests: []Served{}, Steps: []Step{}}
	s.cleared, s.usedThen = HostTime(), cpuSeconds()
}
