package bench

import (
	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/results"
)

// look judges a campaign at a planned look. The harness measures and the report
// judges; neither knows the other, and they meet here. Only a PASS or a FAIL ends
// a campaign before its last block.
func (a *app) look(dir string, blocks int) (harness.Judgement, error) {
	c, err := results.Load(dir)
	if err != nil {
		return harness.Judgement{}, err
	}
	v, err := judge.Look(c, blocks, a.build.Version)
	if err != nil {
		return harness.Judgement{}, err
	}
	decided := v.ExitCode == exitPass || v.ExitCode == exitFail
	return harness.Judgement{Verdict: string(v.Verdict), Stop: decided}, nil
}
