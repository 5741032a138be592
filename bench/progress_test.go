package bench

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/harness"
)

var (
	running = harness.Status{Done: 3, Runs: 14, Run: "block 0001 on", Doing: "phase wide", Last: "run 0001/on starts", Left: 3 * time.Minute}
	later   = harness.Status{Done: 4, Runs: 14, Doing: "starting server", Last: "run 0001/on done"}
)

// Away from a terminal: a line for each event, and a heartbeat, so that nobody
// takes a long run for a hung one.
func TestProgressInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := (&app{stderr: &out}).startProgress(false)
		p.observe(running)
		p.observe(running) // no news
		time.Sleep(heartbeatEvery + time.Second)
		p.observe(later)
		p.stop()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if assert.Len(t, lines, 3) {
			assert.Contains(t, lines[0], "run 0001/on starts")
			assert.Equal(t, "3/14 runs · block 0001 on · phase wide · 30s elapsed, about 3m0s left", lines[1])
			assert.Contains(t, lines[2], "run 0001/on done")
		}
		assert.NotContains(t, out.String(), "\x1b")
	})
}

// On a terminal one line is redrawn; events stay above it.
func TestProgressOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := (&app{stderr: &out, tty: true}).startProgress(false)
		p.observe(running)
		time.Sleep(time.Second + redrawEvery/2)
		p.observe(later)
		p.stop()
		assert.Equal(t, 2, strings.Count(out.String(), "\n"), "only events end a line")
		assert.Equal(t, 5, strings.Count(out.String(), "3/14 runs"), "5 redraws in a second")
		assert.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"), "the line is gone at the end")
	})
}

func TestProgressQuiet(t *testing.T) {
	var out bytes.Buffer
	p := (&app{stderr: &out, tty: true}).startProgress(true)
	p.observe(running)
	p.stop()
	assert.Empty(t, out.String())
}
