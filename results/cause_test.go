package results

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ledgers from before rule and message were apart are still read, and what is
// written now is read as it was.
func TestCausesOfOldAndNewLedgers(t *testing.T) {
	old := `{"seq":1,"time":"2026-07-11T00:00:00Z","event":"run-end","findings":["no-footer: check footer failed: 1 of 1","odd"]}` + "\n"
	entries, _, err := parseLedger("ledger.jsonl", []byte(old))
	require.NoError(t, err)
	assert.Equal(t, []Cause{{Rule: "no-footer", Message: "check footer failed: 1 of 1"}, {Message: "odd"}}, entries[0].Findings)

	now := Entry{Seq: 1, Event: EventBlockVoid, Causes: []Cause{{Rule: "run-failed", Arm: "on", Message: "a: b"}}}
	line, err := json.Marshal(now)
	require.NoError(t, err)
	assert.Contains(t, string(line), `"causes":[{"rule":"run-failed","arm":"on","message":"a: b"}]`)
	entries, _, err = parseLedger("ledger.jsonl", append(line, '\n'))
	require.NoError(t, err)
	assert.Equal(t, []Entry{now}, entries)

	_, _, err = parseLedger("ledger.jsonl", []byte(`{"seq":1,"findings":[7]}`+"\n"))
	assert.ErrorContains(t, err, "damaged ledger line")
}

// A log's last lines do not fill a terminal or move its cursor: both ends of a
// message are kept, in one line.
func TestBrief(t *testing.T) {
	assert.Equal(t, "ends with: no \ufffd[31mKV cache", Cause{Message: "ends with:\n\n  no \x1b[31mKV\tcache\n"}.Brief())
	long := "the server ended; its log ends with: " + strings.Repeat("frame ä\n", 500) + "ValueError: no KV cache"
	brief := Cause{Message: long}.Brief()
	assert.LessOrEqual(t, len([]rune(brief)), briefHead+briefTail+len([]rune(" … ")))
	assert.True(t, strings.HasPrefix(brief, "the server ended;"), brief)
	assert.True(t, strings.HasSuffix(brief, "ValueError: no KV cache"), brief)
}

// Runs of one cause say it with their own numbers; a status is no such number.
func TestKin(t *testing.T) {
	kin := func(message string) string { return Cause{Message: message}.Kin() }
	for _, alike := range [][2]string{
		{"dial tcp 127.0.0.1:4711: refused", "dial tcp 127.0.0.1:8000: refused"},
		{"serves opbench-7710bd6fe9ad", "serves opbench-1b7e246d87ae"},
		{"at 0x7fe0: killed", "at 0x1: killed"},
		{"exit status 1; its log ends with:\n  12:01 a\n  OOM", "exit status 1; its log ends with:\n  12:07 b\n  c\n  OOM"},
	} {
		assert.Equal(t, kin(alike[0]), kin(alike[1]))
	}
	for _, apart := range [][2]string{
		{"status 503: busy", "status 500: busy"}, {"exit status 1", "exit status 137"}, {`"code":400`, `"code":404`},
		{"the server ended", "the server stalls"}, {"log:\n a\n OOM", "log:\n a\n no such file"},
	} {
		assert.NotEqual(t, kin(apart[0]), kin(apart[1]))
	}
}

// The entry of a void block says each rule with its arms, and what was found first; a
// text that joined these is taken apart again.
func TestWhyABlockIsVoid(t *testing.T) {
	e := Entry{Event: EventBlockVoid, Causes: []Cause{
		{Rule: "run-failed", Arm: "off", Message: "no KV cache"}, {Rule: "request-failed", Arm: "on", Message: "EOF"},
		{Rule: "run-failed", Arm: "r2", Message: "no KV cache"},
	}}
	assert.Equal(t, "run failed in off, r2; request failed in on: no KV cache", e.Why())
	assert.Equal(t, "begun elsewhere", Entry{Detail: "begun elsewhere"}.Why())

	c := &Campaign{Attempts: []Attempt{
		{Key: Key{"0001", 1, "off"}, Findings: []Cause{{Rule: "probe-lag", Message: "late"}, {Rule: "send-late", Message: "later"}}},
		{Key: Key{"0001", 1, "on"}}, {Key: Key{"0001", 2, "on"}, Findings: []Cause{{Message: "of another attempt"}}},
	}}
	old := Entry{Event: EventBlockVoid, Block: "0001", Attempt: 1, Detail: "arm off: probe-lag: late; send-late: later"}
	again := c.withCauses(old)
	assert.Empty(t, again.Detail)
	assert.Equal(t, []Cause{{"probe-lag", "off", "late"}, {"send-late", "off", "later"}}, again.Causes)
	old.Detail = "begun on another host"
	assert.Equal(t, old, c.withCauses(old), "that is no finding of a run")
}
