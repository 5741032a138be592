package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/aituner/opprof/report/stat"
)

//go:embed page.html.tmpl
var pageSource string

//go:embed pictures.html.tmpl
var picturesSource string

//go:embed page.css
var pageStyle string

// styleHash lets the page's policy name its one style sheet and nothing else.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"quantity": quantity,
	"value":    func(x float64, unit string) string { return quantity(&x, unit) },
	"interval": func(lo, hi *float64, margin float64) string {
		return strings.NewReplacer("[ ", "[", " %", "\u00a0%").Replace(interval(lo, hi, margin))
	},
	"maybePercent":  func(x *float64, margin float64) string { return trimmed(maybePercent(x, margin)) },
	"effect":        func(x float64) string { return trimmed(percent(x, noMargin)) },
	"number":        plainNumber,
	"significant":   significant,
	"clean":         clean,
	"shorten":       func(s string) string { return cut(clean(s), 34) },
	"class":         verdictClass,
	"tone":          func(m Metric) string { return verdictClass(m.tone()) },
	"pilotLines":    pilotLines,
	"short":         shortHash,
	"join":          strings.Join,
	"plural":        plural,
	"subject":       subjectLine,
	"remarks":       func(c Comparison) []string { return c.remarks() },
	"stallLine":     func(c Comparison) string { return stallLine(&c) },
	"lagLine":       func(c Comparison) string { return lagLine(&c) },
	"growthLine":    func(c Comparison) string { return growthLine(&c) },
	"orderLine":     func(c Comparison) string { return orderLine(&c) },
	"recorderLine":  func(r Recorder) string { return recorderLine(&r) },
	"firstArm":      func(c Comparison, p Pair) string { return firstArm(&c, p) },
	"primaries":     func(c Comparison) []primary { return c.primaries() },
	"columns":       func() []string { return detailColumns },
	"hasSecondary":  hasSecondary,
	"byPhase":       (*Beside).byPhase,
	"where":         func(rows []Quantity) string { return rows[0].where() },
	"missing":       (*Beside).missing,
	"list":          func(items ...any) []any { return items },
	"quantileNames": quantileNames,
}).Parse(pageSource + picturesSource))

// page is what the template sees.
type page struct {
	*View
	Style     template.CSS
	StyleHash string
	Plots     []plots
	Pictures  *pictures
}

// plots are those of one comparison.
type plots struct {
	Comparison
	Forest *forestPlot
	Pairs  []pairPlot
}

// WriteHTML renders the view as one file that asks for nothing else: its style
// and its plots are inside, and its policy forbids every request. Every string
// that comes from the run is escaped for its place.
func WriteHTML(w io.Writer, v *View) error {
	p := page{View: v, Style: template.CSS(pageStyle), StyleHash: styleHash, Pictures: cmp.Or(v.pictures, &pictures{})}
	for i := range v.Comparisons {
		if !v.Finished {
			break
		}
		c := &v.Comparisons[i]
		p.Plots = append(p.Plots, plots{Comparison: *c, Forest: newForestPlot(c, i), Pairs: newPairPlots(c, i)})
	}
	return pageTemplate.Execute(w, p)
}

// verdictClass is the style class of a verdict; its word is always shown too.
func verdictClass(v stat.Verdict) string {
	switch v {
	case stat.Pass, stat.Fail, stat.Inconclusive, stat.Invalid:
		return strings.ToLower(string(v))
	}
	return "none"
}

func hasSecondary(p Phase) bool {
	for _, m := range p.Metrics {
		if !m.Primary {
			return true
		}
	}
	return false
}

// share writes a place on an axis as a percentage of the plot's width: plots
// stretch with the page while their text keeps its size.
func share(x float64) string { return fmt.Sprintf("%.2f%%", 100*x) }
