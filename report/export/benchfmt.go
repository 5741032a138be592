package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/aituner/opprof/report/view"
)

// benchUnits are the units of the Go benchmark format.
var benchUnits = map[string]string{"s": "sec", "%": "percent"}

func benchUnit(unit string) string { return cmp.Or(benchUnits[unit], unit) }

// Benchfmt writes the analysed runs in the Go benchmark format, one line for
// each run, phase and metric, in base units. benchstat compares the medians of
// the arms without knowing the pairs, so this is not the gate, and the first
// line says so.
func Benchfmt(w io.Writer, v *view.View) error {
	_, err := fmt.Fprintf(w, "# unpaired, not the gate: the verdict is that of the pairs, and is %s\n# %s\n# read with: benchstat -col arm -ignore block FILE\n",
		line(v.Headline()), line(v.Sentence))
	list := allSeries(v)
	out := benchfmt.NewWriter(w)
	for _, u := range benchDirections(list) {
		if err == nil {
			err = out.Write(u)
		}
	}
	for _, r := range benchResults(v, list) {
		if err == nil {
			err = out.Write(r)
		}
	}
	return err
}

// benchDirections says of each unit which values are better.
func benchDirections(list []series) []*benchfmt.UnitMetadata {
	var units []*benchfmt.UnitMetadata
	for _, s := range list {
		unit := benchUnit(s.Unit)
		known := func(u *benchfmt.UnitMetadata) bool { return u.Unit == unit }
		if !slices.ContainsFunc(units, known) {
			key := benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}
			units = append(units, &benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: unit, Value: s.Better})
		}
	}
	return units
}

// benchResults lists the lines run by run: blocks in order, in each its arms.
func benchResults(v *view.View, list []series) []*benchfmt.Result {
	var lines []*benchfmt.Result
	common := benchConfig("opbench", v.Tool, "campaign", v.Subject.Campaign, "scenario", v.Subject.Scenario, "plan", v.Subject.PlanHash,
		"engine", v.Subject.Engine, "model", v.Subject.Model, "hardware", v.Subject.Hardware, "versions", v.Subject.Versions, "verdict", v.Headline())
	for _, s := range list {
		for i, block := range s.blocks {
			lines = append(lines, &benchfmt.Result{
				Config: slices.Concat(common, benchConfig("arm", s.arm, "block", block)),
				Name:   benchfmt.Name("Serve/phase=" + safeName(s.phase.Name) + "/metric=" + s.Name),
				Iters:  1,
				Values: []benchfmt.Value{{Value: s.values[i], Unit: benchUnit(s.Unit)}},
			})
		}
	}
	arms := map[string]int{}
	for i, a := range v.Subject.Arms {
		arms[line(a.Name)] = i
	}
	slices.SortStableFunc(lines, func(a, b *benchfmt.Result) int {
		return cmp.Or(strings.Compare(a.GetConfig("block"), b.GetConfig("block")), cmp.Compare(arms[a.GetConfig("arm")], arms[b.GetConfig("arm")]))
	})
	return lines
}

// benchConfig makes configuration lines of name, value, name, value; an empty
// value would delete the name and is left out.
func benchConfig(pairs ...string) []benchfmt.Config {
	var list []benchfmt.Config
	for i := 0; i < len(pairs); i += 2 {
		if value := line(pairs[i+1]); value != "" {
			list = append(list, benchfmt.Config{Key: pairs[i], Value: []byte(value), File: true})
		}
	}
	return list
}
