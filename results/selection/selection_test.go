package selection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// ledger reads one entry a word: event:block/arm, where the event is its first letter
// (start, end, abort, void, host of a session).
func ledger(text string) (entries []results.Entry) {
	events := map[string]results.Event{
		"s": results.EventRunStart, "e": results.EventRunEnd, "a": results.EventRunAbort, "v": results.EventBlockVoid,
	}
	for word := range strings.FieldsSeq(text) {
		what, of, _ := strings.Cut(word, ":")
		if what == "h" {
			entries = append(entries, results.Entry{Event: results.EventSession, HostGroup: of})
			continue
		}
		block, arm, _ := strings.Cut(of, "/")
		entries = append(entries, results.Entry{Event: events[what], Block: block, Attempt: 1, Arm: arm})
	}
	return entries
}

// An interruption counts once for each block, whatever was lost in it, and a void block
// that follows from it does not count again; burn-in is free.
func TestRepeatsAreCounted(t *testing.T) {
	for _, c := range []struct {
		text             string
		used, void       int
		off, on, numbers any
	}{
		{"s:1/off e:1/off s:1/on a:1/on s:1/on e:1/on", 1, 0, 0, 1, []int{1}},
		{"s:1/on a:1/on s:1/on a:1/on s:1/on e:1/on", 2, 0, 0, 2, []int{1, 2}},
		{"s:1/off s:1/on a:1/off a:1/on s:1/off s:1/on a:1/off a:1/on", 2, 0, 2, 2, []int{1, 1, 2, 2}},
		{"s:1/off s:1/on e:1/off a:1/on v:1", 1, 1, 0, 1, []int{1}},
		{"s:1/off e:1/off s:1/on e:1/on v:1", 1, 1, 0, 0, []int(nil)},
		{"s:1/on a:1/on s:1/on e:1/on s:1/off e:1/off v:1", 2, 1, 0, 1, []int{1}},
		{"a:1/on a:1/on a:1/on", 3, 0, 0, 3, []int{1, 2, 3}},    // entries without their starts
		{"s:1/on s:1/on s:1/on e:1/on", 2, 0, 0, 2, []int(nil)}, // the entries that say how they ended are gone
		{"s:burnin-1/on a:burnin-1/on v:burnin-1", 0, 0, 0, 0, []int{0}},
	} {
		r := Count(ledger(c.text))
		assert.Equal(t, []any{c.used, c.void, c.off, c.on}, []any{r.Used, r.Void, r.Aborted["off"], r.Aborted["on"]}, c.text)
		assert.Equal(t, c.numbers, Interruptions(ledger(c.text)), c.text)
	}
}

func TestLimit(t *testing.T) {
	for blocks, want := range map[int]int{1: 1, 6: 2, 8: 3, 10: 4, 12: 4} {
		assert.Equal(t, want, Limit(&results.Plan{Scenario: scenarios.Scenario{Design: scenarios.Design{Blocks: blocks}}}), "%d blocks", blocks)
	}
}

// Only the ledger's own entries prove why an attempt is void, whatever its words say.
func TestWhatTheLedgerProves(t *testing.T) {
	arms := []scenarios.Arm{{Name: "off"}, {Name: "on"}}
	for _, c := range []struct {
		text        string
		interleaved bool
		want        bool
	}{
		{"h:A s:1/off s:1/on e:1/off h:A a:1/on v:1", true, true},
		{"h:A s:1/off s:1/on e:1/off a:1/on v:1", true, false},          // in the same session
		{"h:A s:1/off s:1/on e:1/off e:1/on h:A v:1", true, false},      // both had ended
		{"h:A s:1/off e:1/off h:A s:1/on a:1/on v:1", false, false},     // the partner stays
		{"h:A s:1/off e:1/off h:B v:1", false, true},                    // moved
		{"h:A s:1/off e:1/off h:B h:A s:1/on e:1/on v:1", false, false}, // and came back
		{"h: s:1/off e:1/off h:B v:1", false, false},                    // an old session names no host
		{"h:A s:1/off e:1/off s:1/on e:1/on h:B", false, false},         // not void
	} {
		p := &results.Plan{Scenario: scenarios.Scenario{Arms: arms}}
		if c.interleaved {
			p.Scenario.Design.Interleave.Slice = 1
		}
		got := Proven(p, ledger(c.text), results.BlockAttempt{Block: "1", Attempt: 1})
		assert.Equal(t, c.want, got, fmt.Sprint(c))
	}
}
