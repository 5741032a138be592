package scenarios

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// The readers below leave the target as it was, a default, when the value is
// wrong: so one mistake is reported once.

var (
	wholePattern   = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	percentPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?%$`)
	ratePattern    = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)/s$`)
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,47}$`)
)

func (v value) is(tags ...string) bool {
	return v.node.Kind == yaml.ScalarNode && slices.Contains(tags, v.node.ShortTag())
}

func (v value) text(to *string) {
	if !v.is("!!str") || v.node.Value == "" {
		v.bad("want text, got %s", v.got())
		return
	}
	*to = v.node.Value
}

// name reads a name that also becomes a directory.
func (v value) name(to *string) {
	if v.is("!!str") && namePattern.MatchString(v.node.Value) {
		*to = v.node.Value
		return
	}
	v.bad("want a name of small letters, digits and hyphens (at most 48), got %s", v.got())
}

func (v value) flag(to *bool) {
	if !v.is("!!bool") {
		v.bad("want true or false, got %s", v.got())
		return
	}
	*to = v.node.Value[0] == 't' || v.node.Value[0] == 'T'
}

func (v value) count(to *int, low, high int) {
	n, err := strconv.Atoi(v.node.Value)
	if !v.is("!!int") || !wholePattern.MatchString(v.node.Value) || err != nil || n < low || n > high {
		v.bad("want a whole number from %d to %d, got %s", low, high, v.got())
		return
	}
	*to = n
}

func (v value) seed(to *uint64) {
	// Beyond 2^53 other readers of the plan's JSON would round it.
	n, err := strconv.ParseUint(v.node.Value, 10, 53)
	if !v.is("!!int") || !wholePattern.MatchString(v.node.Value) || err != nil {
		v.bad("want a whole number from 0 to %d, got %s", uint64(1)<<53-1, v.got())
		return
	}
	*to = n
}

func (v value) duration(to *time.Duration, low time.Duration) {
	const most = 24 * time.Hour
	d, err := time.ParseDuration(v.node.Value)
	switch {
	case err != nil || !v.is("!!str"):
		v.bad("want a duration with its unit, such as 10s or 1500ms, got %s", v.got())
	case d < 0:
		v.bad("must not be negative, got %s", v.node.Value)
	case d < low || d > most:
		v.bad("want a duration from %s to 24h, got %s", low, v.node.Value)
	default:
		*to = d
	}
}

// percent reads 3% as 0.03. Without the sign 3 and 0.03 would both look right.
func (v value) percent(to *float64) {
	if v.is("!!int", "!!float") {
		v.bad("a number without a percent sign: write %s", v.withSign())
		return
	}
	m := percentPattern.FindStringSubmatch(v.node.Value)
	if !v.is("!!str") || m == nil {
		v.bad("want a percentage such as 3%%, got %s", v.got())
		return
	}
	if p, err := strconv.ParseFloat(m[1], 64); err == nil {
		*to = p / 100
	}
}

// withSign guesses what a bare number was meant to be.
func (v value) withSign() string {
	n, err := strconv.ParseFloat(v.node.Value, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return "3%"
	}
	if math.Abs(n) < 1 {
		n *= 100
	}
	return strconv.FormatFloat(n, 'g', 6, 64) + "%"
}

// rate reads 12/s as 12 per second.
func (v value) rate(to *float64) {
	m := ratePattern.FindStringSubmatch(v.node.Value)
	if !v.is("!!str") || m == nil {
		v.bad("want a rate such as 12/s, got %s", v.got())
		return
	}
	r, err := strconv.ParseFloat(m[1], 64)
	if err != nil || r < 1e-3 || r > 1e6 {
		v.bad("want a rate from 0.001/s to 1000000/s, got %s", short(v.node.Value))
		return
	}
	*to = r
}

func (v value) positive(to *float64) {
	n, err := strconv.ParseFloat(v.node.Value, 64)
	if !v.is("!!int", "!!float") || err != nil || !(n > 0) || math.IsInf(n, 0) {
		v.bad("want a number above 0, got %s", v.got())
		return
	}
	*to = n
}

// choice reads one of the options.
func choice[S ~string](v value, to *S, options ...S) {
	if v.is("!!str") && slices.Contains(options, S(v.node.Value)) {
		*to = S(v.node.Value)
		return
	}
	v.bad("want %s, got %s", oneOf(options), v.got())
}
