// Package export writes what a campaign means in the formats of other tools:
// JUnit XML, the Go benchmark format, records for the PyTorch benchmark
// database (HUD), llm-d benchmark reports, and Parquet. Numbers and verdicts are
// those of the view that package judge made; nothing is judged here. A view that
// was read back from verdict.json gives the same bytes, and so does the same run
// directory: only Parquet reads it, because its rows are not in the view.
//
// Every string that comes from a run is cut to one clean line, except in
// Parquet, where it is data and only made valid UTF-8.
package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// RefusedError says that a format must not get the numbers of a campaign.
type RefusedError struct {
	Format string
	Result string // of the campaign
	Code   int    // exit code that goes with it
	Why    string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("export %s: the campaign is %s: %s; use --format junit or parquet", e.Format, e.Result, e.Why)
}

// measured refuses campaigns whose numbers a database would take for
// measurements although they decide nothing, and views without runs: those of a
// verdict.json that was written before they were part of it.
func measured(format string, v *view.View) error {
	if v.Finished && v.Verdict != stat.Invalid {
		if v.Measured == nil {
			return fmt.Errorf("export %s: the view of %s has no runs: write its verdict.json again with opbench report --save",
				format, line(v.Subject.Campaign))
		}
		return nil
	}
	return &RefusedError{Format: format, Result: line(v.Headline()), Code: v.ExitCode, Why: "a database of measurements must not get its numbers"}
}

// mostRunes bounds what is quoted from a run; verdict.json has it in full.
const mostRunes = 1000

// line makes one short line of what comes from a run.
func line(s string) string {
	s = view.Line(s)
	if utf8.RuneCountInString(s) <= mostRunes {
		return s
	}
	return string([]rune(s)[:mostRunes]) + "…"
}

// mostName bounds names that become part of a file or benchmark name.
const mostName = 120

// safeName makes a word for file and benchmark names: letters, digits, "_", "-"
// and inner dots stay, every other byte becomes %XX. Different names stay
// different.
func safeName(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= mostName {
		return b.String()
	}
	sum := sha256.Sum256([]byte(s))
	return b.String()[:mostName] + "~" + hex.EncodeToString(sum[:8])
}

// place is a metric where it stands in the view.
type place struct {
	*view.Metric
	comparison *view.Comparison
	phase      *view.Phase
}

// places lists all metrics of a view in its order.
func places(v *view.View) []place {
	var list []place
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		for j := range c.Phases {
			p := &c.Phases[j]
			for k := range p.Metrics {
				list = append(list, place{&p.Metrics[k], c, p})
			}
		}
	}
	return list
}

// series are the values of one metric in the analysed runs of one arm, in the
// order of the blocks.
type series struct {
	place
	arm    string
	blocks []string
	values []float64
}

// allSeries lists every arm's metrics once: the baseline of several comparisons
// has the same runs in each.
func allSeries(v *view.View) []series {
	var list []series
	seen := map[[3]string]bool{}
	for _, m := range places(v) {
		for _, arm := range []string{m.comparison.Baseline, m.comparison.Candidate} {
			key := [3]string{arm, m.phase.Name, m.Name}
			if len(m.Pairs) > 0 && !seen[key] {
				seen[key] = true
				list = append(list, seriesOf(m, arm))
			}
		}
	}
	return list
}

func seriesOf(m place, arm string) series {
	s := series{place: m, arm: arm}
	for _, p := range m.Pairs {
		value := p.Candidate
		if arm == m.comparison.Baseline {
			value = p.Baseline
		}
		s.blocks, s.values = append(s.blocks, p.Block), append(s.values, value)
	}
	return s
}

// patchOf is the patch of an arm.
func patchOf(v *view.View, arm string) view.Arm {
	for _, a := range v.Subject.Arms {
		if a.Name == arm {
			return a
		}
	}
	return view.Arm{}
}

// settingsOf are those of an arm's server.
func settingsOf(v *view.View, arm string) view.Settings {
	for _, s := range v.Measured.Arms {
		if s.Arm == arm {
			return s
		}
	}
	return view.Settings{Arm: arm, TensorParallel: 1}
}
