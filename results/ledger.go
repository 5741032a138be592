package results

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Event is what a ledger entry says.
type Event string

// The events of a ledger, in the order in which a campaign meets them.
const (
	EventSession    Event = "session"     // a process begins to work on the campaign
	EventRunStart   Event = "run-start"   // a server is about to start
	EventRunEnd     Event = "run-end"     // the run's directory is sealed
	EventRunAbort   Event = "run-abort"   // the run in progress was lost; what there is of it was sealed aside
	EventBlockValid Event = "block-valid" // all runs of the block's attempt are valid
	EventBlockVoid  Event = "block-void"  // the block's attempt is void; Causes or Detail say why
	EventLook       Event = "look"        // the blocks so far were judged at a planned look
	EventStop       Event = "stop"        // stopped before the end; Detail says why
	EventComplete   Event = "complete"    // nothing is left to run
	EventClose      Event = "close"       // given up before the end; Detail says why
	EventThinned    Event = "thinned"     // publishing left step files out: the digest of thinned.json
)

// Entry is one line of ledger.jsonl.
type Entry struct {
	Seq     int64     `json:"seq"` // 1, 2, 3, ...
	Time    time.Time `json:"time"`
	Event   Event     `json:"event"`
	Block   string    `json:"block,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Arm     string    `json:"arm,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	// Findings of the run (run-end): what makes it INVALID.
	Findings []Cause `json:"findings,omitempty"`
	// Causes are the findings of all runs that void the attempt, with their arms
	// (block-void). Ledgers from before they were apart have them in Detail.
	Causes []Cause `json:"causes,omitempty"`
	// SumsSHA256 is the digest of the run's SHA256SUMS (run-end, run-abort).
	SumsSHA256 string `json:"sums_sha256,omitempty"`
	// Folder has what was sealed of an aborted run, below blocks/, and Timed says
	// whether one of its timed requests had been sent (run-abort). Both are absent in
	// ledgers from before aborted runs were sealed.
	Folder string `json:"folder,omitempty"`
	Timed  Sent   `json:"timed_sent,omitempty"`
	// Fingerprint of the host (session).
	Fingerprint string `json:"fingerprint,omitempty"`
	Tool        string `json:"tool,omitempty"`
	// Software and HostGroup are those of Environment (session).
	Software  map[string]string `json:"software,omitempty"`
	HostGroup string            `json:"host_group,omitempty"`
	// PlanSHA256 is the digest of plan.json as the session found it.
	PlanSHA256 string `json:"plan_sha256,omitempty"`
	// Look counts from 1; Blocks is how many blocks were judged, Verdict the
	// result and Follows what it leads to (look).
	Look    int     `json:"look,omitempty"`
	Blocks  int     `json:"blocks,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
	Follows Follows `json:"follows,omitempty"`
	// ThinnedSHA256 is the digest of thinned.json (thinned).
	ThinnedSHA256 string `json:"thinned_sha256,omitempty"`
}

// Why says why a block's attempt is void: Detail, or each rule with its arms and
// what was found first.
func (e Entry) Why() string {
	if len(e.Causes) == 0 {
		return e.Detail
	}
	return e.Rules() + ": " + e.Causes[0].Brief()
}

// Rules names the rules of Causes, those of each arm.
func (e Entry) Rules() string {
	var arms, parts []string
	rules := map[string][]string{}
	for _, c := range e.Causes {
		if rules[c.Arm] == nil {
			arms = append(arms, c.Arm)
		}
		if words := strings.ReplaceAll(c.Rule, "-", " "); !slices.Contains(rules[c.Arm], words) {
			rules[c.Arm] = append(rules[c.Arm], words)
		}
	}
	for len(arms) > 0 {
		words := rules[arms[0]]
		alike := slices.DeleteFunc(slices.Clone(arms), func(arm string) bool { return !slices.Equal(rules[arm], words) })
		arms = slices.DeleteFunc(arms, func(arm string) bool { return slices.Contains(alike, arm) })
		parts = append(parts, strings.Join(words, ", ")+" in "+strings.Join(alike, ", "))
	}
	return strings.Join(parts, "; ")
}

// Follows is what comes after a look.
type Follows string

// What follows a look.
const (
	FollowsOn   Follows = "go on" // undecided: more blocks
	FollowsStop Follows = "stop"  // decided before the last block
	FollowsEnd  Follows = "end"   // the last look, whatever it says
)

// Key is the run that the entry is about.
func (e Entry) Key() Key { return Key{e.Block, e.Attempt, e.Arm} }

// BurnIn reports whether the entry is about a burn-in block.
func (e Entry) BurnIn() bool { return strings.HasPrefix(e.Block, burnInPrefix) }

// Ledger is the append-only journal of a campaign. One process writes it.
type Ledger struct {
	file    *os.File
	entries []Entry
}

// ErrBusy says that a session works on the campaign at this moment.
var ErrBusy = errors.New("another session works on this campaign: wait for it or end it")

// ErrPublished says that a campaign is stored in an archive, which is read and
// never written to.
var ErrPublished = errors.New("a published campaign, which is never changed: start a new one")

// Changeable returns ErrPublished for the folder of a published campaign.
func Changeable(dir string) error {
	if archived(dir) {
		return fmt.Errorf("%s: %w", dir, ErrPublished)
	}
	return nil
}

// OpenLedger opens or creates the ledger for appending, and holds it against
// other sessions (ErrBusy) until Close. A torn last line, left by a crash in
// mid-write, is cut off; damage elsewhere is an error. A published campaign is
// refused (ErrPublished).
func OpenLedger(path string) (*Ledger, error) {
	if err := Changeable(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l, err := hold(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// hold locks the file first and reads it then: what it says cannot change any more.
func hold(f *os.File) (*Ledger, error) {
	if err := lock(f); err != nil {
		return nil, err
	}
	entries, good, err := readLedger(folder(filepath.Dir(f.Name())), filepath.Base(f.Name()))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(good), seekTo(f, good)); err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", f.Name(), err)
	}
	return &Ledger{file: f, entries: entries}, nil
}

// lock is released by the operating system when the process ends, however it does.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), ErrBusy)
	}
	if err != nil {
		return fmt.Errorf("lock ledger %s: %w", f.Name(), err)
	}
	return nil
}

// Busy reports whether a session works on the campaign of this ledger; on a
// published one none does.
func Busy(path string) (bool, error) {
	if archived(filepath.Dir(path)) {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open ledger: %w", err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock ledger %s: %w", path, err)
	}
	return false, nil
}

func seekTo(f *os.File, offset int64) error {
	_, err := f.Seek(offset, 0)
	return err
}

// Append adds an entry, numbered and synced to disk before it returns.
func (l *Ledger) Append(e Entry) error {
	e.Seq = int64(len(l.entries)) + 1
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("append to ledger: %w", err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append to ledger %s: %w", l.file.Name(), err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync ledger %s: %w", l.file.Name(), err)
	}
	l.entries = append(l.entries, e)
	return nil
}

// Entries are all entries so far, in order.
func (l *Ledger) Entries() []Entry { return l.entries }

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// ReadLedger reads a ledger without changing it. A torn last line is ignored.
// path is that of LedgerPath for an archive as well.
func ReadLedger(path string) ([]Entry, error) {
	f, err := open(filepath.Dir(path), headOnly)
	if err != nil {
		return nil, err
	}
	entries, _, err := readLedger(f, filepath.Base(path))
	return entries, err
}

// readLedger returns the entries and the length of the file up to the last
// whole line.
func readLedger(f files, name string) ([]Entry, int64, error) {
	data, err := fs.ReadFile(f, name)
	if err != nil {
		return nil, 0, fmt.Errorf("read ledger: %w", err)
	}
	return parseLedger(f.path(name), data)
}

func parseLedger(name string, data []byte) ([]Entry, int64, error) {
	good := int64(bytes.LastIndexByte(data, '\n') + 1)
	var entries []Entry
	sc := bufio.NewScanner(bytes.NewReader(data[:good]))
	sc.Buffer(nil, 16<<20)
	for line := 1; sc.Scan(); line++ {
		var e Entry
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: damaged ledger line: %w", name, line, err)
		}
		if e.Seq != int64(line) {
			return nil, 0, fmt.Errorf("%s:%d: sequence number %d, want %d: a line is missing or doubled", name, line, e.Seq, line)
		}
		entries = append(entries, e)
	}
	return entries, good, sc.Err()
}
