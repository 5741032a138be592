package results

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// ReadPlan reads plan.json of a campaign.
func ReadPlan(dir string) (*Plan, error) {
	var p Plan
	path := filepath.Join(dir, PlanFile)
	if err := readJSON(path, &p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a run directory: it has no plan.json", dir)
		}
		return nil, err
	}
	if p.Kind != "plan" || p.Schema != Schema {
		return nil, fmt.Errorf("%s/plan.json: kind %q schema %d, this tool reads plan schema %d", dir, p.Kind, p.Schema, Schema)
	}
	var err error
	if p.FileSHA256, err = hashFile(path); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return &p, nil
}

// Attempt is one sealed run of a campaign with what was measured.
type Attempt struct {
	Key    Key
	BurnIn bool
	// Valid: the block's attempt was accepted. Void attempts are kept and shown.
	Valid bool
	// Findings of the harness right after the run, as the ledger has them.
	Findings    []string
	Run         *Run
	Requests    []Request
	Identity    *Identity
	Environment *Environment
	// Damage says why the files cannot be trusted; everything else but Key is
	// then empty.
	Damage string
}

// Campaign is a run directory, read and verified.
type Campaign struct {
	Dir      string
	Plan     *Plan
	Entries  []Entry
	Attempts []Attempt // in running order
	// Voids says why a block's attempt was void.
	Voids map[BlockAttempt]string
	// Thinned lists step files that publishing left out ("0001/off/steps/…").
	Thinned map[string]bool
	// Aborted are runs that were lost to a crash or an interruption.
	Aborted []Entry
	// Complete: the ledger says that nothing is left to run.
	Complete bool
	// Closed says why a complete campaign was given up before its end, or "".
	Closed string
}

// Load reads a campaign and verifies every checksum. Damaged runs are returned
// as such, so that they can be named; only an unreadable plan or ledger is an
// error.
func Load(dir string) (*Campaign, error) {
	plan, err := ReadPlan(dir)
	if err != nil {
		return nil, err
	}
	entries, err := ReadLedger(LedgerPath(dir))
	if err != nil {
		return nil, err
	}
	c := &Campaign{Dir: dir, Plan: plan, Entries: entries, Voids: map[BlockAttempt]string{}}
	if c.Thinned, err = readThinned(dir); err != nil {
		return nil, err
	}
	for _, e := range entries {
		c.add(e)
	}
	return c, nil
}

func readThinned(dir string) (map[string]bool, error) {
	var names []string
	err := readJSON(filepath.Join(dir, thinnedFile), &names)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set, err
}

func (c *Campaign) add(e Entry) {
	switch e.Event {
	case EventRunEnd:
		c.Attempts = append(c.Attempts, c.load(e))
	case EventRunAbort:
		c.Aborted = append(c.Aborted, e)
	case EventBlockValid:
		for i := range c.Attempts {
			if c.Attempts[i].Key.BlockAttempt() == e.Key().BlockAttempt() {
				c.Attempts[i].Valid = true
			}
		}
	case EventBlockVoid:
		c.Voids[e.Key().BlockAttempt()] = e.Detail
	case EventComplete:
		c.Complete = true
	case EventClose:
		c.Complete, c.Closed = true, e.Detail
	}
}

func (c *Campaign) load(e Entry) Attempt {
	a := Attempt{Key: e.Key(), Findings: e.Findings, BurnIn: strings.HasPrefix(e.Block, burnInPrefix)}
	if err := c.read(&a, e.SumsSHA256); err != nil {
		return Attempt{Key: a.Key, BurnIn: a.BurnIn, Findings: a.Findings, Damage: err.Error()}
	}
	return a
}

func (c *Campaign) read(a *Attempt, sums string) error {
	dir := RunPath(c.Dir, a.Key)
	thinned := map[string]bool{}
	for name := range c.Thinned {
		if rel, err := filepath.Rel(a.Key.Dir(), name); err == nil {
			thinned[filepath.ToSlash(rel)] = true
		}
	}
	if err := verifySeal(dir, sums, thinned); err != nil {
		return err
	}
	return readRun(dir, a)
}
