package stat

// bootstrapT returns the studentized bootstrap interval of the mean of d with
// the two-sided confidence. Up to twelve values all resamples are enumerated and
// the seed has no effect; above, 99 999 are drawn. Degenerate resamples, which
// have no t value, are left out and the others reweighted.
func bootstrapT(d []float64, confidence float64, seed uint64) (Interval, error) {
	p, alpha, err := plain("bootstrap-t interval", d, confidence)
	if err != nil {
		return Interval{}, err
	}
	return p.bootT(resamples(p.groups, seed), p.groups, alpha), nil
}
