package render

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// markdownEscapes defuse what Markdown and GitHub read into text: markup, HTML,
// mentions, issue numbers and bare links. A zero-width space breaks a mention
// also where an entity would be decoded before the mention is looked for.
var markdownEscapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "|", `\|`, "*", `\*`, "_", `\_`,
	"[", `\[`, "]", `\]`, "~", `\~`, "$", `\$`, "!", `\!`,
	"@", "@\u200b", "#", "#\u200b", "://", ":\u200b//", "www.", "www\u200b.",
)

// longest bounds a single text from a run in Markdown, in characters: no name and
// no line of a log may fill a comment.
const longest = 4000

// md makes run data safe as Markdown text.
func md(s string) string { return markdownEscapes.Replace(shortened(view.Clean(s))) }

// shortened cuts what is far too long, before it is escaped.
func shortened(s string) string {
	if len(s) <= longest { // bytes: never fewer than characters
		return s
	}
	r := []rune(s)
	if len(r) <= longest {
		return s
	}
	return fmt.Sprintf("%s … (%s)", string(r[:longest]), view.Plural(len(r)-longest, "more character", "more characters"))
}

// code makes run data safe as a Markdown code span, also inside a table.
func code(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(shortened(view.Clean(s)), "`", "'"), "|", "¦")
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// alerts are GitHub's alert blocks by verdict.
var alerts = map[stat.Verdict]string{
	stat.Pass: "TIP", stat.Fail: "CAUTION", stat.Inconclusive: "WARNING", stat.Invalid: "IMPORTANT", "": "NOTE",
}

// markdown builds the document; strings.Builder does not fail.
type markdown struct{ strings.Builder }

func (m *markdown) f(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (*markdown) list(items []string) string {
	m := &markdown{}
	for _, s := range items {
		m.f("- %s\n", md(s))
	}
	return m.String()
}

func (m *markdown) verdict(v *view.View) {
	m.f("> [!%s]\n> **%s** %s\n\n", alerts[v.Verdict], md(v.Headline()), md(v.Sentence))
}

func (m *markdown) context(v *view.View) {
	for _, n := range v.Notes {
		m.f("- %s\n", md(n))
	}
	if len(v.Notes) > 0 {
		m.f("\n")
	}
	for _, n := range v.Next {
		m.f("**Next:** %s\n\n", md(n))
	}
	m.f("%s\n\n", md(SubjectLine(v)))
}

func (m *markdown) comparison(v *view.View, c *view.Comparison) {
	m.f("### %s against %s", md(c.Candidate), md(c.Baseline))
	if c.Verdict != "" {
		m.f(": %s", md(c.Result.String()))
	}
	if !c.Gating {
		m.f(" (equal arms, not gated)")
	}
	m.f("\n\n")
	untold := append(view.Untold(c.Failed), view.Untold(c.Invalid)...)
	for _, r := range untold {
		m.f("- %s\n", md(r.String()))
	}
	if len(untold) > 0 {
		m.f("\n")
	}
	if !v.Nothing() {
		m.f("%s", phaseTables(v, c, true))
		m.forest(c)
	}
}

// phaseTables are the tables of all phases.
func phaseTables(v *view.View, c *view.Comparison, primary bool) string {
	var all strings.Builder
	for _, p := range c.Phases {
		all.WriteString(phaseTable(v, c, p, primary))
	}
	return all.String()
}

// phaseTable lists the primary metrics of a phase, or the others.
func phaseTable(v *view.View, c *view.Comparison, p view.Phase, primary bool) string {
	m := &markdown{}
	for _, x := range p.Metrics {
		if x.Primary != primary {
			continue
		}
		if m.Len() == 0 {
			m.f("| %s, %s%s | %s | %s | effect | %s %% interval | margin | verdict |\n|---|--:|--:|--:|:-:|--:|---|\n", md(p.Name), md(p.Load),
				simulatedMark(v), md(c.Baseline), md(c.Candidate), view.Plain(v.Level()))
		}
		margin, verdict := view.Plain(x.MarginPct)+" %", md(x.Shown())
		if !primary {
			margin, verdict = "–", "not primary"
		}
		bounds := strings.ReplaceAll(md(view.Interval(x.Lower, x.Upper, x.MarginPct)), "[ ", "[")
		if x.Verdict == stat.Invalid && x.Lower != nil {
			bounds = "<sub>" + bounds + "</sub>"
		}
		m.f("| %s | %s | %s | %s | %s | %s | %s |\n", md(x.Label), view.Amount(x.Baseline, x.Unit), view.Amount(x.Candidate, x.Unit),
			md(view.EffectOf(&x, x.MarginPct)), bounds, margin, verdict)
	}
	if m.Len() > 0 {
		m.f("\n")
	}
	return m.String()
}

// lead begins a line about one of several comparisons.
func lead(v *view.View, c *view.Comparison) string {
	if len(v.Comparisons) < 2 {
		return ""
	}
	return md(c.Name()) + ": "
}

func simulatedMark(v *view.View) string {
	if v.Simulated {
		return " (simulated engine)"
	}
	return ""
}

// forest draws the intervals with characters: images are not allowed in a
// comment.
func (m *markdown) forest(c *view.Comparison) {
	rows := asciiForest(c)
	if rows == nil {
		return
	}
	m.f("```text\n%s\n```\n\n", strings.Join(rows, "\n"))
}

func pairTables(c *view.Comparison) string {
	m := &markdown{}
	for _, p := range c.Primaries() {
		if len(p.Pairs) == 0 {
			continue
		}
		m.f("| %s | first | %s | %s | effect |\n|---|---|--:|--:|--:|\n", md(p.String()), md(c.Baseline), md(c.Candidate))
		for _, x := range p.Pairs {
			m.f("| %s | %s | %s | %s | %s |\n", md(x.Block), md(FirstArm(c, x)), view.Amount(&x.Baseline, p.Unit),
				view.Amount(&x.Candidate, p.Unit), view.Percent(x.Effect, view.NoMargin))
		}
		m.f("\n")
	}
	return m.String()
}

// detailTable shows the parts of each interval, and those that decide nothing.
func detailTable(c *view.Comparison) string {
	m := &markdown{}
	for _, p := range c.Primaries() {
		if p.Detail == nil {
			continue
		}
		if m.Len() == 0 {
			m.f("| metric | %s |\n|---|%s\n", strings.Join(DetailColumns, " | "), strings.Repeat("--:|", len(DetailColumns)))
		}
		m.f("| %s | %s |\n", md(p.String()), strings.Join(DetailCells(p), " | "))
	}
	return m.String()
}

func FirstArm(c *view.Comparison, p view.Pair) string {
	if p.BaselineFirst {
		return c.Baseline
	}
	return c.Candidate
}

func folded(title, body string) string {
	return fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n</details>\n\n", title, strings.TrimRight(body, "\n"))
}

func (*markdown) validity(v *view.View) string {
	m := &markdown{}
	n := v.Blocks
	m.f("%d of %d blocks are valid (%s), %s void, %s. A/A: %s.\n\n", n.Valid, n.Planned, view.Plural(n.ValidRuns, "run", "runs"),
		view.Plural(n.Voided, "attempt", "attempts"), view.Plural(n.BurnIn, "burn-in block", "burn-in blocks"), md(v.AA))
	for _, c := range v.Comparisons {
		if v.Nothing() {
			break
		}
		of := lead(v, &c)
		for _, line := range append(append([]string{}, c.Notes...), c.Comments()...) {
			m.f("- %s%s\n", of, md(line))
		}
		if c.Identity != "" {
			m.f("- %s%s\n", of, md(c.Identity))
		}
	}
	for _, c := range v.ListedCauses() {
		m.f("- cause: %s: %s (%s)\n", md(c.Rules()), md(c.Detail), md(c.Place()))
	}
	for _, r := range v.Runs {
		m.f("- %s\n", md(runLine(&r)))
	}
	for _, a := range v.Aborted {
		m.f("- aborted: block %s, attempt %d, arm %s: %s\n", md(a.Block), a.Attempt, md(a.Arm), md(a.Why))
	}
	for _, e := range v.Earlier {
		m.f("- earlier campaign %s: %s\n", md(e.Campaign), md(e.Verdict))
	}
	return m.String()
}

func (*markdown) secondary(v *view.View) string {
	m := &markdown{}
	for _, c := range v.Comparisons {
		if s := cpuLine(c.CPU); s != "" {
			m.f("- %sCPU seconds%s: %s\n", lead(v, &c), simulatedMark(v), md(s))
		}
		for _, d := range Diagnostics(&c) {
			m.f("- %s%s: %s\n", lead(v, &c), strings.ToLower(d.Title), md(d.Text))
		}
	}
	for _, r := range v.Recorders {
		m.f("- steps of %s\n", md(RecorderLine(&r)))
	}
	return m.String()
}

func (*markdown) environment(v *view.View) string {
	m := &markdown{}
	for _, f := range v.Environment {
		m.f("- %s\n", md(factLine(&f)))
	}
	for _, a := range v.Subject.Arms {
		m.f("- arm %s\n", md(armLine(&a)))
	}
	m.f("- seeds: %s\n", md(seedLine(v.Subject.Seeds)))
	return m.String()
}
