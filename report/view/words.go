package view

import (
	"fmt"
	"strings"
	"unicode"
)

// Words say in one line what was found about a metric. They are rounded as in
// every report: never across the margin.
func (m *Metric) Words(v *View) string {
	words := fmt.Sprintf("effect %s, %s %% interval %s", MaybePercent(m.Effect, m.MarginPct),
		Plain(v.Level()), Interval(m.Lower, m.Upper, m.MarginPct))
	if m.Primary {
		words += fmt.Sprintf(", margin %s %%", Plain(m.MarginPct))
	}
	return words
}

// Level is the two-sided confidence of the intervals in percent: several looks
// share the error of one.
func (v *View) Level() float64 {
	if v.Subject.LevelPct != 0 {
		return v.Subject.LevelPct
	}
	return v.Subject.Confidence
}

// Clean makes one printable line of what comes from a run: no line breaks, no
// terminal sequences, no invisible or reordering characters.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// ShortHash is the beginning of a hash, enough to tell plans apart.
func ShortHash(s string) string { return fmt.Sprintf("%.8s", s) }

// StallLine compares the stalls of both arms.
func StallLine(c *Comparison) string {
	s := c.Stalls
	line := fmt.Sprintf("%s %d in %s s, %s %d in %s s (p = %.2g); largest gap %s and %s", c.Baseline, s.Baseline, Significant(s.BaselineSeconds),
		c.Candidate, s.Candidate, Significant(s.CandidateSeconds), s.P, Amount(&s.LargestBaseline, "s"), Amount(&s.LargestCandidate, "s"))
	if s.Flagged {
		line = "STALLS: " + line
	}
	return line
}

// Line is clean for other packages.
func Line(s string) string { return Clean(s) }
