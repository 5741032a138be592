// Package steptext prints what package steps found in step records, for people.
package steptext

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/aituner/opprof/results/steps"
)

// WriteSurvey prints a survey as tables: step times, lengths, graphs, queues, volume.
func WriteSurvey(out io.Writer, s *steps.Survey) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	surveyHead(w, s)
	surveyTimes(w, s)
	fmt.Fprint(w, "\ncontext length\trequests\n")
	surveyBins(w, s.ContextEdges, s.ContextHist)
	fmt.Fprintf(w, "\nprefill chunk\tchunks\n")
	surveyBins(w, s.ChunkEdges, s.ChunkHist)
	surveyGraphs(w, s)
	fmt.Fprintln(w)
	surveyState(w, s)
	surveyVolume(w, s)
	return w.Flush()
}

func surveyHead(w io.Writer, s *steps.Survey) {
	fmt.Fprintf(w, "%d records, %d steps (%d empty), %d dropped\n", s.Records, s.Steps, s.EmptySteps, s.Dropped)
	fmt.Fprint(w, "\nengine\trevision\tvLLM\trecords\ttime\tfile\n")
	for _, e := range s.Engines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", e.Engine, e.Revision, e.VLLM, e.Records,
			time.Duration(e.Seconds*1e9).Round(100*time.Millisecond), e.File)
	}
}

func surveyTimes(w io.Writer, s *steps.Survey) {
	fmt.Fprint(w, "\nbatch\tdecoding\tsteps\tof time\tp50\tp95\tmean\tmax\ttokens/step\n")
	for _, t := range s.StepTimes {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.1f\n", t.Batch, sizeText(t), t.Steps, shareText(t.Share),
			msText(t.P50), msText(t.P95), msText(t.Mean), msText(t.Max), float64(t.Tokens)/float64(t.Steps))
	}
}

// sizeText names a range of decode batch sizes.
func sizeText(t steps.StepTime) string {
	switch t.DecodeTo {
	case 0:
		return "all"
	case t.DecodeFrom:
		return fmt.Sprint(t.DecodeTo)
	}
	return fmt.Sprintf("%d-%d", t.DecodeFrom, t.DecodeTo)
}

func msText(seconds float64) string { return fmt.Sprintf("%.2f ms", 1000*seconds) }

func shareText(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// surveyBins leaves out the empty bins at both ends.
func surveyBins(w io.Writer, edges, bins []int64) {
	total, first, last := int64(0), len(bins), -1
	for i, n := range bins {
		if total += n; n != 0 {
			first, last = min(first, i), i
		}
	}
	for i := first; i <= last; i++ {
		name := fmt.Sprintf("above %d", edges[len(edges)-1])
		if i < len(edges) {
			name = fmt.Sprintf("to %d", edges[i])
		}
		fmt.Fprintf(w, "%s\t%d\t%s\n", name, bins[i], shareText(float64(bins[i])/float64(total)))
	}
	if last < 0 {
		fmt.Fprint(w, "none\n")
	}
}

func surveyState(w io.Writer, s *steps.Survey) {
	q, c := &s.Queues, &s.Chunks
	fmt.Fprintf(w, "chunks\t%d first, %d middle, %d final, %d in one piece\n", c.First, c.Middle, c.Final, c.Unsplit)
	fmt.Fprintf(w, "queues\trunning %s, waiting %s, deferred %s\n",
		levelText(q.Running), levelText(q.Waiting), levelText(q.Deferred))
	fmt.Fprintf(w, "KV cache\t%s of %d blocks on average, at most %s\n",
		shareText(s.KV.Usage.Mean), s.KV.TotalBlocks, shareText(s.KV.Usage.Max))
	fmt.Fprintf(w, "prefix cache\tlocal %s, external %s\n", hitText(s.Prefix.Local), hitText(s.Prefix.External))
	fmt.Fprintf(w, "preemptions\t%d; %d requests resumed, %d tokens computed again\n",
		s.Preemptions, s.ResumedRequests, s.ResumedTokens)
	fmt.Fprintf(w, "recorder\t%d dropped, backlog high watermark %d\n", s.Dropped, s.BacklogMax)
}

func levelText(l steps.Level) string { return fmt.Sprintf("%.1f (at most %.0f)", l.Mean, l.Max) }

func hitText(h *steps.HitRate) string {
	if h == nil {
		return "none"
	}
	return fmt.Sprintf("%s (%d of %d tokens)", shareText(h.Rate), h.Hits, h.Queries)
}

func surveyGraphs(w io.Writer, s *steps.Survey) {
	total := int64(0)
	for _, g := range s.Graphs {
		total += g.Steps
	}
	fmt.Fprint(w, "\nCUDA graph\tsteps\tof steps\tpadding of tokens\n")
	for _, g := range s.Graphs {
		padding := float64(g.PaddingTokens) / float64(max(1, g.UnpaddedTokens+g.PaddingTokens))
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", g.Mode, g.Steps, shareText(float64(g.Steps)/float64(total)), shareText(padding))
	}
	if total == 0 {
		fmt.Fprint(w, "no record has a stat\n")
	}
}

func surveyVolume(w io.Writer, s *steps.Survey) {
	v := s.Volume
	if v == nil {
		fmt.Fprint(w, "volume\tnot known: the records are too few, or damaged\n")
		return
	}
	fmt.Fprintf(w, "volume\t%.0f bytes per step, %.1f times less with zstd; per engine:\n", v.BytesPerStep, v.ZstdRatio)
	fmt.Fprint(w, "\npace\tsteps/s\tGB per hour\tGB per day\tzstd: per hour\tper day\n")
	for _, p := range []struct {
		name string
		steps.Pace
	}{{"as recorded", v.AsRecorded}, {"back to back", v.BackToBack}} {
		fmt.Fprintf(w, "%s\t%.1f\t%.3g\t%.3g\t%.3g\t%.3g\n",
			p.name, p.StepsPerSecond, p.RawPerHour, p.RawPerDay, p.ZstdPerHour, p.ZstdPerDay)
	}
}
