// Package stat decides whether a candidate arm is slower than a baseline arm by
// less than a margin. It holds pure functions on numbers: no files, no clock, no
// global random state. The replicate is the block (one fresh server start of each
// arm); its datum is d, the log ratio of the two runs, signed so that positive is
// worse.
//
// Results are reproducible: values are sorted before they are summed, the
// bootstrap is enumerated exactly up to twelve blocks, and above that the
// generator is seeded by the caller. The order of the blocks changes nothing but
// the order diagnostics. Bounds and margins are the same on every processor, bit
// for bit: products are rounded before they are added, so that no compiler fuses
// the two, logarithms are computed in wide arithmetic, and what comes from a
// distribution function is rounded to twelve digits.
package stat
