package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
)

// A first start that compiles for minutes must not end every later session
// minutes too early.
func TestNextRunForgetsTheFirst(t *testing.T) {
	s := replay(&results.Plan{}, nil)
	assert.Zero(t, s.next())
	now := time.Unix(0, 0)
	run := func(d time.Duration) {
		s.apply(results.Entry{Event: results.EventRunStart, Block: "0001", Time: now})
		now = now.Add(d)
		s.apply(results.Entry{Event: results.EventRunEnd, Block: "0001", Time: now})
	}
	run(3 * time.Minute)
	run(time.Minute)
	run(2 * time.Minute)
	assert.Equal(t, 3*time.Minute, s.next())
	run(time.Minute)
	assert.Equal(t, 2*time.Minute, s.next(), "of the last three")
}
