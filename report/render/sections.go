package render

import (
	"io"
	"strings"

	"github.com/aituner/opprof/report/view"
)

// Section is a part of the Markdown report that stands or falls as a whole: no
// table and no fold reaches beyond it.
type Section struct {
	Title string // for a list of what was left out
	Text  string // Markdown; everything from a run is escaped
	// Keep orders what is left out where room is short, the smallest first; 0 is
	// the verdict, which never is.
	Keep int
}

// Ranks of Section.Keep: how much a reader would miss it.
const (
	keepAlways = iota
	keepBeside
	keepEnvironment
	keepPairs
	keepSecondary
	keepDetail
	keepValidity
	keepNeeds
	keepReproduce
	keepContext
	keepPrimary
)

// Sections renders the view as the parts of a pull-request comment, in order. The
// verdict, which is first, is at most some 40 000 bytes long, whatever a run says.
func Sections(v *view.View) []Section {
	s := &sections{}
	s.add(keepAlways, "verdict", func(m *markdown) { m.verdict(v) })
	s.add(keepContext, "notes", func(m *markdown) { m.context(v) })
	for i := range v.Comparisons {
		if v.Finished {
			s.comparison(v, &v.Comparisons[i])
		}
	}
	m := &markdown{}
	s.fold(keepNeeds, "What would decide it", m.list(v.Needs))
	s.fold(keepDetail, "The pilot of the control", m.list(PilotLines(v)))
	s.fold(keepValidity, "Validity and runs", m.validity(v))
	s.fold(keepSecondary, "Beside the metrics", m.secondary(v))
	s.fold(keepBeside, "Beside the requests", m.besideRequests(v))
	s.fold(keepEnvironment, "Environment", m.environment(v))
	s.add(keepReproduce, "how to run it again", func(m *markdown) { m.again(v) })
	return s.list
}

type sections struct{ list []Section }

func (s *sections) add(keep int, title string, write func(*markdown)) {
	m := &markdown{}
	write(m)
	s.list = append(s.list, Section{title, m.String(), keep})
}

func (s *sections) fold(keep int, title, body string) {
	if body != "" {
		s.list = append(s.list, Section{title, folded(title, body), keep})
	}
}

func (s *sections) comparison(v *view.View, c *view.Comparison) {
	s.add(keepPrimary, "primary metrics", func(m *markdown) { m.comparison(v, c) })
	s.fold(keepSecondary, "Metrics that are not primary", phaseTables(v, c, false))
	s.fold(keepPairs, "Pairs in run order", pairTables(c))
	s.fold(keepDetail, "Intervals in detail", detailTable(c))
}

// WriteMarkdown renders the view as the body of a pull-request comment. The
// verdict and the primary metrics are open, everything else is folded. Every
// string that comes from the run is escaped.
func WriteMarkdown(w io.Writer, v *view.View) error {
	var all strings.Builder
	for _, s := range Sections(v) {
		all.WriteString(s.Text)
	}
	_, err := io.WriteString(w, all.String())
	return err
}

func (m *markdown) again(v *view.View) {
	m.f("**Again:** %s\n\n", code(v.Reproduce))
	if v.ErrorRate != "" {
		m.f("Error rate: %s.\n\n", md(v.ErrorRate))
	}
	m.f("<sub>opbench %s · rules %s · %s</sub>\n", md(v.Tool), md(v.RulesLine()), md(v.Subject.Campaign))
}
