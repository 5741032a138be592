package validity

import (
	"fmt"
	"math"

	"github.com/aituner/opprof/results"
)

// maxStampDifference is by how much the shares of reads with a time of the
// kernel may differ between the runs of a block: the two kinds of times differ
// by the client's own lateness.
const maxStampDifference = 0.01

// stampsDiffer: both arms take their times in the same way.
func stampsDiffer(p *pairing) []Finding {
	var found []Finding
	p.pairs(func(b, c *results.Attempt) {
		for i := range b.Run.Phases {
			for j := range c.Run.Phases {
				x, y := &b.Run.Phases[i], &c.Run.Phases[j]
				if x.Name != y.Name || math.Abs(x.Client.KernelStamps-y.Client.KernelStamps) <= maxStampDifference {
					continue
				}
				found = append(found, Finding{Rule: "stamps-differ", Scope: ScopePair, Key: c.Key, Arm: p.of.Candidate, Phase: x.Name, Cause: CauseClient,
					Message: fmt.Sprintf("phase %s of block %s: the kernel stamped %.1f %% of the reads in one arm and %.1f %% in the other: their times are not alike",
						x.Name, c.Key.Block, 100*x.Client.KernelStamps, 100*y.Client.KernelStamps)})
			}
		}
	})
	return found
}
