package page

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

var noon = time.Date(2026, 12, 4, 12, 0, 0, 0, time.UTC)

// entry is one of a ledger, so many minutes after noon.
func entry(minutes int, event results.Event, block string, attempt int, arm string) results.Entry {
	return results.Entry{Time: noon.Add(time.Duration(minutes) * time.Minute), Event: event, Block: block, Attempt: attempt, Arm: arm}
}

// interrupted is a campaign whose tool was killed in block 2 and went on a day
// later.
func interrupted() []results.Entry {
	const day = 24 * 60
	return []results.Entry{
		entry(0, results.EventSession, "", 0, ""),
		entry(0, results.EventRunStart, "0001", 1, "off"), entry(9, results.EventRunEnd, "0001", 1, "off"),
		entry(10, results.EventRunStart, "0001", 1, "on"), entry(19, results.EventRunEnd, "0001", 1, "on"),
		entry(19, results.EventBlockValid, "0001", 1, ""),
		entry(20, results.EventRunStart, "0002", 1, "on"),
		entry(day, results.EventSession, "", 0, ""),
		entry(day, results.EventRunAbort, "0002", 1, "on"), entry(day, results.EventBlockVoid, "0002", 1, ""),
		entry(day+2, results.EventRunStart, "0002", 2, "on"), entry(day+11, results.EventRunEnd, "0002", 2, "on"),
		entry(day+12, results.EventRunStart, "0002", 2, "off"),
	}
}

// lineOf is the time line of a ledger whose ended runs are valid.
func lineOf(t *testing.T, entries []results.Entry) *timeLinePlot {
	t.Helper()
	var runs []view.Run
	for _, e := range entries {
		if e.Event == results.EventRunEnd {
			runs = append(runs, view.Run{Block: e.Block, Attempt: e.Attempt, Arm: e.Arm, State: view.RunValid})
		}
	}
	points := evidence.Plots(&accept.Accepted{Campaign: &results.Campaign{Entries: entries}}, runs)
	if points.TimeLine == nil {
		return nil
	}
	return newTimeLine(armStyles([]view.Arm{{Name: "off"}, {Name: "on"}}), points.TimeLine)
}

// What was lost, repeated or is open must be told apart from what counts, and
// nobody knows when a killed run ended.
func TestTimeLineTellsLostRunsFromValidOnes(t *testing.T) {
	t.Parallel()
	line := lineOf(t, interrupted())
	want := []timeRow{
		{"0001/off", 1, 1, "2026-12-04 12:00:00", "540.0 s", "valid"},
		{"0001/on", 1, 1, "2026-12-04 12:10:00", "540.0 s", "valid"},
		{"0002/on", 1, 1, "2026-12-04 12:20:00", "not known", "lost"},
		{"0002/on", 2, 2, "2026-12-05 12:02:00", "540.0 s", "valid"},
		{"0002/off", 2, 2, "2026-12-05 12:12:00", "not known", "not ended"},
	}
	assert.Equal(t, want, line.Rows)
	on := line.Lanes[1]
	require.Len(t, on.Bars, 3)
	assert.Equal(t, []string{"counts", "out", "counts"}, []string{on.Bars[0].Look, on.Bars[1].Look, on.Bars[2].Look})
	assert.True(t, on.Bars[1].Crossed)
	assert.Equal(t, []string{"1", "2", "2·2"}, labels(line.Blocks))
	assert.Len(t, line.Sessions, 2)
}

func labels(ticks []tick) (all []string) {
	for _, t := range ticks {
		if t.Label != "" {
			all = append(all, t.Label)
		}
	}
	return all
}

// A night between two sessions must not press the runs into points.
func TestTimeLineCutsLongPauses(t *testing.T) {
	t.Parallel()
	line := lineOf(t, interrupted())
	assert.Len(t, line.Breaks, 1)
	assert.Greater(t, percentIn(t, line.Lanes[0].Bars[0].Width), 20.0, "9 of 32 minutes")
	assert.Contains(t, labels(line.Ticks), "24:10")

	entries := interrupted()
	for i := 7; i < len(entries); i++ {
		entries[i].Time = entries[i].Time.Add(-24*time.Hour + 22*time.Minute)
	}
	assert.Empty(t, lineOf(t, entries).Breaks, "two minutes are no gap")
}

func percentIn(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	require.NoError(t, err)
	return x
}

// A run that was begun again under its old name is not the one that was lost.
func TestLostRunDoesNotInheritTheState(t *testing.T) {
	t.Parallel()
	line := lineOf(t, []results.Entry{
		entry(0, results.EventSession, "", 0, ""),
		entry(0, results.EventRunStart, "0001", 1, "off"), entry(3, results.EventRunAbort, "0001", 1, "off"),
		entry(4, results.EventRunStart, "0001", 1, "off"), entry(9, results.EventRunEnd, "0001", 1, "off"),
	})
	require.Len(t, line.Rows, 2)
	assert.Equal(t, view.RunLost, line.Rows[0].State)
	assert.Equal(t, "180.0 s", line.Rows[0].Took)
	assert.Equal(t, view.RunValid, line.Rows[1].State)
	assert.Nil(t, lineOf(t, nil))
}

// Every place is inside the image and the axis has an end, also where the wall
// clock jumped or was never set.
func FuzzTimeLineStaysInsideTheImage(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0))
	f.Add(int64(60e9), int64(-3600e9), int64(1))
	f.Add(int64(-1<<63), int64(1<<63-1), int64(-1<<63))
	f.Add(int64(1<<62), int64(1<<62), int64(1<<62))
	f.Fuzz(func(t *testing.T, a, b, c int64) {
		entries := interrupted()
		for i, shift := range []int64{a, b, c} {
			entries[3*i+1].Time = entries[3*i+1].Time.Add(time.Duration(shift))
		}
		line := lineOf(t, entries)
		for _, lane := range line.Lanes {
			for _, bar := range lane.Bars {
				x, width := percentIn(t, bar.X), percentIn(t, bar.Width)
				assert.True(t, x >= 0 && width > 0 && x+width <= 100.05, "bar from %s, %s wide", bar.X, bar.Width)
			}
		}
		assert.LessOrEqual(t, len(line.Ticks), 60)
	})
}

// An axis has at least two labels that do not touch, however wide it is.
func TestTimeAxisLabels(t *testing.T) {
	t.Parallel()
	for _, ends := range [][2]float64{{0.0152, 0.0161}, {0.08, 0.085}, {0.01, 0.02}, {0.02, 0.2}, {0.001, 0.06}, {1e-5, 3}, {1e-6, 1e4}, {0.5, 0.5}, {-1, 0}, {0.9, 12}} {
		ticks := timeAxisOf(ends[0], ends[1]).ticks(0.1)
		names := labels(ticks)
		assert.GreaterOrEqual(t, len(names), 2, "%v: %v", ends, names)
		assert.LessOrEqual(t, len(ticks), 20, "%v", ends)
		last := -1.0
		for _, tick := range ticks {
			if tick.Label != "" {
				at := percentIn(t, tick.At) / 100
				assert.Greater(t, at, last+0.1, "%v: %v", ends, names)
				last = at
			}
		}
	}
}
