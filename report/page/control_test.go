package page

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

// verdictWords are those of the gate, as a word of its own.
var verdictWords = regexp.MustCompile(`\b(PASS|FAIL|INCONCLUSIVE)\b`)

// In a control no table and no plot shows the gate's own word beside the
// control's: FAIL would read as bad where it is what is wanted.
func TestControlSpeaksOneLanguage(t *testing.T) {
	t.Parallel()
	for _, tr := range []*trial.Trial{trial.Control(t), trial.Missed(t)} {
		v := built(t, tr.Write(t.TempDir()))
		c := &v.Comparisons[0]
		rows := []string{primaryPart(t, v)}
		for _, mark := range newForestPlot(c, 0).Rows {
			rows = append(rows, mark.Word, mark.Text)
			assert.NotEmpty(t, mark.Marker, mark.Word)
		}
		assert.Empty(t, verdictWords.FindAllString(strings.Join(rows, "\n"), -1))
		for _, p := range v.Comparisons[0].Primaries() {
			assert.Contains(t, rows[0], "| "+string(p.Control.Outcome))
		}
	}
}

// primaryPart are the tables and the forest of the Markdown, without their heading.
func primaryPart(t *testing.T, v *view.View) string {
	t.Helper()
	for _, s := range render.Sections(v) {
		if s.Title == "primary metrics" {
			_, rest, _ := strings.Cut(s.Text, "\n")
			return rest
		}
	}
	require.Fail(t, "no primary metrics")
	return ""
}
