package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only exit code 11 gives way, and never in silence.
func TestLeniencyTouchesNothingElse(t *testing.T) {
	for code := range 20 {
		for _, l := range []leniency{inconclusiveFails, inconclusivePasses, ""} {
			var said bytes.Buffer
			a := &app{stderr: &said}
			err := a.lenient(l, exitWith(code))
			if code == 0 || code == 11 && l == inconclusivePasses {
				assert.NoError(t, err, code)
			} else {
				var exit *exitError
				require.ErrorAs(t, err, &exit)
				assert.Equal(t, code, exit.code)
			}
			lines := strings.Count(said.String(), "\n")
			if code == 11 && l == inconclusivePasses {
				assert.Equal(t, 1, lines, "one line says so")
			} else {
				assert.Zero(t, lines, code)
			}
		}
	}
	broken := errors.New("broken")
	assert.Equal(t, broken, (&app{}).lenient(inconclusivePasses, broken))
}

// A campaign that ends INCONCLUSIVE, from the harness to the exit.
func TestInconclusiveCampaignPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := campaign(t, t.TempDir(), fmt.Sprintf(gateScenario, `noise: 1%, run-noise: 12%, record-cost: 0%`), nil)
		var out, said bytes.Buffer
		a := &app{stdout: &out, stderr: &said}
		assert.NoError(t, a.lenient(inconclusivePasses, a.verdict(dir)))
		assert.True(t, strings.HasPrefix(out.String(), "INCONCLUSIVE"), "the report says what it says")
		assert.Contains(t, said.String(), "--inconclusive=pass")
	})
}
