package harness

import (
	"math/rand/v2"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// williamsRows are the orders of three and four arms (Williams, Australian
// Journal of Scientific Research A 2, 1949). Over all rows each pair of arms runs
// in either order equally often, each arm stands in each place equally often, and
// each arm follows each other one equally often: what a run leaves behind for the
// next one hits all arms alike.
var williamsRows = map[int][][]int{
	3: {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}},
	4: {{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}},
}

// williams lists the blocks of three and four arms: sets of rows, the rows of
// each set in an order drawn from rng.
func williams(s *scenarios.Scenario, arms []string, rng *rand.Rand) []results.Block {
	rows := williamsRows[len(arms)]
	var out []results.Block
	var drawn []int
	for i := range s.Design.Blocks {
		if i%len(rows) == 0 {
			drawn = rng.Perm(len(rows))
		}
		order := make([]string, len(arms))
		for place, arm := range rows[drawn[i%len(rows)]] {
			order[place] = arms[arm]
		}
		out = append(out, results.Block{Number: i + 1, Order: order})
	}
	return out
}
