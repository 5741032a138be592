package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The exports are tested on the same campaigns, from outside of this package:
// they import it.

// CaseNames are the campaigns of TestGolden.
func CaseNames() []string {
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// WriteCase writes the run directory of such a campaign.
func WriteCase(t *testing.T, name string) string {
	t.Helper()
	for _, c := range cases {
		if c.name == name {
			return c.make(t).write(t.TempDir())
		}
	}
	require.Fail(t, "no case of that name", name)
	return ""
}

// WriteHostile writes a run directory full of names that break formats, and
// 300 KB of log where an error message belongs.
func WriteHostile(t *testing.T) string {
	t.Helper()
	tr := hostileTrial(t)
	edit := tr.edit
	tr.edit = func(r *recorded) {
		edit(r)
		if r.run.Key.Block == "0002" {
			r.requests[2].Error += strings.Repeat("\x1b[31m<log>&\xff ", 25_000)
		}
	}
	return tr.write(t.TempDir())
}

// Golden compares with a file of report/export/testdata, see golden.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	golden(t, "../export/testdata/"+name, got)
}
