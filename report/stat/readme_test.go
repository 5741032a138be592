package stat

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented holds a part of README.md, between comments, against what the tests
// found. With -update it writes the part.
func documented(t *testing.T, begin, want string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme := &table{text: string(text)}
	require.Equal(t, 1, strings.Count(readme.text, begin))
	if *update {
		readme.replace(begin, want)
		require.NoError(t, os.WriteFile("README.md", []byte(readme.text), 0o644))
	}
	assert.Equal(t, want, readme.section(begin), "go test ./report/stat -run %s -update writes it", t.Name())
}

// The README's error rates are those of the calibration, one design a line.
func TestReadmeErrorRates(t *testing.T) {
	rows := readTable(t).rows
	var text strings.Builder
	text.WriteString("| design, blocks |")
	for _, of := range noises {
		text.WriteString(" " + of.name + " |")
	}
	text.WriteString("\n|---|" + strings.Repeat("---|", len(noises)))
	for _, c := range cells() {
		if c.noise.name == noises[0].name && c.below == 0 && !c.noBound {
			fmt.Fprintf(&text, "\n| %s, %d |", c.design, c.n)
			for _, of := range noises {
				other := *c
				other.noise = of
				fmt.Fprintf(&text, " %.1f |", rows[other.name()].percent())
			}
		}
	}
	documented(t, "<!-- rates -->\n", text.String()+"\n")
}

// So are the rates where none is promised.
func TestReadmeUnbounded(t *testing.T) {
	rows := readTable(t).rows
	var text strings.Builder
	text.WriteString("| noise | 6 blocks | 8 | 10 |\n|---|---|---|---|\n")
	all := unbounded()
	for i := 0; i < len(all); i += 3 {
		fmt.Fprintf(&text, "| %s, %s |", all[i].design, all[i].noise.name)
		for _, c := range all[i : i+3] {
			fmt.Fprintf(&text, " %.1f |", rows[c.name()].percent())
		}
		text.WriteString("\n")
	}
	documented(t, "<!-- unbounded -->\n", text.String())
}

// And what adjusting a FAIL does.
func TestReadmeFails(t *testing.T) {
	rows := wholeRows(t, readTable(t))
	var text strings.Builder
	text.WriteString("| metrics × comparisons, true cost, SD of d, blocks | some metric above the margin | FAIL |\n|---|---|---|\n")
	for _, w := range wholes() {
		if w.cost == 0 && w.sd < .1 { // power
			continue
		}
		r := rows[w.name()]
		fmt.Fprintf(&text, "| %s | %.1f | %.1f |\n", w.name(), 100*float64(r.singly)/float64(r.campaigns), 100*float64(r.fail)/float64(r.campaigns))
	}
	documented(t, "<!-- fails -->\n", text.String())
}

// And so is what a design costs.
func TestReadmeCosts(t *testing.T) {
	rows := readTable(t).rows
	var text strings.Builder
	text.WriteString("| design, most blocks | blocks used | t alone | gate |\n|---|---|---|---|\n")
	for _, c := range powerCells() {
		r := rows[c.name()]
		fmt.Fprintf(&text, "| %s, %d | %.1f | %.0f | %.0f |\n", strings.TrimPrefix(c.design, "power: "), c.n, r.Blocks,
			100*float64(r.TPass)/float64(r.Campaigns), r.percent())
	}
	documented(t, "<!-- costs -->\n", text.String())
}
