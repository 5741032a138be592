package report

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// errorRate is what a PASS is worth (simulated; see report/stat).
const errorRate = "false pass in at most 2.5 % of campaigns under symmetric noise, in up to 6 % under strong right skew"

// isCore reports whether a metric is one of the five of the acceptance rule.
func isCore(name string) bool {
	m, _ := scenarios.FindMetric(name)
	return m.Core
}

// conclude gives the campaign its verdict, exit code and sentence.
func (b *builder) conclude() {
	v := b.view
	b.note()
	if b.gated() {
		v.ErrorRate = errorRate
	}
	if !v.Finished {
		b.unfinished()
		return
	}
	gating := b.gating()
	b.verdict(gating)
	b.earlyStop(gating)
	b.closeLooks()
	b.holdBack()
	v.ExitCode = map[stat.Verdict]int{
		stat.Pass: ExitPass, stat.Fail: ExitFail, stat.Inconclusive: ExitInconclusive, stat.Invalid: ExitInvalid,
	}[v.Verdict]
	b.say(b.sentence(gating))
	v.Next, v.Needs = b.next(gating), needs(v.Verdict, gating)
}

// say sets the sentence, which never hides what engine it is about.
func (b *builder) say(sentence string) {
	if b.view.Simulated {
		sentence = "Simulated engine, not vLLM: " + sentence
	}
	b.view.Sentence = sentence
}

// gating returns the comparisons that count. With none, nothing was asked and
// nothing can pass.
func (b *builder) gating() []*Comparison {
	var list []*Comparison
	var inside []string
	for i := range b.view.Comparisons {
		c := &b.view.Comparisons[i]
		gated := "not gated"
		if c.Gating {
			list, gated = append(list, c), "required"
		}
		if c.AA && b.s.Purpose != scenarios.AA {
			inside = append(inside, fmt.Sprintf("%s (%s against %s in this campaign, %s)", c.Result, c.Candidate, c.Baseline, gated))
		}
	}
	if inside != nil {
		b.view.AA = strings.Join(inside, "; ")
	}
	return list
}

// verdict joins the comparisons by the rule that joins metrics.
func (b *builder) verdict(gating []*Comparison) {
	v := b.view
	var verdicts []stat.Verdict
	for _, c := range gating {
		verdicts = append(verdicts, c.Verdict)
	}
	v.Verdict = stat.Overall(verdicts, stat.Conditions{})
	v.Result = string(v.Verdict)
	for _, c := range gating {
		if c.Verdict == v.Verdict {
			v.Result = c.Result
			return
		}
	}
}

// earlyStop checks a campaign that ended at a look before the last: only a PASS
// or a FAIL ends one there.
func (b *builder) earlyStop(gating []*Comparison) {
	n := b.view.Blocks
	if b.past || n.Valid == n.Planned || n.Analysed == 0 || b.view.Verdict == stat.Pass || b.view.Verdict == stat.Fail {
		return
	}
	for _, c := range gating {
		c.invalid("valid blocks missing", "the campaign stopped at the look of %d blocks, which neither passed nor failed; %d are planned", n.Valid, n.Planned)
		b.settle(c)
	}
	b.verdict(gating)
}

func (b *builder) unfinished() {
	v := b.view
	v.ExitCode, v.Result = ExitUnfinished, "UNFINISHED"
	b.say(fmt.Sprintf("Not finished: block %d of %d is done. No effects are shown before the end.", v.Blocks.Valid, v.Blocks.Planned))
	for i := len(b.c.Entries) - 1; i >= 0; i-- {
		if e := b.c.Entries[i]; e.Event == results.EventStop {
			v.Notes = append(v.Notes, "stopped: "+e.Detail)
			break
		}
	}
	v.Next = []string{"opbench resume " + shellWord(v.Subject.Campaign) + " goes on where it stopped"}
}

// note collects what the first lines must say.
func (b *builder) note() {
	v := b.view
	if v.Simulated {
		v.Notes = append(v.Notes, "SIMULATED ENGINE: these numbers are evidence about the tool, never about vLLM")
	}
	if b.s.Engine.Kind == scenarios.EngineAttach {
		v.Notes = append(v.Notes, "attached endpoints: someone else starts the servers, restarts are not controlled")
	}
	switch b.s.Purpose {
	case scenarios.Correctness:
		v.Notes = append(v.Notes, "correctness campaign: checks and output identity only, no statement about overhead")
		return
	case scenarios.AA:
		v.Notes = append(v.Notes, "A/A campaign: the arms are equal; PASS means that they were shown to be equal within the margin")
	case scenarios.Control:
		b.noteControl()
	}
	if d := b.s.Design; d.Interleaved() {
		v.Notes = append(v.Notes, fmt.Sprintf("interleaved: the servers of a block run at the same time and take turns in slices of about %s", d.Interleave.Slice))
	}
	var missing []string
	for _, m := range b.s.NotGated() {
		missing = append(missing, m.Label)
	}
	if missing != nil {
		v.Notes = append(v.Notes, "not gated: "+strings.Join(missing, ", ")+" (primary in no phase)")
	}
	if v.Thinned > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%s left out of the publication: their checks are recorded, not recomputed",
			plural(v.Thinned, "step file was", "step files were")))
	}
}
