package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// server answers completions over in-memory connections: first token after
// prefill, then one token per step. Token i of an answer is i.
type server struct {
	prefill, step time.Duration
	// fault, if set, may write an answer of its own; n counts requests from 0.
	// It reports whether it did, and the connection is then closed.
	fault func(n int, conn net.Conn) bool
	// hangUp closes the connection without notice after each answer.
	hangUp bool
	// announce sends Connection: close.
	announce bool
	refuse   bool // dials

	mu       sync.Mutex
	requests int
	bodies   []completion
	active   sync.WaitGroup
}

type completion struct {
	Prompt    []int `json:"prompt"`
	MaxTokens int   `json:"max_tokens"`
}

func (s *server) dial(context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		return nil, errors.New("connection refused")
	}
	client, mine := net.Pipe()
	s.active.Go(func() { s.serve(mine) })
	return client, nil
}

func (s *server) stopTaking() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = true
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		var c completion
		if err := json.NewDecoder(request.Body).Decode(&c); err != nil {
			return
		}
		s.mu.Lock()
		n := s.requests
		s.requests++
		s.bodies = append(s.bodies, c)
		s.mu.Unlock()
		if s.fault != nil && s.fault(n, conn) {
			return
		}
		if s.answer(conn, c) != nil || s.hangUp {
			return
		}
	}
}

func (s *server) answer(conn net.Conn, c completion) error {
	time.Sleep(s.prefill)
	head := headText
	if s.announce {
		head = head[:len(head)-2] + "Connection: close\r\n\r\n"
	}
	if _, err := io.WriteString(conn, head); err != nil {
		return err
	}
	for i := range c.MaxTokens {
		finish := ""
		if i > 0 {
			time.Sleep(s.step)
		}
		if i == c.MaxTokens-1 {
			finish = "length"
		}
		if _, err := io.WriteString(conn, chunked(tokensEvent(finish, i))); err != nil {
			return err
		}
	}
	end := chunked(usageEvent(len(c.Prompt), c.MaxTokens)) + chunked(doneEvent) + "0\r\n\r\n"
	_, err := io.WriteString(conn, end)
	return err
}
