package page

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/view"
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

// timeLinePlot shows every run of a campaign in wall time.
type timeLinePlot struct {
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
	State   view.RunState
}

// newTimeLine draws every run and session.
func newTimeLine(styles []armStyle, x *view.TimeLine) *timeLinePlot {
	s := newTimeScale(x.Sessions)
	t := &timeLinePlot{
		BarHeight: timeBarHeight, Began: x.Sessions[0].From.UTC().Format("2006-01-02 15:04 UTC"),
		Blocks: blockNames(x.Runs, s), Ticks: s.ticks(), Breaks: s.breaks(), Sessions: sessionLines(x.Sessions, s),
	}
	for i, style := range styles {
		t.Lanes = append(t.Lanes, newTimeLane(style, timeTop+i*timeLaneHeight, x.Runs, s))
	}
	lanes := timeTop + timeLaneHeight*len(t.Lanes)
	t.SessionY = lanes + timeSession - 10
	t.Base = lanes + timeSession
	t.Height = t.Base + 22
	for _, r := range x.Runs {
		t.Rows = append(t.Rows, timeRowOf(r))
	}
	return t
}

func newTimeLane(style armStyle, top int, runs []view.TimedRun, s timeScale) timeLane {
	lane := timeLane{armStyle: style, NameY: top + 14, BarY: top + timeBarAt, MiddleY: top + timeBarAt + timeBarHeight/2}
	for _, r := range runs {
		if r.Arm == style.Name {
			lane.Bars = append(lane.Bars, timeBarOf(r, s))
		}
	}
	return lane
}

func timeRowOf(r view.TimedRun) timeRow {
	took := "not known"
	if r.To != nil {
		took = view.Significant(r.To.Sub(r.From).Seconds()) + " s"
	}
	return timeRow{r.Block + "/" + r.Arm, r.Attempt, r.Session, r.From.UTC().Format("2006-01-02 15:04:05"), took, r.State}
}

func timeBarOf(r view.TimedRun, s timeScale) timeBar {
	from := min(s.at(r.From), 1-narrowest)
	width := narrowest
	if r.To != nil {
		width = max(width, s.at(*r.To)-from)
	}
	row := timeRowOf(r)
	bar := timeBar{
		X: share(from), Width: share(width), Middle: share(from + width/2), Look: "out", Crossed: true,
		About: fmt.Sprintf("%s, attempt %d: %s, %s", row.Run, row.Attempt, row.State, row.Took),
	}
	switch r.State {
	case view.RunValid:
		bar.Look, bar.Crossed = "counts", false
		if width < thin {
			bar.Look += " thin"
		}
	case view.RunBurnIn, view.RunBlockOpen:
		bar.Look, bar.Crossed = "open", false
	}
	return bar
}

// blockNames stand above the first run of each attempt of a block, where there
// is room: 4, and 4·2 for the second attempt. Burn-in has none.
func blockNames(runs []view.TimedRun, s timeScale) (names []tick) {
	var row labelRow
	last, attempt := "", 0
	for _, r := range runs {
		number := strings.TrimLeft(r.Block, "0")
		if r.Block == last && r.Attempt == attempt || strings.Trim(number, "0123456789") != "" {
			continue
		}
		last, attempt = r.Block, r.Attempt
		if r.Attempt > 1 {
			number += fmt.Sprintf("·%d", r.Attempt)
		}
		if name := row.add(s.at(r.From), number, "start"); name.Label != "" {
			names = append(names, name)
		}
	}
	return names
}

func sessionLines(sessions []view.Span, s timeScale) (lines []timeSpan) {
	for i, x := range sessions {
		from, to := s.at(x.From), s.at(x.To)
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
