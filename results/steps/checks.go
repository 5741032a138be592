package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
)

// place is a line of a step file.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// outcome is the running result of one check.
type outcome struct{ results.Check }

func (o *outcome) fail(first string) {
	o.Failed++
	if o.First == "" {
		o.First = first
	}
}

// order is the order of the checks in a summary: of files, of records, of sums.
var order = func() []string {
	ids := []string{"format", "torn-tail", "footer", "footer-counts", "engines"}
	for _, r := range recordRules {
		ids = append(ids, r.id)
	}
	return append(ids, "prefill-tokens-client", "decode-tokens-client", "resumed")
}()

// tally holds the outcome of every check.
type tally struct {
	byID  map[string]*outcome
	rules []*outcome // of recordRules, in their order
}

func newTally() tally {
	t := tally{byID: map[string]*outcome{}}
	for _, r := range recordRules {
		t.rules = append(t.rules, t.check(r.id))
	}
	return t
}

func (t *tally) check(id string) *outcome {
	o := t.byID[id]
	if o == nil {
		o = &outcome{results.Check{ID: id}}
		t.byID[id] = o
	}
	return o
}

// record applies all rules to a record.
func (t *tally) record(at place, before *past, r *Record) {
	for i := range recordRules {
		rule, o := &recordRules[i], t.rules[i]
		if rule.applies != nil && !rule.applies(r) {
			o.Skipped = rule.skipped
			continue
		}
		o.Checked++
		if wrong := rule.wrong(before, r); wrong != "" {
			o.fail(fmt.Sprintf("%s: step %d: %s", at, r.StepIndex, wrong))
		}
	}
}

// results lists all checks; one that was never evaluated says why.
func (t *tally) results(records int64) []results.Check {
	var all []results.Check
	for _, id := range order {
		c := t.check(id).Check
		switch {
		case c.Checked > 0:
			c.Skipped = ""
		case c.Skipped == "" && records == 0:
			c.Skipped = "no records"
		case c.Skipped == "":
			c.Skipped = "nothing to check"
		}
		all = append(all, c)
	}
	return all
}

// closing checks how a file ends.
func (p *pass) closing(file *File, all *past) {
	torn := p.tally.check("torn-tail")
	torn.Checked++
	if file.Torn > 0 {
		torn.fail(fmt.Sprintf("%s: %s after the last complete line, dropped", file.Name, counted(file.Torn, "byte")))
	}
	footer := p.tally.check("footer")
	footer.Checked++
	if file.Footer == nil {
		footer.fail(file.Name + ": no footer: the recorder was not closed")
		return
	}
	p.footers++
	p.out.Dropped += max(0, file.Footer.Dropped-all.dropped) // after the last record
	p.out.BacklogMax = max(p.out.BacklogMax, file.Footer.BacklogMax)
	counts := p.tally.check("footer-counts")
	counts.Checked++
	if wrong := footerCounts(file.Footer, all); wrong != "" {
		counts.fail(file.Name + ": footer: " + wrong)
	}
}

// footerCounts compares a footer with the records before it. A recorder may
// drop before or after encoding.
func footerCounts(f *Footer, all *past) string {
	switch {
	case f.Written != all.records:
		return fmt.Sprintf("written is %d, the file has %d records", f.Written, all.records)
	case f.Dropped < all.dropped:
		return fmt.Sprintf("dropped is %d, the records say %d", f.Dropped, all.dropped)
	case f.Encoded < f.Written || f.Encoded > f.Written+f.Dropped:
		return fmt.Sprintf("encoded is %d with %d written and %d dropped", f.Encoded, f.Written, f.Dropped)
	case f.BacklogMax < all.backlog:
		return fmt.Sprintf("backlog_max is %d, a record says %d", f.BacklogMax, all.backlog)
	}
	return ""
}

// missingFooter lets a missing footer pass with a warning where a normal stop
// may lose it, if indices and token sums hold.
func (p *pass) missingFooter() {
	if p.opt.TensorParallel <= 1 {
		return
	}
	for _, id := range []string{"contiguous-steps", "token-split", "prefill-tokens-client", "decode-tokens-client"} {
		if p.tally.check(id).Failed > 0 {
			return
		}
	}
	p.tally.check("footer").Warning = true
}

// engineFiles: one scheduler writes one file per server start. A second file
// of a rank is from another start or a foreign server.
func (p *pass) engineFiles() {
	o := p.tally.check("engines")
	for _, rank := range slices.Sorted(maps.Keys(p.ranks)) {
		o.Checked++
		if files := p.ranks[rank]; len(files) > 1 {
			o.fail(fmt.Sprintf("%s has %d files (%s); one server start writes one", rank, len(files), strings.Join(files, ", ")))
		}
	}
}

// clientSums compares the scheduled tokens with what the client's requests
// explain. A preempted request computes tokens again: these must be the surplus.
func (p *pass) clientSums() {
	prefill, decode := p.tally.check("prefill-tokens-client"), p.tally.check("decode-tokens-client")
	resumed := p.tally.check("resumed")
	if p.opt.Client != nil {
		p.out.ClientPrefill, p.out.ClientDecode = p.opt.Client.Prefill, p.opt.Client.Decode
	}
	switch o := p.out; {
	case p.opt.Client == nil:
		skip("the client's token sums are not known", prefill, decode, resumed)
	case p.tally.check("format").Failed+p.tally.check("torn-tail").Failed > 0:
		skip("the records are not complete", prefill, decode, resumed)
	case o.Records == 0:
		skip("no records", prefill, decode, resumed)
	case o.Dropped > 0:
		skip(counted(o.Dropped, "record")+" dropped", prefill, decode, resumed)
	default:
		p.clientSum(prefill, "prefill", o.PrefillTokens, o.ClientPrefill)
		p.clientSum(decode, "decode", o.DecodeTokens, o.ClientDecode)
		p.surplus(resumed)
	}
}

func skip(why string, checks ...*outcome) {
	for _, c := range checks {
		c.Skipped = why
	}
}

func (p *pass) clientSum(c *outcome, what string, recorded, client int64) {
	c.Checked++
	if recorded == client || p.out.Preemptions > 0 && recorded > client {
		return
	}
	c.fail(fmt.Sprintf("%s recorded, the client's requests explain %d (%s)",
		counted(recorded, what+" token"), client, counted(p.out.Preemptions, "preemption")))
}

// surplus: resumed.tokens are the tokens that a preemption made vLLM compute
// again. With prefix caching, a request that was preempted in mid-prefill reports
// the cached tokens of its second admission to the client: the surplus may then
// be larger by at most the hits of preempted requests.
func (p *pass) surplus(c *outcome) {
	o := p.out
	c.Checked++
	if o.Preemptions == 0 {
		if o.ResumedTokens != 0 || p.resumed != 0 {
			c.fail(fmt.Sprintf("%s of %s without a preemption", counted(o.ResumedTokens, "resumed token"), counted(p.resumed, "request")))
		}
		return
	}
	got := o.PrefillTokens + o.DecodeTokens - o.ClientPrefill - o.ClientDecode
	if got >= o.ResumedTokens && got <= o.ResumedTokens+p.preemptedHits {
		return
	}
	c.fail(fmt.Sprintf("%s more than the client's requests explain, but %s of %s, %d cached",
		counted(got, "token"), counted(o.ResumedTokens, "resumed token"), counted(p.resumed, "request"), p.preemptedHits))
}

// counted is a number with its noun, whose plural ends in s.
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
