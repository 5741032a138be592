package results

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

func somePlan() *Plan {
	return hashed(&Plan{Schema: Schema, Kind: "plan", Scenario: scenarios.Scenario{Name: "toy"},
		Blocks: []Block{{Number: 1, BurnIn: true, Order: []string{"off"}}, {Number: 1, Order: []string{"off"}}}})
}

// hashed gives a plan its hash.
func hashed(p *Plan) *Plan {
	p.Hash, _ = p.ComputeHash() // of numbers and strings
	return p
}

// sealRun writes one run of a campaign and its ledger entries.
func sealRun(t testing.TB, dir string, l *Ledger, key Key, last Event) {
	t.Helper()
	sealRunWith(t, dir, l, Run{Schema: Schema, Kind: "run", Key: key})
	require.NoError(t, l.Append(Entry{Event: last, Block: key.Block, Attempt: key.Attempt, Detail: "why"}))
}

// sealRunWith writes a run with what its folder holds already.
func sealRunWith(t testing.TB, dir string, l *Ledger, r Run) {
	t.Helper()
	run := RunPath(dir, r.Key)
	require.NoError(t, os.MkdirAll(run, 0o755))
	require.NoError(t, SaveRun(run, &Attempt{Run: &r, Environment: &Environment{Host: "h"}, Requests: someRequests()}))
	sum, err := Seal(run)
	require.NoError(t, err)
	require.NoError(t, l.Append(Entry{Event: EventRunEnd, SumsSHA256: sum,
		Block: r.Key.Block, Attempt: r.Key.Attempt, Arm: r.Key.Arm}))
}

func someCampaign(t testing.TB) string {
	t.Helper()
	dir, err := Create(t.TempDir(), somePlan(), time.Date(2026, 12, 4, 10, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	l, err := OpenLedger(LedgerPath(dir))
	require.NoError(t, err)
	sealRun(t, dir, l, Key{"burnin-1", 1, "off"}, EventBlockValid)
	sealRun(t, dir, l, Key{"0001", 1, "off"}, EventBlockVoid)
	sealRun(t, dir, l, Key{"0001", 2, "off"}, EventBlockValid)
	require.NoError(t, l.Append(Entry{Event: EventComplete}))
	require.NoError(t, l.Close())
	return dir
}

func TestCampaignRoundTrip(t *testing.T) {
	dir := someCampaign(t)
	c, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, "20261204T100000Z-toy-"+c.Plan.Hash[:8], filepath.Base(dir))
	assert.Empty(t, c.Damage)
	require.Len(t, c.Attempts, 3)
	assert.True(t, c.Complete)
	assert.True(t, c.Attempts[0].BurnIn)
	assert.False(t, c.Attempts[1].Valid, "the void attempt is kept and not valid")
	assert.True(t, c.Attempts[2].Valid)
	assert.Equal(t, "why", c.Voids[BlockAttempt{"0001", 1}].Detail)
	assert.Equal(t, "0001.2/off", c.Attempts[2].Key.Dir())
	assert.Len(t, c.Attempts[2].Requests, 2)
	assert.Nil(t, c.Attempts[2].Identity)
}

// A changed measurement is named and its content withheld, so that it can't
// enter a verdict.
func TestCampaignDamage(t *testing.T) {
	dir := someCampaign(t)
	run := RunPath(dir, Key{"0001", 2, "off"})
	fewer, err := encodeRequests(someRequests()[:1])
	require.NoError(t, err)
	require.NoError(t, WriteFile(filepath.Join(run, RequestsFile), fewer))
	c, err := Load(dir)
	require.NoError(t, err)
	assert.Contains(t, c.Attempts[2].Damage, "requests.jsonl.zst: checksum")
	assert.Nil(t, c.Attempts[2].Run)
	assert.Empty(t, c.Attempts[1].Damage)
}

func TestLoadRefuses(t *testing.T) {
	_, err := Load(t.TempDir())
	assert.ErrorContains(t, err, "is not a run directory")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.json"), []byte(`{"schema":99,"kind":"plan"}`), 0o644))
	_, err = Load(dir)
	assert.ErrorContains(t, err, "schema 99")
}
