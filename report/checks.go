package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// examine applies the run rules to what is stored of a run, with the step
// records read and checked again.
func (b *builder) examine(a *results.Attempt) (findings []Reason, warnings []string) {
	run := *a.Run
	var differ []Reason
	run.Steps, differ = b.recomputeSteps(a)
	for _, f := range validity.Run(b.c.Plan, &run, a.Requests, a.Identity) {
		r := reason(f)
		r.Where = nil // it stands at the run
		findings = append(findings, r)
	}
	if run.Steps != nil {
		for _, c := range run.Steps.Checks {
			if c.Warning && c.Failed > 0 {
				warnings = append(warnings, fmt.Sprintf("check %s failed %d of %d times: %s", c.ID, c.Failed, c.Checked, c.First))
			}
		}
	}
	return append(findings, differ...), warnings
}

// reason words a finding for people.
func reason(f validity.Finding) Reason {
	r := Reason{Name: strings.ReplaceAll(f.Rule, "-", " "), Detail: f.Message}
	if f.Key != (results.Key{}) {
		r.Where = []string{f.Key.String()}
	}
	return r
}

// recomputeSteps reads the step files of a run. Where publishing left files out
// there is only what run.json recorded.
func (b *builder) recomputeSteps(a *results.Attempt) (*results.Steps, []Reason) {
	recorded := a.Run.Steps
	if recorded == nil || len(recorded.Files) == 0 {
		return recorded, nil
	}
	for _, f := range recorded.Files {
		if b.c.Thinned[a.Key.Dir()+"/"+f.Name] {
			return recorded, nil
		}
	}
	opt := b.stepOptions(a)
	opt.StepTime = b.gatherStepTimes(a)
	again, err := steps.Summarize(b.c.RunFiles(a.Key), opt)
	if err != nil {
		return recorded, []Reason{{Name: "step files unreadable", Detail: err.Error()}}
	}
	return again, stepDifferences(recorded, again)
}

func (b *builder) stepOptions(a *results.Attempt) steps.Options {
	opt := steps.Options{Client: &steps.ClientTokens{}}
	arm, _ := b.s.Arm(a.Key.Arm)
	size := cmp.Or(arm.Args["tensor-parallel-size"], b.s.Engine.Args["tensor-parallel-size"])
	opt.TensorParallel, _ = strconv.Atoi(size) // 0: unknown
	for _, p := range a.Run.Phases {
		opt.Phases = append(opt.Phases, steps.Phase{Name: p.Name, StartNS: p.TimedStartNS, EndNS: p.TimedEndNS})
	}
	for i := range a.Requests {
		r := &a.Requests[i]
		opt.Client.Prefill += int64(r.PromptTokens - max(r.CachedTokens, 0))
		opt.Client.Decode += int64(max(r.OutputTokens-1, 0))
	}
	return opt
}

// stepDifferences names every total of run.json that the step files do not give.
func stepDifferences(recorded, again *results.Steps) []Reason {
	var found []Reason
	for _, n := range []struct {
		name      string
		says, has int64
	}{
		{"records", recorded.Records, again.Records},
		{"steps", recorded.Steps, again.Steps},
		{"bytes", recorded.Bytes, again.Bytes},
		{"backlog high watermark", recorded.BacklogMax, again.BacklogMax},
		{"dropped records", recorded.Dropped, again.Dropped},
		{"prefill tokens", recorded.PrefillTokens, again.PrefillTokens},
		{"decode tokens", recorded.DecodeTokens, again.DecodeTokens},
	} {
		if n.says != n.has {
			found = append(found, Reason{Name: recomputation, Detail: fmt.Sprintf(
				"run.json says %d %s, the step files give %d", n.says, n.name, n.has)})
		}
	}
	return found
}

// examinePair applies the rules that need both arms.
func (b *builder) examinePair(c *Comparison) {
	pair := scenarios.Comparison{Baseline: c.Baseline, Candidate: c.Candidate}
	out := validity.Compare(b.c.Plan, pair, b.c.Attempts)
	for _, f := range out.Findings {
		c.Invalid = merge(c.Invalid, reason(f))
	}
	switch id := out.Identity; id.Status {
	case validity.IdentityOK:
		c.Identity = fmt.Sprintf("outputs identical %d/%d", id.Equal, id.Prompts)
	case validity.IdentityFail:
		c.Identity = fmt.Sprintf("outputs differ, identical %d/%d", id.Equal, id.Prompts)
		c.Failed = append(c.Failed, Reason{Name: "identity", Detail: id.Message})
		c.conditions.IdentityFailed = true
	case validity.IdentityNone:
		c.Identity = "outputs not compared"
	default:
		c.Identity = "outputs prove nothing"
	}
	if f := validity.Reliability(b.c.Plan, pair, b.c.Attempts); f != nil {
		c.Failed = append(c.Failed, reason(*f))
		c.conditions.ReliabilityFailed = true
	}
}
