package stat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	tableFile = "CALIBRATION.md"
	// firstCampaigns of every row are simulated again by the normal tests.
	firstCampaigns = 60
)

// row is one cell of the calibration, in counts of campaigns.
type row struct {
	Cell                              string
	Campaigns                         int
	Blocks                            float64 // used, on average
	TPass, Pass, Fail                 int     // with the t bound alone; with the gate
	Checked, OnlyProduct, OnlyReduced int
	First                             int // passes among the first campaigns
}

// rowFormat has no spaces in a field but the cell's.
const rowFormat = "%d | %.2f | %d | %d | %.2f | %d | %d/%d/%d | %d |"

func (r row) String() string {
	return fmt.Sprintf("| %s | "+rowFormat, r.Cell, r.Campaigns, r.Blocks, r.TPass, r.Pass, r.percent(), r.Fail,
		r.Checked, r.OnlyReduced, r.OnlyProduct, r.First)
}

func (r row) percent() float64 { return 100 * float64(r.Pass) / float64(r.Campaigns) }

func parseRow(line string) (r row, err error) {
	cell, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
	if !ok {
		return r, fmt.Errorf("no row: %q", line)
	}
	r.Cell = cell
	var percent float64
	_, err = fmt.Sscanf(rest, strings.ReplaceAll(rowFormat, "%.2f", "%f"), &r.Campaigns, &r.Blocks, &r.TPass, &r.Pass, &percent,
		&r.Fail, &r.Checked, &r.OnlyReduced, &r.OnlyProduct, &r.First)
	return r, err
}

// table is CALIBRATION.md.
type table struct {
	rows map[string]row
	text string
}

func readTable(t *testing.T) *table {
	t.Helper()
	text, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	all := &table{rows: map[string]row{}, text: string(text)}
	for line := range strings.Lines(all.section(rowsBegin)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| cell") {
			continue
		}
		r, err := parseRow(strings.TrimSpace(line))
		require.NoError(t, err, line)
		require.NotZero(t, r.Campaigns, line)
		all.rows[r.Cell] = r
	}
	return all
}

// The parts of the file that tests write lie between comments.
const (
	rowsBegin  = "<!-- rows -->\n"
	looksBegin = "<!-- looks -->\n"
	partEnd    = "<!-- end -->\n"
)

func (a *table) section(begin string) string {
	_, rest, _ := strings.Cut(a.text, begin)
	inside, _, _ := strings.Cut(rest, partEnd)
	return inside
}

func (a *table) replace(begin, with string) {
	before, rest, _ := strings.Cut(a.text, begin)
	_, after, _ := strings.Cut(rest, partEnd)
	a.text = before + begin + with + partEnd + after
}

const rowsHead = "| cell: design, noise, blocks | campaigns | blocks used | t alone | gate | gate % | FAIL | reduced bootstrap | first 60 |\n" +
	"|---|---|---|---|---|---|---|---|---|\n"

// write puts the rows into the file, in the order of the cells.
func (a *table) write(t *testing.T) {
	t.Helper()
	var text strings.Builder
	text.WriteString(rowsHead)
	for _, c := range cells() {
		if r, ok := a.rows[c.name()]; ok {
			text.WriteString(r.String() + "\n")
		}
	}
	a.replace(rowsBegin, text.String())
	a.save(t)
}

func (a *table) save(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(tableFile, []byte(a.text), 0o644))
}

func TestRowsAreReadAsWritten(t *testing.T) {
	want := row{"looks 10 and 20, left skew, 20", 20_000, 17.25, 512, 480, 77, 500, 2, 3, 4}
	got, err := parseRow(want.String())
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for _, damaged := range []string{"", "| plain", "| plain | many | 2 |", strings.TrimSuffix(want.String(), "4 |")} {
		_, err := parseRow(damaged)
		assert.Error(t, err, damaged)
	}
}

// Names are the keys of the table and the seeds of the simulations.
func TestCellNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cells() {
		assert.False(t, seen[c.name()], c.name())
		seen[c.name()] = true
	}
	for name := range researched {
		assert.True(t, seen[name], "%s is no cell", name)
	}
}
