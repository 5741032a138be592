package engine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// parseCounters keeps vLLM's counters (and the simulated engine's, which has
// the same names).
func parseCounters(text []byte) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("GET /metrics: %w", err)
	}
	out := map[string]float64{}
	for name, f := range families {
		if f.GetType() != dto.MetricType_COUNTER || !strings.HasPrefix(name, "vllm:") {
			continue
		}
		for _, m := range f.GetMetric() {
			out[name] += m.GetCounter().GetValue()
		}
	}
	return out, nil
}

// dialOnce hands out one connection that is already open.
func dialOnce(conn net.Conn) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return conn, nil }
}
