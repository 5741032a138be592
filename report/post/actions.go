package post

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
)

// Summary appends the report to the file of a job's summary: what needs no token,
// and so what the pull request of a fork shows.
func (r Result) Summary(path string) error {
	return appendTo(path, fit(render.Sections(r.View), safeLink(r.Link), SummaryBudget)+"\n")
}

// Output appends what a later step may ask for to the file of a step's output:
// verdict (a word, "" without one), result, exit_code, plan.
func (r Result) Output(path string) error {
	var b strings.Builder
	for _, o := range []struct{ name, value string }{
		{"verdict", string(r.View.Verdict)}, {"result", r.View.Headline()}, {"exit_code", fmt.Sprint(r.View.ExitCode)}, {"plan", r.View.Subject.PlanHash},
	} {
		fmt.Fprintf(&b, "%s=%s\n", o.name, strings.NewReplacer("\r", " ", "\n", " ").Replace(o.value))
	}
	return appendTo(path, b.String())
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// mostAnnotations of one kind that GitHub Actions shows for a step.
const mostAnnotations = 10

// Annotate writes a workflow command for each primary metric that failed; for a
// verdict without such a metric one with the verdict itself. A PASS has none.
func (r Result) Annotate(w io.Writer) error {
	var lines []string
	for _, c := range r.View.Comparisons {
		for _, p := range c.Phases {
			for _, m := range p.Metrics {
				if m.Primary && m.Fails() {
					lines = append(lines, command("error", "opbench: "+m.Label+", "+p.Name, failure(c, m)))
				}
			}
		}
	}
	if more := len(lines) - mostAnnotations; more > 0 {
		lines = append(lines[:mostAnnotations-1], command("error", "opbench", fmt.Sprintf("%d more metrics failed; see the report", more+1)))
	}
	if len(lines) == 0 && !r.passes() {
		lines = append(lines, command("error", "opbench: "+r.View.Headline(), r.View.Sentence))
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func failure(c view.Comparison, m view.Metric) string {
	text := fmt.Sprintf("%s against %s costs more than %g %%", c.Candidate, c.Baseline, m.MarginPct)
	if m.Effect != nil && m.Lower != nil {
		text += fmt.Sprintf(": %+.2f %%, at least %+.2f %%", *m.Effect, *m.Lower)
	}
	return text
}

var (
	commandText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command is a workflow command; a run's text can't begin another one in it.
func command(kind, title, text string) string {
	return fmt.Sprintf("::%s title=%s::%s\n", kind, commandValue.Replace(cut(title, 200)), commandText.Replace(cut(text, 2000)))
}
