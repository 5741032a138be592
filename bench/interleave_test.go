package bench

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/view"
)

// On a host whose speed wanders by 5 %, runs one after the other decide nothing
// and arms that take turns find the true cost.
func TestInterleavedArmsOnADriftingHost(t *testing.T) {
	for _, c := range []struct{ name, args, design, want string }{
		{"one after the other", "record-cost: 0%", "cooldown: 40s", "INCONCLUSIVE"},
		{"in turns, no cost", "record-cost: 0%", "cooldown: 40s, interleave: {slice: 1s, settle: 200ms}", "PASS"},
		{"in turns, 8 % cost", "record-cost: 8%", "cooldown: 40s, interleave: {slice: 1s, settle: 200ms}", "FAIL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var v *view.View
			parent := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				text := fmt.Sprintf(gateScenario, "noise: 1%, host-drift: 5%, host-seed: 4, "+c.args)
				text = strings.Replace(text, "blocks: 6, seed: 5, burn_in_blocks: 1, cooldown: 1s", "blocks: 8, seed: 5, burn_in_blocks: 1, "+c.design, 1)
				v = mustView(t, campaign(t, parent, text, nil))
			})
			assert.Equal(t, c.want, string(v.Verdict), v.Sentence)
			turns := strings.Contains(c.design, "interleave")
			assert.Equal(t, turns, v.Subject.AdjustOrder)
			assert.Equal(t, turns, strings.Contains(strings.Join(v.Notes, "\n"), "interleaved: "), v.Notes)
		})
	}
}
