package trial

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// CaseNames are the campaigns of TestGolden.
func CaseNames() []string {
	var names []string
	for _, c := range Cases {
		names = append(names, c.Name)
	}
	return names
}

// WriteCase writes the run directory of such a campaign.
func WriteCase(t *testing.T, name string) string {
	t.Helper()
	for _, c := range Cases {
		if c.Name == name {
			return c.Make(t).Write(t.TempDir())
		}
	}
	require.Fail(t, "no case of that name", name)
	return ""
}

// WriteHostile writes a run directory full of names that break formats, and
// 300 KB of log where an error message belongs.
func WriteHostile(t *testing.T) string {
	t.Helper()
	tr := Hostile(t)
	edit := tr.Edit
	tr.Edit = func(r *Recorded) {
		edit(r)
		if r.Run.Key.Block == "0002" {
			r.Requests[2].Error += strings.Repeat("\x1b[31m<log>&\xff ", 25_000)
		}
	}
	return tr.Write(t.TempDir())
}
