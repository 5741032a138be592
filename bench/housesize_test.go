package bench

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/bench/internal/house"
)

// What one reads in a sitting.
const (
	roomLines = 2500 // how long report's rooms and new packages may be
	oldLines  = 2750 // those that stood at 7170bf8 and were not longer then
)

// crowded says what is too much in a package. One that stood at 7170bf8 may grow to
// oldLines or, if it was longer then, may not grow at all: no part of it may be added
// without another leaving. Its largest cycle takes no more files than then, or no
// larger share of them. Every other one, above all report's rooms, is a room with at
// most half of its files in one cycle.
func crowded(p house.Package, before map[string]house.Package) []string {
	limit := house.Package{Lines: roomLines, Files: 2, InCycle: 1}
	was, stood := before[p.Path]
	if stood {
		limit, limit.Lines = was, max(oldLines, was.Lines)
	}
	var bad []string
	if p.Lines > limit.Lines {
		bad = append(bad, fmt.Sprintf("%s has %d lines, more than %d: give a part of it a package of its own",
			p.Path, p.Lines, limit.Lines))
	}
	if p.Share() > limit.Share() && (!stood || p.InCycle > was.InCycle) {
		bad = append(bad, fmt.Sprintf("%s: %d of %d files refer to each other in a circle, more than %.0f %%: "+
			"let one side not know the other", p.Path, p.InCycle, p.Files, 100*limit.Share()))
	}
	return bad
}

// isRoom reports whether a package is one of report's rooms.
func isRoom(p string) bool {
	others := []string{"report/stat", "report/export", "report/post"}
	return path.Dir(p) == "report" && !slices.Contains(others, p)
}

// packagesBefore are those of 7170bf8 by path.
func packagesBefore(t *testing.T) map[string]house.Package {
	t.Helper()
	text, err := os.ReadFile("testdata/house/packages.txt")
	require.NoError(t, err)
	_, rows, _ := strings.Cut(string(text), "\n") // without the heading
	before := map[string]house.Package{}
	for row := range strings.Lines(rows) {
		var p house.Package
		var share float64
		_, err := fmt.Sscanf(row, "%d %d %d %f%% %s", &p.Lines, &p.Files, &p.InCycle, &share, &p.Path)
		require.NoError(t, err, row)
		before[p.Path] = p
	}
	return before
}

// No package becomes what report was: 56 files of which 51 knew each other. The
// table in testdata is what make house printed at 7170bf8.
func TestPackagesStayReadable(t *testing.T) {
	all, err := house.Measure("..")
	require.NoError(t, err)
	require.Greater(t, len(all), 20)
	before := packagesBefore(t)
	gone := packagesBefore(t)
	for _, p := range all {
		assert.Empty(t, crowded(p, before))
		delete(gone, p.Path)
		if isRoom(p.Path) {
			assert.NotContains(t, before, p.Path, "a room of report is held to the rule of rooms")
			assert.NotContains(t, before, "report", "report has rooms: take its row out of testdata/house/packages.txt")
		}
	}
	assert.Empty(t, gone, "no such packages: take their rows out of testdata/house/packages.txt")
}

func TestCrowdedPackagesAreFound(t *testing.T) {
	before := map[string]house.Package{
		"bench": {Path: "bench", Lines: 3000, Files: 10, InCycle: 4},
		"small": {Path: "small", Lines: 100, Files: 4},
	}
	for _, c := range []struct {
		p    house.Package
		want int
	}{
		{house.Package{Path: "report/judge", Lines: 2500, Files: 20, InCycle: 10}, 0},
		{house.Package{Path: "report/judge", Lines: 2501, Files: 20, InCycle: 11}, 2},
		{house.Package{Path: "bench", Lines: 3000, Files: 11, InCycle: 4}, 0},
		{house.Package{Path: "bench", Lines: 3000, Files: 8, InCycle: 4}, 0}, // files left, and none of the cycle
		{house.Package{Path: "bench", Lines: 3000, Files: 13, InCycle: 5}, 0},
		{house.Package{Path: "bench", Lines: 3001, Files: 10, InCycle: 5}, 2},
		{house.Package{Path: "small", Lines: 2750, Files: 20}, 0},
		{house.Package{Path: "small", Lines: 2751, Files: 20}, 1},
		{house.Package{Path: "small", Lines: 100, Files: 20, InCycle: 2}, 1},
	} {
		assert.Len(t, crowded(c.p, before), c.want, "%+v", c.p)
	}
	assert.True(t, isRoom("report/view"))
	for _, other := range []string{"report", "report/stat", "report/post/fakegithub", "harness/load"} {
		assert.False(t, isRoom(other), other)
	}
}
