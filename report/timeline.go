package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/aituner/opprof/results"
)

// Places of the time line in pixels.
const (
	timeTop        = 20 // below the names of the blocks
	timeLaneHeight = 42 // name of the arm, then its bars
	timeBarAt      = 20 // of a bar in its lane
	timeBarHeight  = 14
	timeSession    = 34 // lane of the sessions
)

// narrowest is the width of a bar that lasted no time, as a share of the plot.
const narrowest = 0.003

// thin bars have no outline, or nothing would be left of them.
const thin = 0.012

// timeLine shows every run of a campaign in wall time.
type timeLine struct {
	Height, Base, SessionY int
	BarHeight              int
	Began                  string // time of the first entry, UTC
	Lanes                  []timeLane
	Blocks                 []tick // names of blocks above their first runs
	Ticks                  []tick
	Breaks                 []string // x of a pause that is not drawn to scale
	Sessions               []timeSpan
	Rows                   []timeRow
}

// timeLane is one arm.
type timeLane struct {
	armStyle
	NameY, BarY, MiddleY int
	Bars                 []timeBar
}

// timeBar is one run. Look are the classes of its bar: counts, thin, open, out.
type timeBar struct {
	X, Width, Middle string
	Look             string
	Crossed          bool
	About            string
}

// timeSpan is a session as a line.
type timeSpan struct{ From, To, Middle, Name string }

// timeRow is one run in the table.
type timeRow struct {
	Run     string
	Attempt int
	Session int
	Began   string // UTC
	Took    string
	State   string
}

// timeLine draws the ledger; nil if no run began. The run's own files are not
// asked: a damaged run has its place too.
func (b *builder) timeLine() *timeLine {
	runs, sessions := timedRuns(b.c.Entries)
	if len(runs) == 0 {
		return nil
	}
	b.nameStates(runs)
	s := newTimeScale(sessions)
	t := &timeLine{
		BarHeight: timeBarHeight, Began: sessions[0].from.UTC().Format("2006-01-02 15:04 UTC"),
		Blocks: blockNames(runs, s), Ticks: s.ticks(), Breaks: s.breaks(), Sessions: sessionLines(sessions, s),
	}
	for i, style := range b.armStyles() {
		t.Lanes = append(t.Lanes, newTimeLane(style, timeTop+i*timeLaneHeight, runs, s))
	}
	lanes := timeTop + timeLaneHeight*len(t.Lanes)
	t.SessionY = lanes + timeSession - 10
	t.Base = lanes + timeSession
	t.Height = t.Base + 22
	for _, r := range runs {
		t.Rows = append(t.Rows, r.row())
	}
	return t
}

// timedRun is a run as the ledger dates it. Whoever killed the process left no
// end.
type timedRun struct {
	key     results.Key
	from    time.Time
	to      time.Time // zero: nobody knows
	session int       // 1-based
	state   RunState
}

// States of runs that the view does not list.
const (
	notEnded RunState = "not ended"
	lost     RunState = "lost"
	sealed   RunState = "sealed" // until the view says what it is worth
)

// timedRuns dates runs and sessions, both in the ledger's order.
func timedRuns(entries []results.Entry) (runs []timedRun, sessions []span) {
	open := map[results.Key]int{}
	for _, e := range entries {
		if e.Event == results.EventSession || len(sessions) == 0 {
			sessions = append(sessions, span{e.Time, e.Time})
		}
		here := len(sessions)
		if last := &sessions[here-1]; e.Time.After(last.to) {
			last.to = e.Time
		}
		switch i, running := open[e.Key()]; {
		case e.Event == results.EventRunStart:
			open[e.Key()] = len(runs)
			runs = append(runs, timedRun{key: e.Key(), from: e.Time, session: here, state: notEnded})
		case running && (e.Event == results.EventRunEnd || e.Event == results.EventRunAbort):
			delete(open, e.Key())
			runs[i].end(e, here)
		}
	}
	return runs, sessions
}

// end takes the entry that closes a run. One that a later session wrote only
// says that the run was found without an end.
func (r *timedRun) end(e results.Entry, session int) {
	r.state = lost
	if e.Event == results.EventRunEnd {
		r.state = sealed
	}
	if r.session == session {
		r.to = e.Time
	}
}

// nameStates says what the ended runs are worth.
func (b *builder) nameStates(runs []timedRun) {
	states := map[results.Key]RunState{}
	for _, r := range b.view.Runs {
		states[results.Key{Block: r.Block, Attempt: r.Attempt, Arm: r.Arm}] = r.State
	}
	for i := range runs {
		if s, known := states[runs[i].key]; known && runs[i].state == sealed {
			runs[i].state = s
		}
	}
}

func newTimeLane(style armStyle, top int, runs []timedRun, s timeScale) timeLane {
	lane := timeLane{armStyle: style, NameY: top + 14, BarY: top + timeBarAt, MiddleY: top + timeBarAt + timeBarHeight/2}
	for _, r := range runs {
		if r.key.Arm == style.Name {
			lane.Bars = append(lane.Bars, r.bar(s))
		}
	}
	return lane
}

func (r *timedRun) row() timeRow {
	took := "not known"
	if !r.to.IsZero() {
		took = significant(r.to.Sub(r.from).Seconds()) + " s"
	}
	return timeRow{r.key.Block + "/" + r.key.Arm, r.key.Attempt, r.session, r.from.UTC().Format("2006-01-02 15:04:05"), took, string(r.state)}
}

func (r *timedRun) bar(s timeScale) timeBar {
	from := min(s.at(r.from), 1-narrowest)
	width := narrowest
	if !r.to.IsZero() {
		width = max(width, s.at(r.to)-from)
	}
	row := r.row()
	bar := timeBar{
		X: share(from), Width: share(width), Middle: share(from + width/2), Look: "out", Crossed: true,
		About: fmt.Sprintf("%s, attempt %d: %s, %s", row.Run, row.Attempt, row.State, row.Took),
	}
	switch r.state {
	case RunValid:
		bar.Look, bar.Crossed = "counts", false
		if width < thin {
			bar.Look += " thin"
		}
	case RunBurnIn, RunOpen:
		bar.Look, bar.Crossed = "open", false
	}
	return bar
}

// blockNames stand above the first run of each attempt of a block, where there
// is room: 4, and 4·2 for the second attempt. Burn-in has none.
func blockNames(runs []timedRun, s timeScale) (names []tick) {
	var row labelRow
	last := results.Key{}
	for _, r := range runs {
		block := results.Key{Block: r.key.Block, Attempt: r.key.Attempt}
		number := strings.TrimLeft(block.Block, "0")
		if block == last || strings.Trim(number, "0123456789") != "" {
			continue
		}
		last = block
		if block.Attempt > 1 {
			number += fmt.Sprintf("·%d", block.Attempt)
		}
		if name := row.add(s.at(r.from), number, "start"); name.Label != "" {
			names = append(names, name)
		}
	}
	return names
}

func sessionLines(sessions []span, s timeScale) (lines []timeSpan) {
	for i, x := range sessions {
		from, to := s.at(x.from), s.at(x.to)
		lines = append(lines, timeSpan{share(from), share(to), share((from + to) / 2), sessionName(i+1, to-from)})
	}
	return lines
}

// sessionName is as long as a session of that share of the width has room for.
func sessionName(number int, width float64) string {
	switch {
	case width > 0.25:
		return fmt.Sprintf("session %d", number)
	case width > 0.06:
		return fmt.Sprint(number)
	}
	return ""
}
