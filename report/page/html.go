// Package page writes a view as one HTML page with its pictures, and saves a view
// with its renderings in a run directory.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
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
	"quantity": view.Amount,
	"value":    func(x float64, unit string) string { return view.Amount(&x, unit) },
	"interval": func(lo, hi *float64, margin float64) string {
		return strings.NewReplacer("[ ", "[", " %", "\u00a0%").Replace(view.Interval(lo, hi, margin))
	},
	"maybePercent":  func(x *float64, margin float64) string { return view.MaybePercent(x, margin) },
	"effect":        func(x float64) string { return view.Percent(x, view.NoMargin) },
	"number":        view.Plain,
	"significant":   view.Significant,
	"clean":         func(x any) string { return view.Clean(fmt.Sprint(x)) },
	"shorten":       func(s string) string { return render.Cut(view.Clean(s), 34) },
	"class":         verdictClass,
	"tone":          func(m view.Metric) string { return verdictClass(m.Tone()) },
	"pilotLines":    render.PilotLines,
	"short":         view.ShortHash,
	"join":          strings.Join,
	"plural":        view.Plural,
	"subject":       render.SubjectLine,
	"remarks":       func(c view.Comparison) []string { return c.Comments() },
	"diagnostics":   func(c view.Comparison) []render.Diagnostic { return render.Diagnostics(&c) },
	"quiet":         render.Quiet,
	"effectOf":      func(m view.Metric) string { return view.EffectOf(&m, m.MarginPct) },
	"untold":        func(p plots) []view.Finding { return append(view.Untold(p.Failed), view.Untold(p.Invalid)...) },
	"causes":        (*view.View).ListedCauses,
	"runWhy":        func(r view.Run) string { return render.RunWhy(&r) },
	"recorderLine":  func(r view.Recorder) string { return render.RecorderLine(&r) },
	"firstArm":      func(c view.Comparison, p view.Pair) string { return render.FirstArm(&c, p) },
	"primaries":     func(c view.Comparison) []view.Placed { return c.Primaries() },
	"detailCells":   render.DetailCells,
	"cells":         render.Cells,
	"columns":       func() []string { return render.DetailColumns },
	"hasSecondary":  hasSecondary,
	"byPhase":       (*view.Beside).ByPhase,
	"where":         func(rows []view.Quantity) string { return rows[0].Where() },
	"missing":       (*view.Beside).Missing,
	"list":          func(items ...any) []any { return items },
	"quantileNames": quantileNames,
}).Parse(pageSource + picturesSource))

// page is what the template sees.
type page struct {
	*view.View
	Style     template.CSS
	StyleHash string
	Plots     []plots
	Pictures  *pictures
}

// plots are those of one comparison.
type plots struct {
	view.Comparison
	Forest *forestPlot
	Pairs  []pairPlot
}

// Write renders the view as one file that asks for nothing else: its style
// and its plots are inside, and its policy forbids every request. Every string
// that comes from the run is escaped for its place.
func Write(w io.Writer, v *view.View) error {
	p := page{View: v, Style: template.CSS(pageStyle), StyleHash: styleHash, Pictures: newPictures(v)}
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

func hasSecondary(p view.Phase) bool {
	for _, m := range p.Metrics {
		if !m.Primary {
			return true
		}
	}
	return false
}
