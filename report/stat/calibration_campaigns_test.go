package stat

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// whole is a campaign of several metrics and comparisons: what the gate says of all of
// them at once. Candidates share their baseline's runs; metrics have nothing in common.
type whole struct {
	metrics, comparisons, n int
	cost                    float64 // true cost of each candidate, as a share of the margin
	sd                      float64 // of d, in natural logarithm
}

const costFormat = "%d metrics × %d, true cost %s, SD %g %%, %d"

func (w whole) name() string {
	cost := map[float64]string{0: "0", 1: "the margin"}[w.cost]
	return fmt.Sprintf(costFormat, w.metrics, w.comparisons, cost, 100*w.sd, w.n)
}

// wholes are first campaigns for which a FAIL is false, then those that should pass.
func wholes() (all []whole) {
	for _, comparisons := range []int{1, 3} {
		for _, n := range []int{6, 8, 10} {
			all = append(all, whole{8, comparisons, n, 1, .02}, whole{8, comparisons, n, 0, .02}, whole{8, comparisons, n, 0, .1})
		}
	}
	for _, sd := range []float64{.01, .015, .02, .025, .03} {
		for _, n := range []int{6, 8, 10} {
			all = append(all, whole{1, 1, n, 0, sd})
			if !(sd == .02) { // that one is above
				all = append(all, whole{8, 1, n, 0, sd})
			}
		}
	}
	return all
}

// told is what one simulated campaign came to.
type told struct{ pass, singly, fail bool }

// run simulates campaign i. Singly, any metric is above the margin by its own bound;
// a FAIL needs the p value for all of them.
func (w whole) run(i int) (out told) {
	h := fnv.New64a()
	h.Write([]byte(w.name()))
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
	out.pass = true
	base, d := make([]float64, w.n), make([]float64, w.n)
	for range w.metrics {
		for k := range base {
			base[k] = w.sd / math.Sqrt2 * r.NormFloat64()
		}
		for range w.comparisons {
			for k := range d {
				d[k] = w.cost*margin + w.sd/math.Sqrt2*r.NormFloat64() - base[k]
			}
			w.ask(d, &out, r.Uint64())
		}
	}
	return out
}

// ask judges one metric of one comparison. The bootstrap is asked where it can change
// the answer: Student's bound alone decides most of them.
func (w whole) ask(d []float64, out *told, seed uint64) {
	p := single(d)
	t := p.tInterval(DefaultAlpha)
	if t.Hi >= margin {
		out.pass = false
	}
	bootstrap := func(g []group) []resample {
		if w.n <= 8 {
			return resamples(g, seed)
		}
		return monteCarlo(g, seed, wholeDraws)
	}
	if out.pass {
		e, _ := boundsFrom(p, 0, DefaultAlpha, bootstrap)
		out.pass = Judge(e, margin) == Pass
	}
	if t.Lo > margin {
		above := p.above(margin, bootstrap(p.groups), p.groups)
		out.singly = out.singly || above <= DefaultAlpha
		out.fail = out.fail || above <= 2*DefaultAlpha/float64(w.metrics*w.comparisons)
	}
}

// wholeDraws are many, because an error of the bound counts for every metric, and a
// random one costs power: with 2 000, two points of a campaign of eight.
const wholeDraws = 9_999

// wholeRow is a line of the table, in counts of campaigns.
type wholeRow struct {
	of                        string
	campaigns                 int
	pass, singly, fail, first int
}

const wholeFormat = "%d | %d | %.2f | %d | %.2f | %d | %.2f | %.2f | %d |"

func (r wholeRow) String() string {
	percent := func(n int) float64 { return 100 * float64(n) / float64(r.campaigns) }
	largest := 0.0
	for _, n := range []int{r.pass, r.singly, r.fail} {
		largest = max(largest, standardError(percent(n)/100, r.campaigns))
	}
	return fmt.Sprintf("| %s | "+wholeFormat, r.of, r.campaigns, r.pass, percent(r.pass), r.singly, percent(r.singly), r.fail, percent(r.fail), 100*largest, r.first)
}

func parseWhole(line string) (r wholeRow, err error) {
	of, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
	if !ok {
		return r, fmt.Errorf("no row: %q", line)
	}
	r.of = of
	var percent [4]float64
	_, err = fmt.Sscanf(rest, strings.ReplaceAll(wholeFormat, "%.2f", "%f"),
		&r.campaigns, &r.pass, &percent[0], &r.singly, &percent[1], &r.fail, &percent[2], &percent[3], &r.first)
	return r, err
}

const (
	wholesBegin = "<!-- campaigns -->\n"
	wholesHead  = "| metrics × comparisons, true cost, SD of d, blocks | campaigns | PASS | % | some metric above the margin | % | FAIL | % | largest standard error | first 60 PASS |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n"
)

func wholeRows(t *testing.T, a *table) map[string]wholeRow {
	t.Helper()
	rows := map[string]wholeRow{}
	for line := range strings.Lines(a.section(wholesBegin)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| metrics") {
			continue
		}
		r, err := parseWhole(strings.TrimSpace(line))
		require.NoError(t, err, line)
		require.NotZero(t, r.campaigns, line)
		rows[r.of] = r
	}
	return rows
}

// rowOf simulates n campaigns on all cores and adds up.
func (w whole) rowOf(t *testing.T, n int) wholeRow {
	t.Helper()
	out := make([]told, n)
	var wait sync.WaitGroup
	const workers = 2
	for first := range workers {
		wait.Go(func() {
			for i := first; i < n; i += workers {
				out[i] = w.run(i)
			}
		})
	}
	wait.Wait()
	r := wholeRow{of: w.name(), campaigns: n}
	for i, o := range out {
		if o.pass {
			r.pass++
			if i < firstCampaigns {
				r.first++
			}
		}
		if o.singly {
			r.singly++
		}
		if o.fail {
			r.fail++
		}
	}
	return r
}

// check holds a row against what is promised: a campaign in which nothing costs more than
// the margin FAILs in at most 5 %, and one that costs the margin passes in at most 2.5 %.
func (w whole) check(t assert.TestingT, r wholeRow) {
	rate := func(n int) float64 { return float64(n) / float64(r.campaigns) }
	const most = 2 * DefaultAlpha
	assert.LessOrEqual(t, rate(r.fail), most+3*standardError(most, r.campaigns), "%s: false FAIL", r.of)
	assert.LessOrEqual(t, r.fail, r.singly, "%s: adjusted", r.of)
	if w.cost == 1 {
		assert.LessOrEqual(t, rate(r.pass), DefaultAlpha, "%s: false PASS", r.of)
	}
	if w.cost == 0 && w.comparisons == 1 {
		one, err := GatePower(w.n, w.sd, margin, 0, Rule{Alpha: DefaultAlpha})
		if err == nil {
			want := math.Pow(one, float64(w.metrics))
			assert.InDelta(t, want, rate(r.pass), .02, "%s: power", r.of)
		}
	}
}

// The table in the repository is held against all promises and against the planner, and
// the first campaigns of each row are simulated again.
func TestCampaignCalibration(t *testing.T) {
	table := readTable(t)
	rows := wholeRows(t, table)
	for _, w := range wholes() {
		if *campaigns > 0 && regexp.MustCompile(*cellNames).MatchString(w.name()) {
			rows[w.name()] = w.rowOf(t, *campaigns)
			t.Log(rows[w.name()])
			table.writeWholes(t, rows)
		}
		r, ok := rows[w.name()]
		require.True(t, ok, "%s is not in %s: make bench-stat", w.name(), tableFile)
		w.check(t, r)
		assert.Equal(t, r.first, w.rowOf(t, firstCampaigns).pass, "%s: the table is of another program", w.name())
	}
	assert.Len(t, rows, len(wholes()))
}

func (a *table) writeWholes(t *testing.T, rows map[string]wholeRow) {
	t.Helper()
	var text strings.Builder
	text.WriteString(wholesHead)
	for _, w := range wholes() {
		if r, ok := rows[w.name()]; ok {
			text.WriteString(r.String() + "\n")
		}
	}
	a.replace(wholesBegin, text.String())
	a.save(t)
}

// A check that can't fail would accept any table.
func TestCampaignChecksCatch(t *testing.T) {
	w := whole{8, 1, 8, 0, .02}
	good := wholeRow{of: w.name(), campaigns: 20_000, pass: 6_900, singly: 900, fail: 400}
	back, err := parseWhole(good.String())
	require.NoError(t, err)
	assert.Equal(t, good, back)
	_, err = parseWhole("| plain")
	require.Error(t, err)
	for what, damage := range map[string]func(*wholeRow){
		"false FAIL": func(r *wholeRow) { r.fail, r.singly = 1200, 1300 },
		"adjusted":   func(r *wholeRow) { r.singly = 300 },
		"power":      func(r *wholeRow) { r.pass = 12_000 },
	} {
		var caught catcher
		w.check(&caught, good)
		require.Empty(t, caught)
		bad := good
		damage(&bad)
		w.check(&caught, bad)
		require.NotEmpty(t, caught)
		assert.Contains(t, caught[0], what)
	}
	var caught catcher
	whole{8, 1, 8, 1, .02}.check(&caught, wholeRow{campaigns: 20_000, pass: 600})
	require.Len(t, caught, 1)
	assert.Contains(t, caught[0], "false PASS")
}
