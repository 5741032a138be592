package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

// hudRecord is one row of the PyTorch benchmark database, schema v3 (table
// oss_ci_benchmark_v3 of pytorch/test-infra), as producers write it. The
// uploader adds time, repository, commit, job and runner.
type hudRecord struct {
	Benchmark    hudBenchmark             `json:"benchmark"`
	Model        hudModel                 `json:"model"`
	Metric       hudMetric                `json:"metric"`
	Dependencies map[string]hudDependency `json:"dependencies,omitempty"`
}

type hudBenchmark struct {
	Name      string            `json:"name"`
	Mode      string            `json:"mode"`
	Dtype     string            `json:"dtype,omitempty"`
	ExtraInfo map[string]string `json:"extra_info"`
}

type hudModel struct {
	Name    string `json:"name"`
	Backend string `json:"backend"`
}

type hudMetric struct {
	Name string `json:"name"`
	// Values are those of the blocks, in their order: pairs stay pairs.
	Values    []float64         `json:"benchmark_values"`
	Target    *float64          `json:"target_value,omitempty"`
	ExtraInfo map[string]string `json:"extra_info,omitempty"`
}

type hudDependency struct {
	Repo    string `json:"repo"`
	Version string `json:"version"`
}

// hudMetrics gives metrics the names that HUD's dashboards know; times are in
// milliseconds there.
var hudMetrics = map[string]string{
	"ttft_p50": "median_ttft_ms", "ttft_p95": "p95_ttft_ms", "tpot_p50": "median_tpot_ms", "tpot_p95": "p95_tpot_ms",
	"e2e_p50": "median_e2el_ms", "e2e_p95": "p95_e2el_ms", "output_throughput": "tokens_per_second", "request_rate": "requests_per_second",
}

func hudName(m *view.Metric) string {
	if m.Unit == "s" {
		return cmp.Or(hudMetrics[m.Name], m.Name+"_ms")
	}
	return cmp.Or(hudMetrics[m.Name], m.Name)
}

// HUD writes a JSON list of records for the PyTorch benchmark database: for
// each arm, phase and metric its values by block, and for each comparison the
// regression in percent by block with the margin as the target. It refuses a
// campaign that is INVALID, not finished, or without metrics.
func HUD(w io.Writer, v *view.View) error {
	if err := measured("hud", v); err != nil {
		return err
	}
	list := allSeries(v)
	if len(list) == 0 {
		return &RefusedError{Format: "hud", Result: line(v.Headline()), Code: 2, Why: "it has no metrics"}
	}
	h := hud{v}
	var records []hudRecord
	for _, s := range list {
		records = append(records, h.values(s))
	}
	for _, m := range places(v) {
		if m.Effect != nil {
			records = append(records, h.regression(m))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(records); err != nil {
		return fmt.Errorf("write HUD records: %w", err)
	}
	return nil
}

type hud struct{ v *view.View }

func (h *hud) values(s series) hudRecord {
	factor := 1.0
	if s.Unit == "s" {
		factor = 1000
	}
	values := make([]float64, len(s.values))
	for i, x := range s.values {
		values[i] = factor * x
	}
	patch := patchOf(h.v, s.arm)
	info := h.info(s.place)
	info["arm"], info["patch"], info["patch_sha"] = line(s.arm), line(patch.Patch), line(patch.PatchSHA256)
	return h.record(s.arm, info, hudMetric{Name: hudName(s.Metric), Values: values})
}

func (h *hud) regression(m place) hudRecord {
	values := make([]float64, len(m.Pairs))
	for i, p := range m.Pairs {
		values[i] = p.Effect
	}
	info := h.info(m)
	info["baseline"], info["candidate"] = line(m.comparison.Baseline), line(m.comparison.Candidate)
	metric := hudMetric{Name: m.Name + "_regression_pct", Values: values, Target: &m.MarginPct, ExtraInfo: map[string]string{
		"effect_pct": number(m.Effect), "lower_pct": number(m.Lower), "upper_pct": number(m.Upper), "gate": line(m.Shown()),
	}}
	return h.record(m.comparison.Candidate, info, metric)
}

// info is what all records of a phase say about the campaign. Values are
// strings: the database's columns are maps of strings.
func (h *hud) info(m place) map[string]string {
	s := &h.v.Subject
	return map[string]string{
		"scenario": line(s.Scenario), "campaign": line(s.Campaign), "plan_hash": line(s.PlanHash), "phase": line(m.phase.Name), "load": line(m.phase.Load),
		"pairs": strconv.Itoa(len(m.Pairs)), "primary": strconv.FormatBool(m.Primary), "result": line(h.v.Headline()),
		"simulated": strconv.FormatBool(h.v.Simulated), "hardware": line(s.Hardware), "opbench": line(h.v.Tool),
	}
}

func (h *hud) record(arm string, info map[string]string, metric hudMetric) hudRecord {
	r := hudRecord{
		Benchmark: hudBenchmark{Name: "OpProf overhead", Mode: "inference", ExtraInfo: info},
		Model:     hudModel{Name: line(h.v.Subject.Model), Backend: line(h.v.Subject.Engine)},
		Metric:    metric,
	}
	info["args"] = h.args(arm, info["phase"])
	run := h.firstRun(arm)
	if run == nil {
		return r
	}
	r.Benchmark.Dtype = line(run.Dtype)
	can := scenarios.EngineKind(h.v.Subject.Engine).Capabilities()
	if version := line(run.EngineVersion); version != "" && can.Repository != "" {
		r.Dependencies = map[string]hudDependency{can.Package: {Repo: can.Repository, Version: version}}
	}
	return r
}

// firstRun is the arm's first, nil if it has none.
func (h *hud) firstRun(arm string) *view.MeasuredRun {
	runs := h.v.Measured.Runs
	if i := slices.IndexFunc(runs, func(r view.MeasuredRun) bool { return r.Arm == arm }); i >= 0 {
		return &runs[i]
	}
	return nil
}

// args is the text of a JSON object with the settings that the dashboards group
// by, under the names and, as there, with the values as strings. The phase is as
// in the record.
func (h *hud) args(arm, phase string) string {
	args := map[string]string{"tensor_parallel_size": strconv.Itoa(settingsOf(h.v, arm).TensorParallel)}
	for _, p := range h.v.Measured.Phases {
		if line(p.Phase) != phase {
			continue
		}
		args["request_rate"] = "inf"
		if p.Rate > 0 {
			args["request_rate"] = strconv.FormatFloat(p.Rate, 'g', -1, 64)
		}
		if p.Streams > 0 {
			args["max_concurrency"] = strconv.Itoa(p.Streams)
		}
		if d := p.PromptTokens; d != nil && d.Kind == "fixed" {
			args["random_input_len"] = strconv.Itoa(d.Value)
		}
		if d := p.OutputTokens; d != nil && d.Kind == "fixed" {
			args["random_output_len"] = strconv.Itoa(d.Value)
		}
	}
	text, _ := json.Marshal(args) // a map of strings
	return string(text)
}
