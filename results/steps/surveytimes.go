package steps

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps/durations"
)

// The kinds of batches, in the order of a survey.
const (
	decodeOnly  = "decode-only"
	mixedBatch  = "mixed"
	prefillOnly = "prefill-only"
)

// StepTime is a row of the table of step times: of all steps of one kind, or of
// those with a decode batch of DecodeFrom to DecodeTo requests. Times are
// seconds. A step behind dropped records has no known time and counts in none.
type StepTime struct {
	Batch      string  `json:"batch"`       // decode-only, mixed, prefill-only
	DecodeFrom int64   `json:"decode_from"` // 0 in the row of all steps of the kind
	DecodeTo   int64   `json:"decode_to"`
	Steps      int64   `json:"steps"`
	Share      float64 `json:"time_share"` // of the time of all steps
	P50        float64 `json:"p50_s"`
	P95        float64 `json:"p95_s"`
	Mean       float64 `json:"mean_s"`
	Max        float64 `json:"max_s"`
	Tokens     int64   `json:"scheduled_tokens"`
}

// batchKind is a kind of batch and a range of decode batch sizes: above half of
// 1 << doubling up to all of it.
type batchKind struct {
	name     string
	doubling int // -1 without decoding requests
}

func kindOfBatch(r *Record) batchKind {
	n := r.DecodeBatchSize
	if n <= 0 {
		return batchKind{prefillOnly, -1}
	}
	doubling := min(62, bits.Len64(uint64(n-1)))
	if r.PrefillRequests == 0 {
		return batchKind{decodeOnly, doubling}
	}
	return batchKind{mixedBatch, doubling}
}

// stepTimes are the steps of one kind.
type stepTimes struct {
	durations.Histogram
	tokens int64
}

// stepTime is how long a step took, in ns: until it was ready, from its own
// submission or, if that was later, from when the one before was ready, for
// under asynchronous scheduling the spans overlap. Behind a gap it is unknown.
func stepTime(before *past, r *Record) (ns int64, known bool) {
	return r.ReadyMonoNS - max(r.SubmitMonoNS, before.ready), r.DroppedRecordsBefore == 0
}

func (s *surveyor) time(before *past, r *Record) {
	ns, known := stepTime(before, r)
	if !known {
		return
	}
	kind := kindOfBatch(r)
	t := s.times[kind]
	if t == nil {
		t = new(stepTimes)
		s.times[kind] = t
	}
	t.Add(ns)
	t.tokens += r.ScheduledTokens
}

// rows makes the table: per kind all its steps, then each range of sizes.
func (s *surveyor) rows() []StepTime {
	total := 0.0
	for _, t := range s.times {
		total += t.Sum
	}
	var rows []StepTime
	for _, name := range []string{decodeOnly, mixedBatch, prefillOnly} {
		all := new(stepTimes)
		var parts []StepTime
		for _, kind := range slices.SortedFunc(maps.Keys(s.times), byDoubling) {
			if t := s.times[kind]; kind.name == name {
				all.Merge(&t.Histogram)
				all.tokens += t.tokens
				parts = append(parts, t.row(kind, total))
			}
		}
		if len(parts) == 0 {
			continue
		}
		rows = append(rows, all.row(batchKind{name, -1}, total))
		if name != prefillOnly {
			rows = append(rows, parts...)
		}
	}
	return rows
}

func byDoubling(a, b batchKind) int { return cmp.Compare(a.doubling, b.doubling) }

func (t *stepTimes) row(kind batchKind, total float64) StepTime {
	row := StepTime{
		Batch: kind.name, Steps: t.N, Tokens: t.tokens, Share: t.Sum / max(1, total),
		P50: t.Quantile(0.50), P95: t.Quantile(0.95), Mean: t.Mean(), Max: float64(t.Max) / 1e9,
	}
	if kind.doubling >= 0 {
		row.DecodeTo = 1 << kind.doubling
		row.DecodeFrom = row.DecodeTo/2 + 1
	}
	return row
}

// levels sums and tops what goes up and down.
type levels struct {
	n                                   int64
	running, waiting, deferred, kvUsage level
}

type level struct{ sum, max float64 }

func (l *level) add(x float64) {
	l.sum += x
	l.max = max(l.max, x)
}

func (l level) of(n int64) Level { return Level{Mean: l.sum / float64(max(1, n)), Max: l.max} }

func (l *levels) add(r *Record) {
	l.n++
	l.running.add(float64(r.Queues.Running))
	l.waiting.add(float64(r.Queues.Waiting))
	l.deferred.add(float64(r.Queues.Deferred))
	l.kvUsage.add(r.KV.Usage)
}

// finish completes the survey with the sums that the pass made anyway.
func (s *surveyor) finish(sum *results.Steps) *Survey {
	o, l := &s.out, &s.levels
	o.Records, o.Steps, o.EmptySteps = sum.Records, sum.Steps, sum.EmptySteps
	o.ContextEdges, o.ContextHist = ContextEdges, sum.ContextHist
	o.ChunkEdges, o.ChunkHist = ChunkEdges, sum.ChunkHist
	o.Preemptions, o.ResumedTokens = sum.Preemptions, sum.ResumedTokens
	o.Dropped, o.BacklogMax, o.Checks = sum.Dropped, sum.BacklogMax, sum.Checks
	o.StepTimes = s.rows()
	o.Queues.Running, o.Queues.Waiting, o.Queues.Deferred = l.running.of(l.n), l.waiting.of(l.n), l.deferred.of(l.n)
	o.KV.Usage = l.kvUsage.of(l.n)
	for _, mode := range slices.Sorted(maps.Keys(s.graphs)) {
		o.Graphs = append(o.Graphs, *s.graphs[mode])
	}
	o.Volume = s.volume()
	return o
}
