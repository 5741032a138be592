package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Look judges a campaign as it stood at one of its planned looks: in full, from
// the first blocks of the plan and from nothing that came after them. tool is the
// version to stamp on the result. It is an error if the plan has no such look or
// the blocks are not valid yet.
func Look(c *results.Campaign, blocks int, tool string) (*view.View, error) {
	q, err := ask(c, tool)
	if err != nil {
		return nil, err
	}
	v, err := q.at(blocks)
	if err != nil {
		return nil, fmt.Errorf("look at %d blocks of %s: %w", blocks, view.CampaignName(c.Dir), err)
	}
	return v, nil
}

// at judges the first blocks of the campaign, whose runs were examined already.
func (q *question) at(blocks int) (*view.View, error) {
	if looks := q.campaign.Plan.Scenario.Design.Looks; !slices.Contains(looks, blocks) {
		return nil, fmt.Errorf("the plan looks after %v blocks", looks)
	}
	c, ran := asAt(q.campaign, blocks)
	if c == nil {
		return nil, fmt.Errorf("block %d is not valid yet", blocks)
	}
	alpha, found, err := level(c)
	if err != nil {
		return nil, err
	}
	past := &question{campaign: c, near: evidence.Nearby{AA: q.near.AA, Evidence: q.near.Evidence, Spreads: q.near.Spreads}, found: found, tool: q.tool, alpha: alpha, past: true}
	for _, a := range q.runs {
		if ran[a.Key] {
			past.runs = append(past.runs, a)
		}
	}
	past.found = append(accept.Selection(c, past.runs), past.found...)
	return past.answer(), nil
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
	past, ran, lost := *c, map[results.Key]bool{}, 0
	past.Complete, past.Entries, past.Attempts, past.Voids = true, c.Entries[:end+1], nil, map[results.BlockAttempt]results.Entry{}
	for _, e := range past.Entries {
		switch e.Event {
		case results.EventRunEnd:
			ran[e.Key()] = true
		case results.EventRunAbort:
			lost++
		case results.EventBlockVoid:
			past.Voids[e.Key().BlockAttempt()] = e
		}
	}
	past.Aborted, past.Lost = c.Aborted[:lost], c.Lost[:lost]
	for _, a := range c.Attempts {
		if ran[a.Key] {
			past.Attempts = append(past.Attempts, a)
		}
	}
	return &past, ran
}

// checkLooks judges the looks before the last one again. A campaign that went on
// after a look that decides chose the verdict it liked better.
func (q *question) checkLooks(in *accept.Accepted, valid int) (looks []view.LookResult, found []view.Finding) {
	s := in.Scenario
	if !severalLooks(s) || !q.campaign.Complete || !accept.HasEffects(s) || q.past {
		return nil, nil
	}
	recorded, found := recordedLooks(q.campaign)
	for i, n := range s.Design.Looks {
		l := view.LookResult{Number: i + 1, Blocks: n, ErrorPct: 100 * q.alpha, SpentPct: 100 * min(float64(i+1)*q.alpha, stat.DefaultAlpha)}
		if n > valid {
			break
		}
		if n < valid {
			found = append(found, q.checkLook(&l)...)
		}
		if !recorded[n] {
			found = append(found, view.NewFinding(view.ReasonLookMissing, "the ledger has no look at %s, which the plan has", view.Plural(n, "block", "blocks")))
		}
		looks = append(looks, l)
	}
	return looks, found
}

// checkLook judges a look after which the campaign went on.
func (q *question) checkLook(l *view.LookResult) []view.Finding {
	at, err := q.at(l.Blocks)
	if err != nil {
		return []view.Finding{view.NewFinding(view.ReasonLookMissing, "%v", err)}
	}
	l.Verdict = at.Verdict
	if l.Verdict == stat.Pass || l.Verdict == stat.Fail {
		return []view.Finding{view.NewFinding(view.ReasonLookIgnored, "the look at %s gives %s, and the campaign went on", view.Plural(l.Blocks, "block", "blocks"), at.Headline())}
	}
	return nil
}

// recordedLooks are the looks in the ledger. One that the plan does not have
// makes every level too generous.
func recordedLooks(c *results.Campaign) (recorded map[int]bool, found []view.Finding) {
	recorded = map[int]bool{}
	looks := c.Plan.Scenario.Design.Looks
	for _, e := range c.Entries {
		if e.Event != results.EventLook {
			continue
		}
		recorded[e.Blocks] = true
		if !slices.Contains(looks, e.Blocks) {
			found = append(found, view.NewFinding(view.ReasonLookUnplanned, "the ledger has a look at %s, the plan looks after %s", view.Plural(e.Blocks, "block", "blocks"), numbers(looks)))
		}
	}
	return recorded, found
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}
