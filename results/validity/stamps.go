package validity

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// maxStampDifference is by how much the shares of reads with a time of the
// kernel may differ between the runs of a block: the two kinds of times differ
// by the client's own lateness.
const maxStampDifference = 0.01

// stampsMixed: within a run nearly all times are of one kind.
func stampsMixed(s *subject) {
	s.phases(func(plan scenarios.Phase, got *results.Phase) {
		if share := got.Client.KernelStamps; share > maxStampDifference && !(share >= 1-maxStampDifference) {
			s.add(finding(ruleStampsMixed, CauseClient, "the kernel stamped %.1f %% of the reads in phase %s, the others have the client's time; 99 %% must be of one kind: repeat the block",
				100*share, plan.Name).in(plan.Name))
		}
	})
}

// stampsDiffer: both arms take their times in the same way. A correctness
// campaign reports none.
func stampsDiffer(p *pairing) []Finding {
	if p.scenario.Purpose == scenarios.Correctness {
		return nil
	}
	var found []Finding
	p.pairs(func(b, c *results.Attempt) {
		for i := range b.Run.Phases {
			for j := range c.Run.Phases {
				x, y := &b.Run.Phases[i], &c.Run.Phases[j]
				if x.Name != y.Name || math.Abs(x.Client.KernelStamps-y.Client.KernelStamps) <= maxStampDifference {
					continue
				}
				found = append(found, Finding{Rule: ruleStampsDiffer, Scope: ScopePair, Key: c.Key, Arm: p.of.Candidate, Phase: x.Name, Cause: CauseClient,
					Message: fmt.Sprintf("phase %s of block %s: the kernel stamped %.1f %% of the reads in one arm and %.1f %% in the other: their times are not alike",
						x.Name, c.Key.Block, 100*x.Client.KernelStamps, 100*y.Client.KernelStamps)})
			}
		}
	})
	return found
}
