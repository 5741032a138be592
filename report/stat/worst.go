package stat

import "slices"

// WorstSets replaces the effect of each block by the largest and by the smallest one of
// its attempts: d[i] is that of the attempt that counts, again[i] are those of the
// attempts of block i that do not, such as runs that were aborted. What passes with the
// largest passes whichever attempts had been chosen, what fails with the smallest fails
// whichever. d and again stay as they are.
//
// The largest of several draws is larger than one draw: under noise alone a block with
// attempts put back costs power, never a false PASS.
func WorstSets(d []float64, again [][]float64) (largest, smallest []float64) {
	largest, smallest = slices.Clone(d), slices.Clone(d)
	for i := range d {
		for _, x := range again[i] {
			largest[i], smallest[i] = max(largest[i], x), min(smallest[i], x)
		}
	}
	return largest, smallest
}
