package page

import (
	"fmt"
	"time"

	"github.com/aituner/opprof/report/view"
)

// timeScale maps wall time onto a plot. A long pause between sessions would
// press the runs into points: it gets a gap of fixed width.
type timeScale struct {
	pieces []view.Span // drawn to scale, in order
	starts []float64   // where each begins, from 0 to 1
	unit   float64     // share of the width for a second
}

// Of a time scale: a pause longer than this share of all sessions is a gap, and
// so wide is it.
const (
	longPause = 0.15
	gapWidth  = 0.04
)

func newTimeScale(sessions []view.Span) timeScale {
	total := 0.0
	for _, s := range sessions {
		total += s.Seconds()
	}
	scale := timeScale{pieces: []view.Span{sessions[0]}}
	for _, s := range sessions[1:] {
		last := &scale.pieces[len(scale.pieces)-1]
		if s.From.Sub(last.To).Seconds() > longPause*total {
			scale.pieces = append(scale.pieces, s)
		} else if s.To.After(last.To) {
			last.To = s.To
		}
	}
	scale.place()
	return scale
}

// place lays the pieces side by side.
func (s *timeScale) place() {
	drawn := 0.0
	for _, p := range s.pieces {
		drawn += p.Seconds()
	}
	gaps := min(0.5, gapWidth*float64(len(s.pieces)-1))
	s.unit = (1 - gaps) / max(drawn, 1e-9)
	at := 0.0
	for _, p := range s.pieces {
		s.starts = append(s.starts, at)
		at += p.Seconds()*s.unit + gaps/float64(max(1, len(s.pieces)-1))
	}
}

// at returns the place of a time, from 0 to 1; a time within a gap sits on the
// gap's end.
func (s *timeScale) at(t time.Time) float64 {
	for i, p := range s.pieces {
		if !t.After(p.To) {
			return min(1, s.starts[i]+max(0, t.Sub(p.From).Seconds())*s.unit)
		}
	}
	return 1
}

// breaks are the middles of the gaps.
func (s *timeScale) breaks() (at []string) {
	for i := range s.pieces[1:] {
		end := s.at(s.pieces[i].To)
		at = append(at, share((end+s.starts[i+1])/2))
	}
	return at
}

// roundSpans are the distances of ticks.
var roundSpans = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour,
}

// ticks are round times since the first entry, about five of them.
func (s *timeScale) ticks() (ticks []tick) {
	seconds := 1 / s.unit // that the whole width would last
	step := roundStep(seconds / 5.5)
	began := s.pieces[0].From
	var row labelRow
	for i, p := range s.pieces {
		first := (p.From.Sub(began) + step - 1) / step * step
		for d := first; d >= 0 && !began.Add(d).After(p.To); d += step {
			at := s.starts[i] + began.Add(d).Sub(p.From).Seconds()*s.unit
			ticks = append(ticks, row.add(at, elapsed(d), anchor(at)))
		}
	}
	return ticks
}

// roundStep is the shortest round span of at least so many seconds.
func roundStep(seconds float64) time.Duration {
	for _, d := range roundSpans {
		if d.Seconds() >= seconds {
			return d
		}
	}
	step := roundSpans[len(roundSpans)-1]
	for step.Seconds() < seconds {
		step *= 2
	}
	return step
}

// elapsed writes a round time since the beginning.
func elapsed(d time.Duration) string {
	hours := int(d / time.Hour)
	if d%time.Minute != 0 {
		return fmt.Sprintf("%d:%02d:%02d", hours, int(d/time.Minute)%60, int(d/time.Second)%60)
	}
	return fmt.Sprintf("%d:%02d", hours, int(d/time.Minute)%60)
}
