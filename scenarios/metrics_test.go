package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// theFive are the metrics of the acceptance rule.
var theFive = []string{"ttft_p50", "ttft_p95", "tpot_p50", "tpot_p95", "output_throughput"}

func metricNames(list []Metric) (names []string) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}

// pooled are the names of what is taken over the gaps of all requests together.
var pooled = map[string]string{"itl_p99": "itl"}

// The code asks the columns of the table and never a name, so a column that does
// not say what name and label say would be believed.
func TestTableSaysWhatNamesSay(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Metrics() {
		assert.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		percentile := fmt.Sprintf("p%.0f", 100*m.Quantile)
		switch m.Kind {
		case Latency:
			assert.Equal(t, cmp.Or(pooled[m.Name], string(m.Of))+"_"+percentile, m.Name)
			assert.True(t, strings.HasSuffix(m.Label, " "+percentile), m.Label)
			assert.Equal(t, "s", m.Unit, m.Name)
			_, ok := MedianOf(m.Of)
			assert.True(t, ok, "%s has no median", m.Of)
		case Throughput:
			assert.True(t, strings.HasSuffix(m.Unit, "/s"), m.Name)
		case Share:
			assert.Equal(t, "%", m.Unit, m.Name)
		default:
			assert.Fail(t, "no kind", m.Name)
		}
		if m.Kind != Latency {
			assert.Empty(t, m.Of, m.Name)
			assert.Zero(t, m.Quantile, m.Name)
		}
		assert.True(t, m.Gateable || !m.Core, "%s: the acceptance rule is about metrics that can be gated", m.Name)
	}
}

// The five of the acceptance rule stay the five, whatever else is measured.
func TestFiveCoreMetrics(t *testing.T) {
	var core []Metric
	for _, m := range Metrics() {
		if m.Core {
			core = append(core, m)
		}
	}
	assert.Equal(t, theFive, metricNames(core))
}

// A name that is not in the table is no metric: nothing is made of a part of it.
func TestFindMetric(t *testing.T) {
	for _, m := range Metrics() {
		found, ok := FindMetric(m.Name)
		assert.True(t, ok)
		assert.Equal(t, m, found)
	}
	for _, name := range []string{"", "throughput", "tpot", "tpot_p99", "TPOT p50", "ttft_p50 "} {
		_, ok := FindMetric(name)
		assert.False(t, ok, name)
	}
	Metrics()[0].Name = "changed"
	assert.Equal(t, "ttft_p50", Metrics()[0].Name)
}

func TestMedianOf(t *testing.T) {
	for of, want := range map[Span]string{TTFT: "ttft_p50", TPOT: "tpot_p50", EndToEnd: "e2e_p50", Gap: "gap_p50"} {
		m, ok := MedianOf(of)
		assert.True(t, ok)
		assert.Equal(t, want, m.Name)
	}
	_, ok := MedianOf("")
	assert.False(t, ok, "a rate has no span")
}

// The schema, the reference, what is gated where a scenario does not say, and
// what a control is set by name metrics that can be gated.
func TestGateableIsWhatOthersName(t *testing.T) {
	var document struct {
		Defs struct{ Metric struct{ Enum []string } } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema(t), &document))
	assert.Equal(t, gateable(), document.Defs.Metric.Enum)
	_, row, found := strings.Cut(readme(t), "\n| `phases[].primary` |")
	require.True(t, found)
	row, _, _ = strings.Cut(row, "\n")
	_, meaning, _ := strings.Cut(row, "|")
	for _, m := range Metrics() {
		assert.Equal(t, m.Gateable, strings.Contains(meaning, m.Name), m.Name)
	}
	for _, kind := range []ArrivalKind{ArrivalClosed, "poisson"} {
		p := Phase{Arrival: Arrival{Kind: kind}}
		completePhase(&file{}, "phases[0]", Overhead, &p)
		assert.NotEmpty(t, p.Primary)
		assert.Subset(t, gateable(), p.Primary)
	}
}

// What cannot be gated cannot be written into a scenario, in any of its phases.
func TestUnknownPrimary(t *testing.T) {
	for name, want := range map[string]bool{"tpot_p95": false, "tpot_p99": true, "gap_p50": true, "": true} {
		s := Scenario{Phases: []Phase{{Primary: []string{"ttft_p50"}}, {Primary: []string{"ttft_p95", name}}}}
		found, ok := s.UnknownPrimary()
		assert.Equal(t, want, ok, name)
		assert.True(t, !want || found == name, found)
	}
}
