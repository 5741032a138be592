package engine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/aituner/opprof/scenarios"
)

// Scrape is the part of a server's /metrics that explains a run.
type Scrape struct {
	Counters map[string]float64 // the engine's own, summed over engines
	Gauges   map[string]float64 // lengths of the queues, summed over engines
	KVBlocks int64              // size of the KV cache over all engines; 0: not said
}

func parseMetrics(text []byte, names scenarios.MetricNames) (Scrape, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return Scrape{}, fmt.Errorf("GET /metrics: %w", err)
	}
	s := Scrape{Counters: map[string]float64{}, Gauges: map[string]float64{}}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			switch {
			case f.GetType() == dto.MetricType_COUNTER && strings.HasPrefix(name, names.Prefix):
				s.Counters[name] += m.GetCounter().GetValue()
			case name == names.Running || name == names.Waiting:
				s.Gauges[name] += m.GetGauge().GetValue()
			case name == names.CacheConfig:
				s.KVBlocks += cacheBlocks(m)
			}
		}
	}
	return s, nil
}

// cacheBlocks reads the number of blocks out of a label; 0 where it is absent
// or, as before the first profiling run of an engine, no number.
func cacheBlocks(m *dto.Metric) int64 {
	for _, l := range m.GetLabel() {
		if l.GetName() == "num_gpu_blocks" {
			n, err := strconv.ParseInt(l.GetValue(), 10, 64)
			if err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}

// dialOnce hands out one connection that is already open.
func dialOnce(conn net.Conn) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return conn, nil }
}
