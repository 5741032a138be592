package report

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
)

// ramp is 1, 2, ... n milliseconds, in seconds.
func ramp(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i+1) / 1e3
	}
	return values
}

// points are the places of a path of M and L.
func points(t *testing.T, path string) (xs, ys []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`[ML]([\d.]+),([\d.]+)`).FindAllStringSubmatch(path, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		xs, ys = append(xs, x), append(ys, y)
	}
	return xs, ys
}

// A curve must rise from the smallest value to the largest, with its marks on
// it: a picture that contradicts the table would be worse than none.
func TestECDFRisesThroughItsMarks(t *testing.T) {
	t.Parallel()
	styles := []armStyle{{Name: "off"}, {Name: "on"}}
	p := newECDF(styles, [][]float64{ramp(100), ramp(1000)})
	require.Len(t, p.Curves, 2)
	xs, ys := points(t, p.Curves[1].Path)
	require.Len(t, xs, ecdfParts+1)
	assert.Zero(t, xs[0])
	assert.InDelta(t, 1000, xs[ecdfParts], 1e-9)
	for i := range xs[1:] {
		assert.GreaterOrEqual(t, xs[i+1], xs[i])
		assert.Less(t, ys[i+1], ys[i], "up is more requests")
	}
	assert.Equal(t, []string{"50.95 ms", "250.8 ms", "500.5 ms", "750.2 ms", "950.0 ms", "990.0 ms", "1.000 s"}, p.Curves[1].Cells)
	a := timeAxisOf(0.001, 1)
	assert.Equal(t, share(ecdfGutter+(1-ecdfGutter)*a.at(0.5005)), p.Curves[1].Marks[0].X)
	assert.Equal(t, p.Guides[0].Y, p.Curves[1].Marks[0].Y)
	assert.Nil(t, newECDF(styles, [][]float64{nil, nil}))
}

// The page must not grow with the requests.
func TestECDFDoesNotGrowWithTheRequests(t *testing.T) {
	t.Parallel()
	one := newECDF([]armStyle{{}}, [][]float64{ramp(1)})
	many := newECDF([]armStyle{{}}, [][]float64{ramp(200_000)})
	assert.Less(t, len(many.Curves[0].Path), 1400)
	assert.Less(t, len(one.Curves[0].Path), 1400)
	assert.Equal(t, 200_000, many.Curves[0].N)
}

// Warm-up and failed requests are in no number of the report, so they may not be
// in its pictures.
func TestPoolTakesTimedSuccessesOnly(t *testing.T) {
	t.Parallel()
	request := func(ms int64, edit func(*results.Request)) results.Request {
		r := results.Request{Phase: "single", SentNS: 1, FirstNS: 1 + ms*1e6}
		if edit != nil {
			edit(&r)
		}
		return r
	}
	run := &attempt{Attempt: &results.Attempt{Requests: []results.Request{
		request(30, nil), request(20, nil),
		request(1, func(r *results.Request) { r.Warmup = true }),
		request(2, func(r *results.Request) { r.Error = "reset" }),
		request(3, func(r *results.Request) { r.Phase = "identity" }),
		request(4, func(r *results.Request) { r.FirstNS = 0 }),
	}}}
	b := &builder{blocks: []block{{runs: map[string]*attempt{"off": run}}, {runs: map[string]*attempt{"off": run}}}}
	assert.Equal(t, []float64{0.02, 0.02, 0.03, 0.03}, b.pool("off", "single", requestTimes[1].of))
}

// An unfinished campaign shows no effect, and a correctness campaign none at
// all: not as a picture either.
func TestPicturesKeepWhatTheTablesKeep(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 6)
	tr.stop = 4
	page := render(t, build(t, tr.write(t.TempDir())), WriteHTML)
	assert.NotContains(t, page, "Distributions")
	assert.Contains(t, page, "When it ran")

	page = render(t, build(t, correctnessTrial(t).write(t.TempDir())), WriteHTML)
	assert.NotContains(t, page, `id="ecdf-`)
	assert.Contains(t, page, `id="steps-`)

	page = render(t, build(t, newTrial(t, 6).write(t.TempDir())), WriteHTML)
	assert.Equal(t, 4, strings.Count(page, `<title id="ecdf-`), "two times in two phases")
	assert.Equal(t, 2, strings.Count(page, `<title id="steps-`))
	assert.Contains(t, page, "not the basis of the verdict")
}
