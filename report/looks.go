package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/results"
)

// Look judges a campaign as it stood at one of its planned looks: in full, from
// the first blocks of the plan and from nothing that came after them. tool is the
// version to stamp on the result. It is an error if the plan has no such look or
// the blocks are not valid yet.
func Look(c *results.Campaign, blocks int, tool string) (*View, error) {
	b, err := read(c, tool)
	if err != nil {
		return nil, err
	}
	at, err := b.at(blocks)
	if err != nil {
		return nil, fmt.Errorf("look at %d blocks of %s: %w", blocks, campaignName(c.Dir), err)
	}
	return at.view, nil
}

// at judges the first blocks of the campaign, whose runs were examined already.
func (b *builder) at(blocks int) (*builder, error) {
	if !slices.Contains(b.s.Design.Looks, blocks) {
		return nil, fmt.Errorf("the plan looks after %v blocks", b.s.Design.Looks)
	}
	c, ran := asAt(b.c, blocks)
	if c == nil {
		return nil, fmt.Errorf("block %d is not valid yet", blocks)
	}
	past := &builder{c: c, s: b.s, past: true, evidence: b.evidence}
	if err := past.prepare(b.view.Tool); err != nil {
		return nil, err
	}
	past.view.AA = b.view.AA
	for _, a := range b.attempts {
		if ran[a.Key] {
			past.attempts = append(past.attempts, a)
		}
	}
	past.judgeAll()
	return past, nil
}

// asAt is the campaign when the block of that number became valid, taken for
// complete, with the runs that there were; nil if it never did.
func asAt(c *results.Campaign, blocks int) (*results.Campaign, map[results.Key]bool) {
	last := results.Block{Number: blocks}.Name()
	end := slices.IndexFunc(c.Entries, func(e results.Entry) bool {
		return e.Event == results.EventBlockValid && e.Block == last
	})
	if end < 0 {
		return nil, nil
	}
	past, ran := *c, map[results.Key]bool{}
	past.Complete, past.Entries, past.Attempts, past.Voids = true, c.Entries[:end+1], nil, map[results.BlockAttempt]string{}
	for _, e := range past.Entries {
		switch e.Event {
		case results.EventRunEnd:
			ran[e.Key()] = true
		case results.EventBlockVoid:
			past.Voids[e.Key().BlockAttempt()] = e.Detail
		}
	}
	for _, a := range c.Attempts {
		if ran[a.Key] {
			past.Attempts = append(past.Attempts, a)
		}
	}
	return &past, ran
}

// severalLooks reports whether the campaign could end before its last block.
func (b *builder) severalLooks() bool { return len(b.s.Design.Looks) > 1 }

// checkLooks judges the looks before the last one again. A campaign that went on
// after a look that decides chose the verdict it liked better.
func (b *builder) checkLooks() {
	if !b.severalLooks() || !b.c.Complete || !b.gated() || b.past {
		return
	}
	recorded := b.recordedLooks()
	for i, n := range b.s.Design.Looks {
		l := LookResult{Number: i + 1, Blocks: n, ErrorPct: 100 * b.alpha, SpentPct: 100 * min(float64(i+1)*b.alpha, stat.DefaultAlpha)}
		if n > b.view.Blocks.Valid {
			break
		}
		if n < b.view.Blocks.Valid {
			b.checkLook(&l)
		}
		if !recorded[n] {
			b.invalid("look missing", "the ledger has no look at %s, which the plan has", plural(n, "block", "blocks"))
		}
		b.view.Looks = append(b.view.Looks, l)
	}
}

// checkLook judges a look after which the campaign went on.
func (b *builder) checkLook(l *LookResult) {
	at, err := b.at(l.Blocks)
	if err != nil {
		b.invalid("look missing", "%v", err)
		return
	}
	l.Verdict = at.view.Verdict
	if l.Verdict == stat.Pass || l.Verdict == stat.Fail {
		b.invalid("look ignored", "the look at %s gives %s, and the campaign went on", plural(l.Blocks, "block", "blocks"), at.view.Result)
	}
}

// recordedLooks are the looks in the ledger. One that the plan does not have
// makes every level too generous.
func (b *builder) recordedLooks() map[int]bool {
	recorded := map[int]bool{}
	for _, e := range b.c.Entries {
		if e.Event != results.EventLook {
			continue
		}
		recorded[e.Blocks] = true
		if !slices.Contains(b.s.Design.Looks, e.Blocks) {
			b.invalid("look unplanned", "the ledger has a look at %s, the plan looks after %s", plural(e.Blocks, "block", "blocks"), numbers(b.s.Design.Looks))
		}
	}
	return recorded
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// closeLooks gives the deciding look its verdict and says which it was and what
// error was spent.
func (b *builder) closeLooks() {
	v := b.view
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
		last.Number, len(b.s.Design.Looks), last.Blocks, v.Blocks.Planned, what,
		plainNumber(v.Level()), plainNumber(last.ErrorPct), plainNumber(last.SpentPct)))
}

// Level is the two-sided confidence of the intervals in percent: several looks
// share the error of one.
func (v *View) Level() float64 {
	if v.Subject.LevelPct != 0 {
		return v.Subject.LevelPct
	}
	return v.Subject.Confidence
}
