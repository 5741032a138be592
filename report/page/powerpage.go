package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

//go:embed power.html.tmpl
var powerSource string

//go:embed power.css
var powerStyle string

// Places of a plot of power in pixels, and the shares of its width that the
// labels take.
const (
	powerHeight = 170
	powerTop    = 10
	powerBottom = 26
	powerGutter = 0.1
	powerEnd    = 0.97
)

var powerTemplate = template.Must(template.New("power").Funcs(template.FuncMap{
	"clean": view.Clean, "number": view.Plain,
	"subject": func(t *view.PowerTable) string {
		return render.SubjectLine(&view.View{Subject: *t.Subject, Simulated: t.Simulated})
	},
}).Parse(powerSource))

// powerPage is what the template sees.
type powerPage struct {
	*view.PowerTable
	Title     string
	Style     template.CSS
	StyleHash string
	Head      []string
	Plots     []powerPlot
}

// powerPlot is one metric: a curve for each spread and effect.
type powerPlot struct {
	ID, Name, About string
	Height, Base    int
	From, To        string // x of the plot's ends
	Wanted          string // y of the wanted power
	WantedLabel     string
	Ticks           []tick
	Curves          []drawnCurve
	Group           view.PowerGroup
	Rows            [][]string
}

// drawnCurve is a curve in pieces: plots stretch with the page, and only lines
// take places in percent of the width.
type drawnCurve struct {
	Line   string // style class: firm, dashed
	Marker string // path of the shape at every number of blocks
	Fill   string // style class of the shape
	Pieces []piece
	Dots   []place
	Label  string
}

// WritePower renders a table of power as one page with a plot for each
// metric. It asks for nothing else, as the report does.
func WritePower(w io.Writer, t *view.PowerTable) error {
	style := pageStyle + powerStyle
	sum := sha256.Sum256([]byte(style))
	p := powerPage{PowerTable: t, Title: render.Heading(t), Style: template.CSS(style), StyleHash: base64.StdEncoding.EncodeToString(sum[:]), Head: render.Head(t)[1:]}
	for i, g := range t.Groups {
		p.Plots = append(p.Plots, newPowerPlot(t, g, i))
	}
	return powerTemplate.Execute(w, p)
}

func newPowerPlot(t *view.PowerTable, g view.PowerGroup, index int) powerPlot {
	p := powerPlot{
		ID: fmt.Sprintf("power-%d", index), Name: g.Label, Height: powerHeight, Base: powerHeight - powerBottom,
		From: share(powerGutter), To: share(powerEnd), Wanted: powerY(t.PowerPct / 100), WantedLabel: view.Plain(t.PowerPct) + " %", Group: g,
	}
	if g.Phase != "" {
		p.Name += " · " + g.Phase
	} else if len(g.Curves) > 0 {
		p.Name += " · SD of d " + g.Curves[0].SpreadText()
	}
	p.Ticks = blockTicks(t.Blocks)
	for i, c := range g.Curves {
		p.Curves = append(p.Curves, draw(t.Blocks, c, i))
		p.Rows = append(p.Rows, render.CurveCells(c))
	}
	p.About = curveNames(g.Curves)
	return p
}

func curveNames(curves []view.PowerCurve) string {
	var names []string
	for _, c := range curves {
		names = append(names, curveName(c)+": needs "+c.NeededText())
	}
	return strings.Join(names, "; ")
}

func curveName(c view.PowerCurve) string {
	return "SD " + c.SpreadText() + ", effect " + c.EffectText()
}

// shapes tell curves apart that have one style of line.
var shapes = []struct{ path, fill string }{
	{markers[stat.Pass], "baseline-first"}, {markers[stat.Inconclusive], "candidate-first"},
	{markers[stat.Fail], "baseline-first"}, {markers[stat.Invalid], "baseline-first"},
}

// draw makes one curve. Spreads differ by the line, effects by the shape.
func draw(blocks []int, c view.PowerCurve, index int) drawnCurve {
	d := drawnCurve{Line: "firm", Label: curveName(c)}
	if c.Spread == "upper" {
		d.Line = "dashed"
	}
	if c.Spread != "given" {
		index /= 2 // observed and upper share their effect
	}
	shape := shapes[index%len(shapes)]
	d.Marker, d.Fill = shape.path, shape.fill
	for i, power := range c.Power {
		d.Dots = append(d.Dots, place{blocksX(blocks, blocks[i]), powerY(power)})
		if i > 0 {
			d.Pieces = append(d.Pieces, piece{d.Dots[i-1], d.Dots[i]})
		}
	}
	return d
}

// blocksAt is the place of n on a logarithmic axis, as a share of the width.
func blocksAt(blocks []int, n int) float64 {
	lo, hi := math.Log(float64(blocks[0])), math.Log(float64(blocks[len(blocks)-1]))
	at := 0.5
	if hi > lo {
		at = (math.Log(float64(n)) - lo) / (hi - lo)
	}
	return powerGutter + at*(powerEnd-powerGutter)
}

func blocksX(blocks []int, n int) string { return share(blocksAt(blocks, n)) }

// roomForTick is the share of the width that the label of a tick takes.
const roomForTick = 0.065

// blockTicks leave out the labels that would touch the one before.
func blockTicks(blocks []int) (ticks []tick) {
	free := 0.0
	for _, n := range blocks {
		at := blocksAt(blocks, n)
		t := tick{At: share(at)}
		if at >= free {
			t.Label, free = fmt.Sprint(n), at+roomForTick
		}
		ticks = append(ticks, t)
	}
	return ticks
}

func powerY(power float64) string {
	return fmt.Sprintf("%.1f", powerTop+(1-power)*(powerHeight-powerTop-powerBottom))
}
