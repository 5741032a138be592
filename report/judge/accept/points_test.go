package accept

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/view"
)

// Every step is in one bin, whatever its time.
func TestStepTimesCountEveryStep(t *testing.T) {
	t.Parallel()
	times := StepTimes{}
	for _, x := range []float64{0, -1, 1e-9, 1e-5, 0.04, 0.04, 0.5, 3, 900, 1e9} {
		times.add(x)
	}
	bins := times.Bins()
	assert.Equal(t, [2]int64{0, 3}, bins[0], "what is no time is the shortest one")
	h := view.Histogram{Bins: bins}
	assert.Equal(t, int64(10), h.Total())
}
