package harness

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// manyArms is a design of so many arms and blocks.
func manyArms(arms, blocks int, seed uint64) *scenarios.Scenario {
	s := &scenarios.Scenario{Design: scenarios.Design{Blocks: blocks, BurnInBlocks: 1, Seed: seed}}
	for _, name := range []string{"a", "b", "c", "d"}[:arms] {
		s.Arms = append(s.Arms, scenarios.Arm{Name: name})
	}
	return s
}

// Over each whole set of rows every pair runs in either order equally often,
// every arm is in each place equally often, and follows each other arm equally
// often.
func TestWilliamsRowsBalance(t *testing.T) {
	for arms, rows := range map[int]int{3: 6, 4: 4} {
		s := manyArms(arms, 3*rows, 7)
		require.Equal(t, rows, s.Rows())
		list := blocks(s)
		require.Len(t, list, 1+3*rows)
		for set := range 3 {
			place, before, follows := map[string]int{}, map[string]int{}, map[string]int{}
			for _, b := range list[1+set*rows : 1+(set+1)*rows] {
				require.Len(t, b.Order, arms)
				for i, arm := range b.Order {
					place[arm+string(rune('0'+i))]++
					for _, later := range b.Order[i+1:] {
						before[arm+later]++
					}
					if i > 0 {
						follows[b.Order[i-1]+arm]++
					}
				}
			}
			assert.Len(t, place, arms*arms)
			assert.Len(t, before, arms*(arms-1))
			assert.Len(t, follows, arms*(arms-1))
			for pair, n := range before {
				assert.Equal(t, rows/2, n, "%d arms: %s", arms, pair)
			}
			for pair, n := range follows {
				assert.Equal(t, rows/arms, n, "%d arms: %s", arms, pair)
			}
			for arm, n := range place {
				assert.Equal(t, rows/arms, n, "%d arms: %s", arms, arm)
			}
		}
	}
}

func orders(list []results.Block) string {
	var all []string
	for _, b := range list {
		all = append(all, strings.Join(b.Order, ""))
	}
	return strings.Join(all, " ")
}

func TestRowsAreDrawnBySeed(t *testing.T) {
	first := orders(blocks(manyArms(3, 12, 1)))
	assert.Equal(t, first, orders(blocks(manyArms(3, 12, 1))))
	assert.NotEqual(t, first, orders(blocks(manyArms(3, 12, 2))))
	halves := strings.SplitN(first, " ", 8)
	assert.NotEqual(t, strings.Join(halves[1:7], " "), halves[7], "each set is drawn anew")
	assert.Equal(t, slices.Sorted(slices.Values(halves[1:7])), slices.Sorted(slices.Values(strings.Fields(halves[7]))))
}
