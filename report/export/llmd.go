package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
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
func LLMD(dir string, v *view.View) error {
	if err := measured("llmd", v); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	l := llmd{v}
	for i := range v.Measured.Runs {
		r := &v.Measured.Runs[i]
		for j := range r.Phases {
			p := &r.Phases[j]
			name := safeName(r.Block) + "-" + safeName(r.Arm) + "-" + safeName(p.Phase) + ".json"
			err := ToFile(filepath.Join(dir, name), func(w io.Writer) error {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(l.report(r, p))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

type llmd struct{ view *view.View }

func (l *llmd) report(r *view.MeasuredRun, p *view.MeasuredPhase) object {
	return object{
		"version":  llmdVersion,
		"run":      l.run(r, p),
		"scenario": object{"stack": []object{l.component(r)}, "load": l.load(p)},
		"results":  object{"request_performance": object{"aggregate": performance(p)}},
	}
}

func (l *llmd) run(r *view.MeasuredRun, p *view.MeasuredPhase) object {
	s := &l.view.Subject
	keywords := []string{
		"opbench", "scenario " + line(s.Scenario), "arm " + line(r.Arm), "block " + line(r.Block), "phase " + line(p.Phase),
	}
	if l.view.Simulated {
		keywords = append(keywords, "simulated engine, not vLLM")
	}
	start, end := time.Unix(0, p.StartNS).UTC(), time.Unix(0, p.EndNS).UTC()
	key := results.Key{Block: r.Block, Attempt: r.Attempt, Arm: r.Arm}
	return object{
		"uid":         line(s.Campaign + "/" + key.Dir() + "/" + p.Phase),
		"eid":         line(s.PlanHash),
		"description": line(l.view.Headline() + ": " + l.view.Sentence),
		"keywords":    keywords,
		"time": object{
			"start": start.Format(time.RFC3339Nano), "end": end.Format(time.RFC3339Nano),
			"duration": "PT" + strconv.FormatFloat(end.Sub(start).Seconds(), 'f', -1, 64) + "S",
		},
	}
}

// component is the arm's server.
func (l *llmd) component(r *view.MeasuredRun) object {
	asked, arm := settingsOf(l.view, r.Arm), patchOf(l.view, r.Arm)
	args, env := cleanMap(asked.Args), cleanMap(asked.Env)
	config, _ := json.Marshal([]any{arm.Patch, arm.PatchSHA256, args, env}) // strings
	sum := sha256.Sum256(config)
	return object{
		"metadata": object{
			"label": line(arm.Name), "cfg_id": hex.EncodeToString(sum[:]), "description": "patch " + line(arm.Patch),
		},
		"standardized": object{
			"kind": "inference_engine", "role": "replica", "replicas": 1,
			"tool": line(r.Engine), "tool_version": cmp.Or(line(r.EngineVersion), "unknown"),
			"model": object{"name": line(l.view.Subject.Model)},
			"accelerator": object{
				"model": line(r.Accelerator), "count": r.GPUs, "parallelism": object{"tp": max(asked.TensorParallel, 0)},
			},
		},
		"native": object{"args": args, "envars": env},
	}
}

// cleanMap has clean names and values.
func cleanMap(list []view.Setting) map[string]string {
	out := map[string]string{}
	for _, s := range list {
		out[line(s.Name)] = line(s.Value)
	}
	return out
}

func (l *llmd) load(p *view.MeasuredPhase) object {
	phases := l.view.Measured.Phases
	stage := slices.IndexFunc(phases, func(w view.Workload) bool { return w.Phase == p.Phase })
	mean := 0.0
	if p.PromptTokens != nil {
		mean = p.PromptTokens.Mean
	}
	load := object{
		"tool": "opbench", "tool_version": line(l.view.Tool), "source": "random", "stage": max(stage, 0),
		"input_seq_len": object{"distribution": "other", "value": mean},
	}
	if stage >= 0 {
		planned := &phases[stage]
		if d := planned.PromptTokens; d != nil {
			load["input_seq_len"] = sequence(d)
		}
		if d := planned.OutputTokens; d != nil {
			load["output_seq_len"] = sequence(d)
		}
		if planned.Rate > 0 {
			load["rate_qps"] = planned.Rate
		}
		if planned.Streams > 0 {
			load["concurrency"] = planned.Streams
		}
	}
	return object{
		"metadata":     object{"cfg_id": line(l.view.Subject.WorkloadHash)},
		"standardized": load,
		"native":       object{},
	}
}

// sequence is a planned distribution of lengths.
func sequence(d *view.Lengths) object {
	switch d.Kind {
	case "fixed":
		return object{"distribution": "fixed", "value": d.Value}
	case "uniform":
		return object{"distribution": "uniform", "value": float64(d.Min+d.Max) / 2, "min": d.Min, "max": d.Max}
	}
	return object{"distribution": "other", "value": d.Median, "min": d.Min, "max": d.Max}
}

func performance(p *view.MeasuredPhase) object {
	throughput := object{}
	for _, rate := range []struct {
		name, units string
		value       float64
	}{{"output_token_rate", "tokens/s", p.OutputThroughput}, {"request_rate", "queries/s", p.RequestRate}} {
		if rate.value > 0 {
			throughput[rate.name] = object{"units": rate.units, "mean": rate.value}
		}
	}
	return object{
		"requests": object{
			"total": p.Requests, "failures": p.Failed,
			"input_length": statistics("count", p.PromptTokens), "output_length": statistics("count", p.OutputTokens),
		},
		"latency": object{
			"time_to_first_token":   statistics("s", p.TTFT),
			"time_per_output_token": statistics("s/token", p.TPOT),
			"request_latency":       statistics("s", p.EndToEnd),
		},
		"throughput": throughput,
	}
}

// llmdQuantiles name those of a summary, in its order.
var llmdQuantiles = [len(view.SummaryQuantiles)]string{
	"p0p1", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99p9",
}

// statistics are those of a summary; without one they are null.
func statistics(units string, s *view.Summary) any {
	if s == nil {
		return nil
	}
	out := object{"units": units, "mean": s.Mean, "min": s.Min, "max": s.Max}
	if s.SD != nil {
		out["stddev"] = *s.SD
	}
	for i, name := range llmdQuantiles {
		out[name] = s.Quantile(i)
	}
	return out
}
