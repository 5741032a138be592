package accept

import (
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Block is one accepted attempt of a planned block.
type Block struct {
	Plan results.Block
	Runs map[string]*Run // by arm
	Host string          // host group; "" if every run is damaged
}

// BaselineFirst reports which arm of a pair ran first, by the plan.
func (k *Block) BaselineFirst(c *view.Comparison) bool {
	return slices.Index(k.Plan.Order, c.Baseline) < slices.Index(k.Plan.Order, c.Candidate)
}

// missing is an arm without a run; "" if there is none.
func (k *Block) missing() string {
	for _, arm := range k.Plan.Order {
		if k.Runs[arm] == nil {
			return arm
		}
	}
	return ""
}

// hostsOf are the host groups of a block's undamaged runs: one, or the block is
// INVALID.
func (k *Block) hostsOf() []string {
	var hosts []string
	for _, arm := range k.Plan.Order {
		if h := k.Runs[arm].host(); h != "" {
			hosts = append(hosts, h)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(hosts)))
}
