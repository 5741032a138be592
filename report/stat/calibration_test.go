package stat

import (
	"flag"
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	campaigns = flag.Int("campaigns", 0, "simulate so many campaigns of every cell and write them to CALIBRATION.md; 20000 is the full calibration")
	cellNames = flag.String("cells", "", "regular expression: simulate only these cells")
)

// outcome of one simulated campaign.
type outcome struct {
	tPass, pass, fail bool
	blocks            int
}

// margin and unit of the simulations; nothing depends on the unit.
var margin = Margin(.03, LowerIsBetter)

const unit = .014

// run follows campaign i through its looks. product computes the bootstrap as
// Analyze does, where the cell has a cheaper one.
func (c *cell) run(i int, product bool) (o outcome, err error) {
	r := c.random(i)
	t := c.sample(r, c)
	for j := range t.d {
		t.d[j] = margin + unit*(t.d[j]-c.below)
	}
	for j := range t.worst {
		t.worst[j] = margin + unit*t.worst[j]
	}
	t.opt.Seed = r.Uint64()
	looks := c.looks
	if looks == nil {
		looks = []int{c.n}
	}
	if t.opt.Alpha, err = LookAlpha(looks); err != nil {
		return o, err
	}
	tGoesOn := true
	for _, n := range looks {
		e, err := c.estimate(t, n, product)
		if err != nil {
			return o, err
		}
		o.tPass = o.tPass || tGoesOn && e.T.Hi < margin
		tGoesOn = tGoesOn && !o.tPass && e.T.Lo <= margin
		if o.pass || o.fail {
			continue
		}
		v := Judge(e, margin)
		if t.worst != nil && v == Pass {
			if e, err = c.estimate(trial{d: t.worst, opt: t.opt}, n, product); err != nil {
				return o, err
			}
			v = Judge(e, margin)
		}
		o.blocks, o.pass, o.fail = n, v == Pass, v == Fail
	}
	return o, nil
}

func (c *cell) estimate(t trial, n int, product bool) (Estimate, error) {
	opt := t.opt
	if opt.Order != nil {
		opt.Order = opt.Order[:n]
	}
	p, least, err := prepare(t.d[:n], &opt)
	if err != nil {
		return Estimate{}, err
	}
	if c.reduced == 0 || product {
		e, _ := bounds(p, least, opt)
		return e, nil
	}
	e, _ := boundsFrom(p, least, opt.Alpha, func(g []group) []resample { return monteCarlo(g, opt.Seed, c.reduced) })
	return e, nil
}

// simulate runs campaigns 0 to n−1 on all cores. Every campaign has a random
// source of its own, so that neither the number of cores nor n changes any of them.
func simulate(t *testing.T, c *cell, n int, product bool) []outcome {
	t.Helper()
	out := make([]outcome, n)
	errs := make([]error, n)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				out[i], errs[i] = c.run(i, product)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		require.NoError(t, err, c.name())
	}
	return out
}

func passes(out []outcome) int {
	n := 0
	for _, o := range out {
		if o.pass {
			n++
		}
	}
	return n
}

// rowOf simulates a cell and adds up.
func rowOf(t *testing.T, c *cell, n int) row {
	t.Helper()
	out := simulate(t, c, n, false)
	r := row{Cell: c.name(), Campaigns: n, Pass: passes(out), First: passes(out[:min(n, firstCampaigns)])}
	for _, o := range out {
		r.Blocks += float64(o.blocks) / float64(n)
		if o.tPass {
			r.TPass++
		}
		if o.fail {
			r.Fail++
		}
	}
	for i, o := range simulate(t, c, min(n, c.checked), true) {
		r.Checked++
		switch {
		case o.pass && !out[i].pass:
			r.OnlyProduct++
		case out[i].pass && !o.pass:
			r.OnlyReduced++
		}
	}
	return r
}

func standardError(p float64, n int) float64 {
	return math.Sqrt(p * (1 - p) / float64(n))
}

// check holds a row of the table against what is promised, against the research
// simulation, and against theory.
func (c *cell) check(t assert.TestingT, r row) {
	rate := float64(r.Pass) / float64(r.Campaigns)
	if limit := c.limit(); limit > 0 {
		assert.LessOrEqual(t, rate, limit+3*standardError(limit, r.Campaigns), "%s: false pass", c.name())
	}
	if c.research > 0 {
		want := c.research / 100
		combined := math.Hypot(standardError(want, r.Campaigns), standardError(want, 20_000))
		// One printed digit more or less; the left-skew reference is a range, 0.2 to
		// 0.5 %, about its middle; power is printed without a fraction.
		slack := map[bool]float64{true: .0005, false: .005}[c.below == 0]
		if c.noise.name == "left skew" {
			slack = .0015
		}
		assert.InDelta(t, want, rate, 3*combined+slack, "%s: research", c.name())
	}
	if c.exactT > 0 && c.below == 0 {
		rate := float64(r.TPass) / float64(r.Campaigns)
		assert.InDelta(t, c.exactT, rate, 3*standardError(c.exactT, r.Campaigns), "%s: t alone", c.name())
	}
	differ := float64(r.OnlyProduct - r.OnlyReduced)
	assert.LessOrEqual(t, math.Abs(differ), 1+3*math.Sqrt(float64(r.OnlyProduct+r.OnlyReduced)), "%s: reduced bootstrap", c.name())
}

// limit is the promised error rate.
func (c *cell) limit() float64 {
	switch {
	case c.below > 0 || c.noBound:
		return 0
	case c.noise.symmetric:
		return DefaultAlpha
	}
	return .06
}

// Short of -campaigns, the table in the repository is held against all promises,
// and the first campaigns of each of its rows are simulated again.
func TestCalibration(t *testing.T) {
	table := readTable(t)
	if *campaigns > 0 {
		calibrate(t, table)
	}
	require.Len(t, table.rows, len(cells()), "cells of the table: make bench-stat writes it")
	for _, c := range cells() {
		r, ok := table.rows[c.name()]
		require.True(t, ok, "%s is not in %s", c.name(), tableFile)
		c.check(t, r)
		assert.GreaterOrEqual(t, r.Campaigns, 20_000, c.name())
		assert.Equal(t, r.First, passes(simulate(t, c, firstCampaigns, false)), "%s: the table is of another program", c.name())
	}
}

// calibrate simulates the chosen cells and puts them into the table.
func calibrate(t *testing.T, table *table) {
	t.Helper()
	chosen := regexp.MustCompile(*cellNames)
	for _, c := range cells() {
		if !chosen.MatchString(c.name()) {
			continue
		}
		r := rowOf(t, c, *campaigns)
		c.check(t, r)
		table.rows[c.name()] = r
		t.Log(r)
		table.write(t)
	}
}

// A check that can't fail would accept any table.
func TestCalibrationChecksCatch(t *testing.T) {
	plain, skewed, power := cells()[0], cells()[8], powerCells()[1]
	require.Equal(t, "plain, normal, 6", plain.name())
	require.Equal(t, "plain, skewed runs, 6", skewed.name())
	power.research = 38
	for _, c := range []struct {
		what string
		of   *cell
		row  row
	}{
		{"false pass", skewed, row{Campaigns: 20_000, Pass: 600, TPass: 500}},
		{"research", plain, row{Campaigns: 20_000, Pass: 100, TPass: 500}},
		{"t alone", plain, row{Campaigns: 20_000, Pass: 320, TPass: 600}},
		{"reduced bootstrap", plain, row{Campaigns: 20_000, Pass: 320, TPass: 500, Checked: 500, OnlyProduct: 20}},
		{"research", power, row{Campaigns: 20_000, Pass: 9000}},
	} {
		var caught catcher
		c.of.check(&caught, c.row)
		require.Len(t, caught, 1)
		assert.Contains(t, caught[0], c.what)
	}
}

// catcher collects what assertions complain about.
type catcher []string

func (c *catcher) Errorf(format string, args ...any) {
	var text strings.Builder
	for _, a := range args {
		if s, ok := a.(string); ok {
			text.WriteString(s)
		}
	}
	*c = append(*c, text.String())
}
