package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/judge/rates"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// conclude gives the campaign its verdict, exit code and sentence. aaOpen says
// that the A/A which the scenario requires did not show equality.
func (q *question) conclude(in *accept.Accepted, v *view.View, aaOpen bool) {
	q.note(in.Scenario, v)
	if !v.Finished {
		v.ErrorRate = q.errorRate(v)
		q.unfinished(v)
		return
	}
	gating := gatingOf(v.Comparisons)
	if inside := insideAA(in.Scenario, v.Comparisons); inside != "" {
		v.AA = inside
	}
	v.Result = overall(gating)
	q.earlyStop(in, v, gating)
	closeLooks(in.Scenario, v)
	if aaOpen && v.Verdict == stat.Pass {
		v.Result = view.NewResult(stat.Inconclusive, view.ReasonAA)
	}
	v.ExitCode = view.ExitCodeOf(v.Verdict)
	v.ErrorRate = q.errorRate(v)
	q.warn(in, v, gating)
	w := &wording{v: v, s: in.Scenario, gating: gating, aaOpen: aaOpen, aa: q.near.Evidence, level: 2 * q.alpha}
	say(v, w.sentence())
	if v.Verdict == stat.Inconclusive && accept.HasEffects(in.Scenario) {
		v.Whole = q.whole(gating)
	}
	v.Next, v.Needs = w.next(), needs(v, gating)
}

// warn adds to the first lines what a reader of the verdict has to know beside it.
func (q *question) warn(in *accept.Accepted, v *view.View, gating []*view.Comparison) {
	var lines []string
	judged := v.Verdict == stat.Pass || v.Verdict == stat.Inconclusive
	if judged && in.Scenario.Purpose != scenarios.Control {
		lines = append(lines, rates.Losses(gating))
	}
	for _, c := range gating {
		lines = append(lines, evidence.Covariates(in, c))
	}
	if v.Is(stat.Pass, "") && restarts(in.Scenario) {
		lines = append(lines, rates.Robustness(gating))
	}
	v.Notes = append(v.Notes, slices.DeleteFunc(lines, func(s string) bool { return s == "" })...)
}

// errorRate is the stated error of the verdict; none without restarts, whose spread is
// not sampled then.
func (q *question) errorRate(v *view.View) string {
	s := &q.campaign.Plan.Scenario
	if !restarts(s) {
		return ""
	}
	return rates.Words(v.Result, s, q.alpha)
}

// say sets the sentence, which never hides what engine it is about.
func say(v *view.View, sentence string) {
	if v.Simulated {
		sentence = "Simulated engine, not vLLM: " + sentence
	}
	v.Sentence = sentence
}

// gatingOf returns the comparisons that count. With none, nothing was asked and
// nothing can pass.
func gatingOf(all []view.Comparison) (list []*view.Comparison) {
	for i := range all {
		if all[i].Gating {
			list = append(list, &all[i])
		}
	}
	return list
}

// insideAA tells of the A/A comparisons inside an overhead campaign.
func insideAA(s *scenarios.Scenario, all []view.Comparison) string {
	var inside []string
	for _, c := range all {
		gated := "not gated"
		if c.Gating {
			gated = "required"
		}
		if c.AA && s.Purpose != scenarios.AA {
			inside = append(inside, fmt.Sprintf("%s (%s in this campaign, %s)", c.Result, c.Name(), gated))
		}
	}
	return strings.Join(inside, "; ")
}

// overall joins the comparisons by the rule that joins metrics; the first one
// with that verdict says why.
func overall(gating []*view.Comparison) view.Result {
	var verdicts []stat.Verdict
	for _, c := range gating {
		verdicts = append(verdicts, c.Verdict)
	}
	verdict := stat.Overall(verdicts, stat.Conditions{})
	for _, reason := range openFirst {
		for _, c := range gating {
			if verdict == stat.Inconclusive && c.Is(verdict, reason) {
				return c.Result
			}
		}
	}
	for _, c := range gating {
		if c.Verdict == verdict {
			return c.Result
		}
	}
	return view.NewResult(verdict, "")
}

// openFirst are the reasons of INCONCLUSIVE that outrank the others, whichever
// comparison has them.
var openFirst = []view.Reason{view.ReasonSelection, view.ReasonBatch, view.ReasonUnadjusted}

// earlyStop checks a campaign that ended at a look before the last: only a PASS
// or a FAIL ends one there. One of older rules, which saw a FAIL or a PASS where
// these have a new reason to doubt it, ended rightly.
func (q *question) earlyStop(in *accept.Accepted, v *view.View, gating []*view.Comparison) {
	n := v.Blocks
	if !v.Reason.Since(in.Campaign.Plan.Rules) {
		return
	}
	if q.past || n.Valid == n.Planned || n.Analysed == 0 || v.Verdict == stat.Pass || v.Verdict == stat.Fail {
		return
	}
	for _, c := range gating {
		invalidate(c, view.ReasonBlocksMissing, "the campaign stopped at the look of %d blocks, which neither passed nor failed; %d are planned", n.Valid, n.Planned)
		settle(in, c)
	}
	v.Result = overall(gating)
}

func (q *question) unfinished(v *view.View) {
	v.ExitCode, v.Text = view.ExitUnfinished, v.Headline()
	say(v, fmt.Sprintf("Not finished: block %d of %d is done. No effects are shown before the end.", v.Blocks.Valid, v.Blocks.Planned))
	for i := len(q.campaign.Entries) - 1; i >= 0; i-- {
		if e := q.campaign.Entries[i]; e.Event == results.EventStop {
			v.Notes = append(v.Notes, "stopped: "+e.Detail)
			break
		}
	}
	v.Next = []string{"opbench resume " + view.ShellWord(v.Subject.Campaign) + " goes on where it stopped"}
}

// restarts reports whether every run had a server of its own. If not, the blocks
// repeat the one pair that was drawn, and say nothing of how starts differ.
func restarts(s *scenarios.Scenario) bool { return s.Engine.Kind.Capabilities().Starts }

// note collects what the first lines must say.
func (q *question) note(s *scenarios.Scenario, v *view.View) {
	if v.Simulated {
		v.Notes = append(v.Notes, "SIMULATED ENGINE: these numbers are evidence about the tool, never about vLLM")
	}
	if !restarts(s) {
		v.Notes = append(v.Notes, "attached endpoints: someone else starts the servers, restarts are not controlled, "+
			"so what is said holds for these processes, and no error rate is known: the next start of the same server may differ by more")
	}
	switch s.Purpose {
	case scenarios.Correctness:
		v.Notes = append(v.Notes, "correctness campaign: checks and output identity only, no statement about overhead")
		return
	case scenarios.AA:
		v.Notes = append(v.Notes, "A/A campaign: the arms are equal; PASS means that they were shown to be equal within the margin")
	case scenarios.Control:
		v.Pilot = q.campaign.Plan.Pilot
		v.Notes = append(v.Notes, noteControl(v.Pilot)...)
	}
	if d := s.Design; d.Interleaved() {
		v.Notes = append(v.Notes, fmt.Sprintf("interleaved: the servers of a block run at the same time and take turns in slices of about %s", d.Interleave.Slice))
	}
	var missing []string
	for _, m := range s.NotGated() {
		missing = append(missing, m.Label)
	}
	if missing != nil {
		v.Notes = append(v.Notes, "not gated: "+strings.Join(missing, ", ")+" (primary in no phase)")
	}
	if v.Thinned > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%s left out of the publication: their checks are recorded, not recomputed",
			view.Plural(v.Thinned, "step file was", "step files were")))
	}
}

// closeLooks gives the deciding look its verdict and says which it was and what
// error was spent.
func closeLooks(s *scenarios.Scenario, v *view.View) {
	if len(v.Looks) == 0 {
		return
	}
	last := &v.Looks[len(v.Looks)-1]
	if last.Blocks != v.Blocks.Analysed {
		return // the campaign ended between looks, which is INVALID by itself
	}
	last.Verdict, last.Decided = v.Verdict, true
	what := "decided"
	if v.Verdict != stat.Pass && v.Verdict != stat.Fail {
		what = "was the last"
	}
	v.Notes = append(v.Notes, fmt.Sprintf("look %d of %d, after %d of at most %d blocks, %s: %s %% intervals (%s %% on each side at every look); of the error of 2.5 %% at most %s %% is spent",
		last.Number, len(s.Design.Looks), last.Blocks, v.Blocks.Planned, what,
		view.Plain(v.Level()), view.Plain(last.ErrorPct), view.Plain(last.SpentPct)))
}
