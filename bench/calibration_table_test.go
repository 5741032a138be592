package bench

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/stat"
)

const (
	calibrationFile = "../report/stat/CALIBRATION.md"
	pipelineBegin   = "<!-- pipeline -->\n"
	pipelineEnd     = "<!-- end -->\n"
	pipelineHead    = "| arms | true cost | campaigns | PASS | simulated | FAIL | simulated | INCONCLUSIVE | simulated |\n" +
		"|---|---|---|---|---|---|---|---|---|\n"
	// recordedCampaigns is from how many on a calibration goes into the table.
	recordedCampaigns = 200
)

// pipelineVerdicts are the columns of the table.
var pipelineVerdicts = [3]stat.Verdict{stat.Pass, stat.Fail, stat.Inconclusive}

// pipelineRow is how often campaigns through the whole pipeline came to each
// verdict, and how often the pure functions do under the same noise.
type pipelineRow struct {
	arms      string
	percent   float64 // true cost
	campaigns int
	got       [3]int
	simulated [3]float64 // of as many campaigns
}

func newPipelineRow(arms string, percent float64, n int, got map[string]int, share map[string]float64) pipelineRow {
	r := pipelineRow{arms: arms, percent: percent, campaigns: n}
	for i, v := range pipelineVerdicts {
		r.got[i], r.simulated[i] = got[string(v)], float64(n)*share[string(v)]
	}
	return r
}

// key is the beginning of the row's line.
func (r pipelineRow) key() string { return fmt.Sprintf("| %s | %g %% | ", r.arms, r.percent) }

const pipelineFormat = "%d | %d | %.1f | %d | %.1f | %d | %.1f |"

func (r pipelineRow) String() string {
	return r.key() + fmt.Sprintf(pipelineFormat, r.campaigns, r.got[0], r.simulated[0], r.got[1], r.simulated[1], r.got[2], r.simulated[2])
}

// hold checks the row and its line in the table; one of enough campaigns becomes
// that line. A line that was never written holds nothing.
func (r pipelineRow) hold(t *testing.T) {
	t.Helper()
	t.Log(r)
	r.check(t)
	table := readPipelineTable(t)
	if r.campaigns >= recordedCampaigns {
		table.write(t, r)
	}
	recorded, found := table.find(t, r)
	if !found {
		t.Logf("%s is not in %s yet: make bench-stat", r.key(), calibrationFile)
		return
	}
	recorded.check(t)
	assert.GreaterOrEqual(t, recorded.campaigns, recordedCampaigns, "%s: too few campaigns: make bench-stat", r.key())
	for i, simulated := range recorded.simulated {
		want := r.simulated[i] / float64(r.campaigns) * float64(recorded.campaigns)
		assert.InDelta(t, want, simulated, .051, "%s: the table is of another simulation: make bench-stat", r.key())
	}
}

// check allows three binomial standard errors, and one campaign more or less.
func (r pipelineRow) check(t assert.TestingT) {
	sum, n := 0, float64(r.campaigns)
	for i, verdict := range pipelineVerdicts {
		sum += r.got[i]
		p := r.simulated[i] / n
		assert.InDelta(t, r.simulated[i], float64(r.got[i]), 3*math.Sqrt(n*p*(1-p))+1, "%s: %s", r.key(), verdict)
	}
	assert.Equal(t, r.campaigns, sum, "%s: campaigns without a verdict of the statistics", r.key())
}

// pipelineTable is the part of CALIBRATION.md that holds the rows.
type pipelineTable struct{ before, rows, after string }

func readPipelineTable(t *testing.T) pipelineTable {
	t.Helper()
	text, err := os.ReadFile(calibrationFile)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), pipelineBegin)
	require.True(t, found)
	rows, after, found := strings.Cut(rest, pipelineEnd)
	require.True(t, found)
	return pipelineTable{before, strings.TrimPrefix(rows, pipelineHead), after}
}

// write puts a row in the place of the one with its key, or at the end.
func (p *pipelineTable) write(t *testing.T, r pipelineRow) {
	t.Helper()
	var lines []string
	found := false
	for line := range strings.Lines(p.rows) {
		if strings.HasPrefix(line, r.key()) {
			line, found = r.String()+"\n", true
		}
		lines = append(lines, line)
	}
	if !found {
		lines = append(lines, r.String()+"\n")
	}
	p.rows = strings.Join(lines, "")
	require.NoError(t, os.WriteFile(calibrationFile, []byte(p.before+pipelineBegin+pipelineHead+p.rows+pipelineEnd+p.after), 0o644))
}

// find reads the row with the key of another one, if there is one.
func (p *pipelineTable) find(t *testing.T, like pipelineRow) (r pipelineRow, found bool) {
	t.Helper()
	for line := range strings.Lines(p.rows) {
		if rest, ok := strings.CutPrefix(line, like.key()); ok {
			r = pipelineRow{arms: like.arms, percent: like.percent}
			_, err := fmt.Sscanf(rest, strings.ReplaceAll(pipelineFormat, "%.1f", "%f"),
				&r.campaigns, &r.got[0], &r.simulated[0], &r.got[1], &r.simulated[1], &r.got[2], &r.simulated[2])
			require.NoError(t, err, line)
			return r, true
		}
	}
	return r, false
}

// A check that can't fail would accept any pipeline.
func TestPipelineRowsAreHeld(t *testing.T) {
	good := pipelineRow{"interleaved", 3, 200, [3]int{2, 3, 195}, [3]float64{2.8, 2.6, 194.6}}
	table := pipelineTable{rows: good.String() + "\n"}
	back, found := table.find(t, good)
	require.True(t, found)
	assert.Equal(t, good, back)
	_, found = table.find(t, pipelineRow{arms: "one after the other", percent: 3})
	assert.False(t, found)
	for what, damage := range map[string]func(*pipelineRow){
		"PASS":           func(r *pipelineRow) { r.got = [3]int{12, 3, 185} },
		"FAIL":           func(r *pipelineRow) { r.got = [3]int{2, 12, 186} },
		"without a verd": func(r *pipelineRow) { r.got[2]-- },
	} {
		var caught complaints
		good.check(&caught)
		require.Empty(t, caught)
		bad := good
		damage(&bad)
		bad.check(&caught)
		assert.Contains(t, strings.Join(caught, "\n"), what)
	}
}

// complaints collects what assertions say.
type complaints []string

func (c *complaints) Errorf(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}
