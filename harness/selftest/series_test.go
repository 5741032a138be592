package selftest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every number of streams gets a point and a row, and a wrong one among them is found
// before the first is measured.
func TestSeries(t *testing.T) {
	s := Series{Trial: Trial{PerStream: 1, Tokens: 4, Step: 2 * time.Millisecond}, Streams: []int{1, 2},
		ServerCPU: -1, ClientCPU: -1}
	require.NoError(t, s.Check())
	var text bytes.Buffer
	r, err := s.Measure(t.Context(), running(t, 2*time.Millisecond, nil), testModel, "v", &text)
	require.NoError(t, err)
	require.Len(t, r.Points, 2)
	assert.Equal(t, []int{1, 2}, []int{r.Points[0].Streams, r.Points[1].Streams})
	assert.Contains(t, text.String(), "server on any core, client on any core")
	assert.Equal(t, 7, strings.Count(text.String(), "\n"), "three lines above the table, two of heading, a row for each")

	s.Streams = []int{1, 0}
	assert.ErrorContains(t, s.Check(), "0 streams")
}

// A core that was named stays; nothing is chosen for a server that runs already.
func TestChooseCPUs(t *testing.T) {
	cpus, err := CPUs()
	require.NoError(t, err)
	if len(cpus) < 2 {
		t.Skip("one core: there is no choice")
	}
	s := Series{ServerCPU: -1, ClientCPU: 99}
	require.NoError(t, s.ChooseCPUs(true))
	assert.Equal(t, []int{-1, 99}, []int{s.ServerCPU, s.ClientCPU})
	s = Series{ServerCPU: -1, ClientCPU: -1}
	require.NoError(t, s.ChooseCPUs(false))
	assert.Equal(t, cpus[:2], []int{s.ServerCPU, s.ClientCPU})
}
