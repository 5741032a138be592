package results

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newLedger(t *testing.T) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := OpenLedger(path)
	require.NoError(t, err)
	return l, path
}

func TestLedgerKeepsOrderAndNumbers(t *testing.T) {
	l, path := newLedger(t)
	require.NoError(t, l.Append(Entry{Event: EventSession, Time: time.Unix(1, 0).UTC()}))
	require.NoError(t, l.Append(Entry{Event: EventRunStart, Block: "0001", Attempt: 1, Arm: "off"}))
	require.NoError(t, l.Close())
	again, err := OpenLedger(path)
	require.NoError(t, err)
	require.NoError(t, again.Append(Entry{Event: EventStop, Detail: "time budget"}))
	require.NoError(t, again.Close())
	got, err := ReadLedger(path)
	require.NoError(t, err)
	require.Len(t, got, 3)
	for i, e := range got {
		assert.Equal(t, int64(i+1), e.Seq)
	}
	assert.Equal(t, Key{"0001", 1, "off"}, got[1].Key())
	assert.Equal(t, EventStop, got[2].Event)
}

// A crash in mid-write leaves any prefix of the last line: it is cut off, the
// lines before it stay, and the next entry follows with the right number.
func TestLedgerTornAtEveryByte(t *testing.T) {
	l, path := newLedger(t)
	require.NoError(t, l.Append(Entry{Event: EventSession}))
	require.NoError(t, l.Append(Entry{Event: EventRunStart, Block: "0001", Attempt: 1, Arm: "on"}))
	require.NoError(t, l.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut < len(whole); cut++ {
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
		again, err := OpenLedger(path)
		require.NoError(t, err, "cut at %d", cut)
		require.Len(t, again.Entries(), 1, "cut at %d", cut)
		require.NoError(t, again.Append(Entry{Event: EventComplete}))
		require.NoError(t, again.Close())
		got, err := ReadLedger(path)
		require.NoError(t, err, "cut at %d", cut)
		require.Len(t, got, 2)
	}
}

func TestLedgerDamage(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"garbage inside", "{\"seq\":1,\"event\":\"session\"}\nrubbish\n{\"seq\":3}\n", ":2: damaged ledger line"},
		{"missing line", "{\"seq\":1}\n{\"seq\":3}\n", ":2: sequence number 3, want 2"},
		{"doubled line", "{\"seq\":1}\n{\"seq\":1}\n", ":2: sequence number 1, want 2"},
		{"zero bytes", "\x00\x00\n", ":1: damaged ledger line"},
	} {
		path := filepath.Join(t.TempDir(), "ledger.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := ReadLedger(path)
		assert.ErrorContains(t, err, c.want, c.name)
		_, err = OpenLedger(path)
		assert.ErrorContains(t, err, c.want, c.name)
		after, _ := os.ReadFile(path)
		assert.Equal(t, c.text, string(after), "%s: a damaged ledger must not be changed", c.name)
	}
}

func TestLedgerEmptyAndAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	_, err := ReadLedger(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	got, err := ReadLedger(path)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func FuzzLedger(f *testing.F) {
	f.Add([]byte("{\"seq\":1,\"event\":\"session\"}\n{\"seq\":2"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, good, err := parseLedger("ledger.jsonl", data)
		if err != nil {
			return
		}
		if good > int64(len(data)) || int64(len(entries)) != int64(bytes.Count(data[:good], []byte("\n"))) {
			t.Fatalf("%d entries in %d bytes of %q", len(entries), good, data)
		}
	})
}

// Two sessions that append to one ledger would number entries twice.
func TestLedgerIsHeld(t *testing.T) {
	l, path := newLedger(t)
	require.NoError(t, l.Append(Entry{Event: EventSession}))
	busy, err := Busy(path)
	require.NoError(t, err)
	assert.True(t, busy)
	_, err = OpenLedger(path)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, l.Close())
	busy, err = Busy(path)
	require.NoError(t, err)
	assert.False(t, busy)
	again, err := OpenLedger(path)
	require.NoError(t, err)
	assert.Len(t, again.Entries(), 1, "the refused session changed nothing")
	require.NoError(t, again.Close())
}
