package stat

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a two-sided interval on the scale of the values it was made from.
type Interval struct {
	Lo, Hi float64
}

// tQuantile returns the upper alpha point of Student's t, to twelve digits like a
// printed table.
func tQuantile(alpha, df float64) float64 {
	return twelveDigits(distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha))
}

// TInterval returns Student's interval of the mean of d with the two-sided
// confidence, such as 0.95.
func TInterval(d []float64, confidence float64) (Interval, error) {
	p, alpha, err := plain("t interval", d, confidence)
	if err != nil {
		return Interval{}, err
	}
	return p.tInterval(alpha), nil
}

func plain(what string, d []float64, confidence float64) (pooled, float64, error) {
	alpha := (1 - confidence) / 2
	if err := checkSample(what, d, 2); err != nil {
		return pooled{}, 0, err
	}
	if err := checkAlpha(what, alpha); err != nil {
		return pooled{}, 0, err
	}
	p := single(d)
	if p.sd == 0 {
		return pooled{}, 0, fmt.Errorf("%s: %w", what, ErrZeroVariance)
	}
	return p, alpha, nil
}

func (p pooled) tInterval(alpha float64) Interval {
	half := float64(tQuantile(alpha, p.df) * p.se)
	return Interval{p.mean - half, p.mean + half}
}

// degenerateShare of a bound's error is what degenerate resamples may carry before
// they count: they have no t value, and dropping them takes the side of whoever is
// tested.
const degenerateShare = 0.1

// bootT turns the quantiles of t* around: the upper quantile gives the lower
// bound. Where only some groups were resampled, the shape of their t* stands for
// all and the standard error is that of the whole estimate. Degenerate resamples
// are dropped while they carry at most a tenth of alpha (0.25 % at 2.5 %: less than
// three equal effects of six do); above that they count for the widest interval.
func (p pooled) bootT(all []resample, resampled []group, alpha float64) Interval {
	t, lost := part(all, resampled)
	upper, lower := t, t
	if total := totalCount(t) + lost; lost > degenerateShare*alpha*total {
		upper = append(slices.Clone(t), weighted{math.Inf(-1), lost})
		lower = append(slices.Clone(t), weighted{math.Inf(1), lost})
	}
	lo := p.mean - float64(quantile(lower, 1-alpha)*p.se)
	return Interval{lo, p.mean - float64(quantile(upper, alpha)*p.se)}
}

// part returns the t values of the resamples, and the count of those that have none.
func part(all []resample, resampled []group) (t []weighted, degenerate float64) {
	p := pool(resampled)
	t = studentize(all, p.df, p.varianceFactor)
	for _, r := range all {
		if r.ss == 0 {
			degenerate += r.count
		}
	}
	return t, degenerate
}

// percentile returns the plain percentile interval of the mean.
func (p pooled) percentile(means []weighted, lower, upper float64) Interval {
	return Interval{p.mean + quantile(means, lower), p.mean + quantile(means, upper)}
}

// bca returns Efron's bias-corrected and accelerated interval. Resamples whose
// mean equals that of the sample count half in the bias.
func (p pooled) bca(means []weighted, alpha float64) Interval {
	tolerance := 1e-12 * (math.Abs(p.mean) + p.sd)
	below := 0.0
	for _, m := range means {
		if m.value < -tolerance {
			below += m.count
		} else if m.value <= tolerance {
			below += float64(m.count / 2)
		}
	}
	z0 := distuv.UnitNormal.Quantile(below / totalCount(means))
	a := acceleration(p.groups[0])
	level := func(q float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(q)
		return distuv.UnitNormal.CDF(z0 + z/(1-float64(a*z)))
	}
	return p.percentile(means, level(alpha), level(1-alpha))
}

// acceleration of the mean by the jackknife: Σe³ / (6 (Σe²)^1.5).
func acceleration(g group) float64 {
	cubes := 0.0
	for _, x := range g.values {
		e := x - g.mean
		cubes += float64(float64(e*e) * e)
	}
	return cubes / (6 * g.ss * math.Sqrt(g.ss))
}

// Welch returns mean(b) − mean(a) of two independent campaigns and its interval
// with Welch's degrees of freedom.
func Welch(a, b []float64, confidence float64) (difference float64, interval Interval, err error) {
	pa, alpha, err := plain("welch interval, first campaign", a, confidence)
	if err != nil {
		return 0, Interval{}, err
	}
	pb, _, err := plain("welch interval, second campaign", b, confidence)
	if err != nil {
		return 0, Interval{}, err
	}
	va, vb := float64(pa.se*pa.se), float64(pb.se*pb.se)
	df := (va + vb) * (va + vb) / (float64(va*va)/pa.df + float64(vb*vb)/pb.df)
	half := float64(tQuantile(alpha, df) * math.Sqrt(va+vb))
	difference = pb.mean - pa.mean
	return difference, Interval{difference - half, difference + half}, nil
}
