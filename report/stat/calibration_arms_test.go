package stat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// williamsRows are the orders of three and four arms in which every arm stands
// equally often at every place and after every other one.
var williamsRows = map[int][][]int{
	3: {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}},
	4: {{0, 1, 3, 2}, {1, 2, 0, 3}, {2, 3, 1, 0}, {3, 0, 2, 1}},
}

// williams gives the effects of one comparison of a campaign of so many arms; arm
// 0 is the baseline. The runs of a block share a level, half of a run's noise is
// carried into the next one, and every run is faster than the one before it by
// half a unit. Only the patched arms have the cell's noise if it isn't symmetric:
// the baseline's is small and normal.
func williams(arms, baseline, candidate int, adjust bool) func(*rand.Rand, *cell) trial {
	rows := williamsRows[arms]
	return func(r *rand.Rand, c *cell) trial {
		t := trial{d: make([]float64, c.n)}
		offset := r.IntN(len(rows))
		for i := range t.d {
			row := rows[(i+offset)%len(rows)]
			y := williamsBlock(r, c, row)
			t.d[i] = y[candidate] - y[baseline]
			if adjust {
				t.opt.Order = append(t.opt.Order, slices.Index(row, baseline) < slices.Index(row, candidate))
			}
		}
		return t
	}
}

func williamsBlock(r *rand.Rand, c *cell, row []int) []float64 {
	y := make([]float64, len(row))
	level, carried := 2*r.NormFloat64(), 0.0
	for place, arm := range row {
		x := c.noise.draw(r)
		if arm == 0 && !c.noise.symmetric {
			x = .3 * r.NormFloat64()
		}
		carried = x + carried/2
		y[arm] = level + 1 - float64(place)/2 + carried
	}
	return y
}

// armCells are the campaigns of more than two arms: a chain of two comparisons,
// and three candidates against one baseline.
func armCells() (all []*cell) {
	for _, of := range noises {
		all = append(all, cellOf("three arms, first against baseline", of, 12, williams(3, 0, 1, false), 12),
			cellOf("three arms, second against first", of, 12, williams(3, 1, 2, false), 12),
			cellOf("three arms, first against baseline, adjusted", of, 12, williams(3, 0, 1, true), 12))
	}
	for _, n := range []int{8, 12} {
		for _, of := range noises {
			for i, name := range []string{"first", "second", "third"} {
				all = append(all, cellOf("four arms, "+name+" against baseline", of, n, williams(4, 0, 1+i, false), 12))
			}
			all = append(all, cellOf("four arms, first against baseline, adjusted", of, n, williams(4, 0, 1, true), 12))
		}
	}
	return all
}

// Rows that do not balance would simulate another design than the one that plans
// have.
func TestWilliamsRowsBalance(t *testing.T) {
	for arms, rows := range williamsRows {
		place, follows := map[[2]int]int{}, map[[2]int]int{}
		for _, row := range rows {
			for i, arm := range row {
				place[[2]int{arm, i}]++
				if i > 0 {
					follows[[2]int{row[i-1], arm}]++
				}
			}
		}
		assert.Len(t, place, arms*arms)
		assert.Len(t, follows, arms*(arms-1))
		for what, n := range place {
			assert.Equal(t, len(rows)/arms, n, "%d arms, arm and place %v", arms, what)
		}
		for what, n := range follows {
			assert.Equal(t, len(rows)/arms, n, "%d arms, arm after arm %v", arms, what)
		}
	}
}

// Over whole sets of rows the places of a block cancel: four-arm effects average
// to nothing, and what a cell counts is an error of the gate.
func TestFourArmEffectsAreCentred(t *testing.T) {
	for _, c := range armCells() {
		if c.n != 8 || c.noise.name != "normal" {
			continue
		}
		sum, n := 0.0, 0
		for i := range 2000 {
			for _, d := range c.sample(c.random(i), c).d {
				sum += d
				n++
			}
		}
		assert.InDelta(t, 0, sum/float64(n), .06, c.name())
	}
}
