package evidence

import (
	"maps"
	"regexp"
	"slices"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// Measured gathers what the counted runs of a campaign gave.
func Measured(c *results.Campaign) *view.Measured {
	s := &c.Plan.Scenario
	m := &view.Measured{}
	for _, a := range s.Arms {
		m.Arms = append(m.Arms, settingsOf(s, a))
	}
	for _, p := range s.Phases {
		m.Phases = append(m.Phases, view.Workload{
			Phase: p.Name, Rate: p.Arrival.Rate, Streams: p.Arrival.Streams,
			PromptTokens: lengths(p.Source.PromptTokens), OutputTokens: lengths(p.Source.OutputTokens),
		})
	}
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Valid && !a.BurnIn && a.Damage == "" {
			m.Runs = append(m.Runs, measuredRun(a))
		}
	}
	return m
}

func settingsOf(s *scenarios.Scenario, a scenarios.Arm) view.Settings {
	return view.Settings{Arm: a.Name, TensorParallel: s.TensorParallel(a), Args: settings(s.ArmArgs(a)), Env: settings(s.ArmEnv(a))}
}

func settings(values map[string]string) (list []view.Setting) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, view.Setting{Name: name, Value: withoutFolders(values[name])})
	}
	return list
}

// folders begin an absolute path, alone or inside of a value: after a space, a
// quote, a bracket or one of =:,; but not the two slashes of a URL.
var folders = regexp.MustCompile(`(^|[\s"'\[({=:,;])/(?:[^/\s"'\])}=:,;]+/)+`)

// withoutFolders leaves of each absolute path its last element: the folders are
// those of one machine, and a verdict is sent around.
func withoutFolders(value string) string { return folders.ReplaceAllString(value, "$1") }

// lengths is nil where a trace gives them.
func lengths(d scenarios.Dist) *view.Lengths {
	if d.Kind == "" {
		return nil
	}
	l := view.Lengths(d)
	return &l
}

func measuredRun(a *results.Attempt) view.MeasuredRun {
	server, env := &a.Run.Server, a.Environment
	r := view.MeasuredRun{
		Block: a.Key.Block, Attempt: a.Key.Attempt, Arm: a.Key.Arm, Engine: string(server.Engine),
		EngineVersion: server.Versions[server.Engine.Capabilities().Package], Dtype: server.Backends["dtype"], Accelerator: env.CPUModel,
	}
	if len(env.GPUs) > 0 {
		r.Accelerator, r.GPUs = env.GPUs[0], max(len(env.Boards), 1)
	}
	byPhase := accept.RequestsByPhase(a)
	for i := range a.Run.Phases {
		p := &a.Run.Phases[i]
		r.Phases = append(r.Phases, measuredPhase(p, byPhase[p.Name]))
	}
	return r
}

func measuredPhase(p *results.Phase, requests []results.Request) view.MeasuredPhase {
	timed := slices.DeleteFunc(requests, func(r results.Request) bool { return r.Warmup })
	failed := func(r results.Request) bool { return !r.OK() }
	values, _ := metrics.Compute(metrics.Phase{Requests: timed})
	good := slices.DeleteFunc(slices.Clone(timed), failed)
	return view.MeasuredPhase{
		Phase: p.Name, StartNS: p.TimedStartNS, EndNS: p.TimedEndNS, Requests: len(timed), Failed: len(timed) - len(good),
		PromptTokens: summarize(good, promptTokens), OutputTokens: summarize(good, outputTokens),
		TTFT: summarize(good, metrics.TTFT), TPOT: summarize(good, metrics.TPOT), EndToEnd: summarize(good, metrics.EndToEnd),
		OutputThroughput: values["output_throughput"], RequestRate: values["request_rate"],
	}
}

// requestNumber is a number of one request; ok is false where it is not defined.
type requestNumber func(*results.Request) (value float64, ok bool)

func promptTokens(r *results.Request) (float64, bool) { return float64(r.PromptTokens), true }

func outputTokens(r *results.Request) (float64, bool) { return float64(r.OutputTokens), true }

// summarize is nil where the quantity is defined for no request.
func summarize(requests []results.Request, of requestNumber) *view.Summary {
	var values []float64
	for i := range requests {
		if x, ok := of(&requests[i]); ok {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	s := &view.Summary{Mean: gonum.Mean(values, nil), Min: values[0], Max: values[len(values)-1]}
	if len(values) > 1 {
		s.SD = view.Finite(gonum.StdDev(values, nil))
	}
	if s.Min != s.Max {
		s.Quantiles = &[len(view.SummaryQuantiles)]float64{}
		for i, p := range view.SummaryQuantiles {
			s.Quantiles[i] = metrics.Quantile(values, p)
		}
	}
	return s
}
