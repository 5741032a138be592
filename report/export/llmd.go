package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// llmdVersion is the version of llm-d's benchmark report that LLMD writes.
const llmdVersion = "0.2.1"

// object is a JSON object with its keys in alphabetical order.
type object map[string]any

// LLMD writes a benchmark report of llm-d for every valid run and timed phase
// into a folder, which is made: BLOCK-ARM-PHASE.json. A campaign is one experiment (eid) of many
// reports, because quantiles of several runs have no common value. Statistics
// are over the successful timed requests, with the definitions of package
// metrics. It refuses a campaign that is INVALID or not finished.
func LLMD(dir string, c *results.Campaign, v *report.View) error {
	if err := measured("llmd", v); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	l := llmd{plan: c.Plan, view: v}
	for _, a := range validRuns(c) {
		for i := range a.Run.Phases {
			p := &a.Run.Phases[i]
			name := safeName(a.Key.Block) + "-" + safeName(a.Key.Arm) + "-" + safeName(p.Name) + ".json"
			err := ToFile(filepath.Join(dir, name), func(w io.Writer) error {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(l.report(a, p))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

type llmd struct {
	plan *results.Plan
	view *report.View
}

func (l *llmd) report(a *results.Attempt, p *results.Phase) object {
	return object{
		"version":  llmdVersion,
		"run":      l.run(a, p),
		"scenario": object{"stack": []object{l.component(a)}, "load": l.load(a, p)},
		"results":  object{"request_performance": object{"aggregate": performance(a, p.Name)}},
	}
}

func (l *llmd) run(a *results.Attempt, p *results.Phase) object {
	s := &l.view.Subject
	keywords := []string{"opbench", "scenario " + line(s.Scenario), "arm " + line(a.Key.Arm), "block " + line(a.Key.Block), "phase " + line(p.Name)}
	if l.view.Simulated {
		keywords = append(keywords, "simulated engine, not vLLM")
	}
	start, end := time.Unix(0, p.TimedStartNS).UTC(), time.Unix(0, p.TimedEndNS).UTC()
	return object{
		"uid":         line(s.Campaign + "/" + a.Key.Dir() + "/" + p.Name),
		"eid":         line(s.PlanHash),
		"description": line(l.view.Result + ": " + l.view.Sentence),
		"keywords":    keywords,
		"time": object{
			"start": start.Format(time.RFC3339Nano), "end": end.Format(time.RFC3339Nano),
			"duration": "PT" + strconv.FormatFloat(end.Sub(start).Seconds(), 'f', -1, 64) + "S",
		},
	}
}

// component is the arm's server.
func (l *llmd) component(a *results.Attempt) object {
	s := &l.plan.Scenario
	arm, _ := s.Arm(a.Key.Arm)
	args := cleanMap(s.Engine.Args, arm.Args)
	env := cleanMap(s.Engine.Env, arm.Env)
	config, _ := json.Marshal([]any{arm.Patch, l.plan.Patches[arm.Patch], args, env}) // strings
	sum := sha256.Sum256(config)
	accelerator, count := a.Environment.CPUModel, 0
	if gpus := a.Environment.GPUs; len(gpus) > 0 {
		accelerator, count = gpus[0], max(len(a.Environment.Boards), 1)
	}
	version := a.Run.Server.Versions["vllm"]
	if version == "" {
		version = "unknown"
	}
	return object{
		"metadata": object{"label": line(arm.Name), "cfg_id": hex.EncodeToString(sum[:]), "description": "patch " + line(arm.Patch)},
		"standardized": object{
			"kind": "inference_engine", "tool": line(a.Run.Server.Engine), "tool_version": line(version), "role": "replica", "replicas": 1,
			"model": object{"name": line(l.view.Subject.Model)},
			"accelerator": object{
				"model": line(accelerator), "count": count, "parallelism": object{"tp": max(tensorParallel(s, arm.Name), 0)},
			},
		},
		"native": object{"args": args, "envars": env},
	}
}

// cleanMap joins maps, the later ones first, with clean names and values.
func cleanMap(list ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range list {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			out[line(k)] = line(m[k])
		}
	}
	return out
}

func (l *llmd) load(a *results.Attempt, p *results.Phase) object {
	stage := slices.IndexFunc(l.plan.Scenario.Phases, func(x scenarios.Phase) bool { return x.Name == p.Name })
	load := object{
		"tool": "opbench", "tool_version": line(l.view.Tool), "source": "random", "stage": max(stage, 0),
		"input_seq_len": object{"distribution": "other", "value": mean(timed(a, p.Name), promptTokens)},
	}
	if stage >= 0 {
		planned := &l.plan.Scenario.Phases[stage]
		if d := sequence(planned.Source.PromptTokens); d != nil {
			load["input_seq_len"] = d
		}
		if d := sequence(planned.Source.OutputTokens); d != nil {
			load["output_seq_len"] = d
		}
		if planned.Arrival.Rate > 0 {
			load["rate_qps"] = planned.Arrival.Rate
		}
		if planned.Arrival.Streams > 0 {
			load["concurrency"] = planned.Arrival.Streams
		}
	}
	return object{
		"metadata":     object{"cfg_id": line(l.plan.WorkloadSHA256)},
		"standardized": load,
		"native":       object{},
	}
}

// sequence is a planned distribution of lengths, nil where a trace gives them.
func sequence(d scenarios.Dist) object {
	switch d.Kind {
	case "fixed":
		return object{"distribution": "fixed", "value": d.Value}
	case "uniform":
		return object{"distribution": "uniform", "value": float64(d.Min+d.Max) / 2, "min": d.Min, "max": d.Max}
	case "lognormal":
		return object{"distribution": "other", "value": d.Median, "min": d.Min, "max": d.Max}
	}
	return nil
}

// timed are the timed requests of a phase.
func timed(a *results.Attempt, phase string) []results.Request {
	return slices.DeleteFunc(slices.Clone(a.Requests), func(r results.Request) bool { return r.Phase != phase || r.Warmup })
}

// quantity is a number of one request; ok is false where it is not defined.
type quantity func(*results.Request) (value float64, ok bool)

func promptTokens(r *results.Request) (float64, bool) { return float64(r.PromptTokens), true }

func outputTokens(r *results.Request) (float64, bool) { return float64(r.OutputTokens), true }

func collect(requests []results.Request, of quantity) []float64 {
	var values []float64
	for i := range requests {
		if x, ok := of(&requests[i]); ok && requests[i].OK() {
			values = append(values, x)
		}
	}
	slices.Sort(values)
	return values
}

func mean(requests []results.Request, of quantity) float64 {
	values := collect(requests, of)
	if len(values) == 0 {
		return 0
	}
	return stat.Mean(values, nil)
}

func performance(a *results.Attempt, phase string) object {
	requests := timed(a, phase)
	failures := 0
	for i := range requests {
		if !requests[i].OK() {
			failures++
		}
	}
	throughput := object{}
	values, _ := metrics.Compute(metrics.Phase{Requests: requests})
	for _, rate := range []struct{ name, metric, units string }{
		{"output_token_rate", "output_throughput", "tokens/s"}, {"request_rate", "request_rate", "queries/s"},
	} {
		if x, ok := values[rate.metric]; ok {
			throughput[rate.name] = object{"units": rate.units, "mean": x}
		}
	}
	return object{
		"requests": object{
			"total": len(requests), "failures": failures,
			"input_length": statistics("count", collect(requests, promptTokens)), "output_length": statistics("count", collect(requests, outputTokens)),
		},
		"latency": object{
			"time_to_first_token":   statistics("s", collect(requests, metrics.TTFT)),
			"time_per_output_token": statistics("s/token", collect(requests, metrics.TPOT)),
			"request_latency":       statistics("s", collect(requests, metrics.EndToEnd)),
		},
		"throughput": throughput,
	}
}

// llmdQuantiles are those of the report's statistics.
var llmdQuantiles = map[string]float64{
	"p0p1": 0.001, "p1": 0.01, "p5": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99p9": 0.999,
}

// statistics sums up ascending values; without any it is null.
func statistics(units string, values []float64) any {
	if len(values) == 0 {
		return nil
	}
	out := object{"units": units, "mean": stat.Mean(values, nil), "min": values[0], "max": values[len(values)-1]}
	if len(values) > 1 {
		out["stddev"] = stat.StdDev(values, nil)
	}
	for name, p := range llmdQuantiles {
		out[name] = metrics.Quantile(values, p)
	}
	return out
}
