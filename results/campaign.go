package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Create makes a campaign's run directory below parent, named after the time,
// the scenario and the plan hash, and writes plan.json.
func Create(parent string, plan *Plan, now time.Time) (string, error) {
	name := fmt.Sprintf("%s-%s-%.8s", now.UTC().Format("20060102T150405Z"), plan.Scenario.Name, plan.Hash)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("create run directory: %w", err)
	}
	dir := filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("create run directory: %w", err)
	}
	return dir, WriteJSON(filepath.Join(dir, "plan.json"), plan)
}

const (
	ledgerName  = "ledger.jsonl"
	thinnedName = "thinned.json"
)

// LedgerPath is the ledger of a campaign.
func LedgerPath(dir string) string { return filepath.Join(dir, ledgerName) }

// RunPath is the directory of one run of a campaign.
func RunPath(dir string, key Key) string {
	return filepath.Join(dir, "blocks", filepath.FromSlash(key.Dir()))
}

// ReadPlan reads plan.json of a campaign, in a folder or an archive.
func ReadPlan(dir string) (*Plan, error) {
	f, err := open(dir, headOnly)
	if err != nil {
		return nil, err
	}
	return readPlan(dir, f)
}

func readPlan(dir string, f files) (*Plan, error) {
	var p Plan
	if err := readJSON(f, "plan.json", &p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a run directory: it has no plan.json", dir)
		}
		return nil, err
	}
	if p.Kind != "plan" || p.Schema != Schema {
		return nil, fmt.Errorf("%s: kind %q schema %d, this tool reads plan schema %d",
			f.path("plan.json"), p.Kind, p.Schema, Schema)
	}
	var err error
	if p.FileSHA256, err = hashFile(f, "plan.json"); err != nil {
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
	files    files // in Dir, or in its archive
	Plan     *Plan
	Entries  []Entry
	Attempts []Attempt // in running order
	// Voids says why a block's attempt was void, by "block.attempt".
	Voids map[string]string
	// Thinned lists step files that publishing left out ("0001/off/steps/…").
	Thinned map[string]bool
	// Aborted are runs that were lost to a crash or an interruption.
	Aborted []Entry
	// Complete: the ledger says that nothing is left to run.
	Complete bool
	// Closed says why a complete campaign was given up before its end, or "".
	Closed string
}

// Load reads a campaign, from a folder or from the archive in it, and verifies
// every checksum. Damaged runs are returned as such, so that they can be named;
// only an unreadable plan, ledger or archive is an error.
func Load(dir string) (*Campaign, error) {
	f, err := open(dir, whole)
	if err != nil {
		return nil, err
	}
	return load(dir, f)
}

func load(dir string, f files) (*Campaign, error) {
	plan, err := readPlan(dir, f)
	if err != nil {
		return nil, err
	}
	entries, _, err := readLedger(f, ledgerName)
	if err != nil {
		return nil, err
	}
	c := &Campaign{Dir: dir, files: f, Plan: plan, Entries: entries, Voids: map[string]string{}}
	if c.Thinned, err = readThinned(f); err != nil {
		return nil, err
	}
	for _, e := range entries {
		c.add(e)
	}
	return c, nil
}

// RunFiles are the files of one run.
func (c *Campaign) RunFiles(key Key) fs.FS { return c.run(key) }

func (c *Campaign) run(key Key) files { return c.files.sub(path.Join("blocks", key.Dir())) }

func readThinned(f files) (map[string]bool, error) {
	var names []string
	err := readJSON(f, thinnedName, &names)
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
			if k := c.Attempts[i].Key; k.Block == e.Block && k.Attempt == e.Attempt {
				c.Attempts[i].Valid = true
			}
		}
	case EventBlockVoid:
		c.Voids[fmt.Sprintf("%s.%d", e.Block, e.Attempt)] = e.Detail
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
	if dir := a.Key.Dir(); !fs.ValidPath(dir) {
		return fmt.Errorf("the ledger has a run %q: no folder in a run directory", dir)
	}
	f := c.run(a.Key)
	thinned := map[string]bool{}
	for name := range c.Thinned {
		if rel, ok := strings.CutPrefix(name, a.Key.Dir()+"/"); ok {
			thinned[rel] = true
		}
	}
	if err := verifySeal(f, sums, thinned); err != nil {
		return err
	}
	a.Run, a.Environment = &Run{}, &Environment{}
	if err := readJSON(f, "run.json", a.Run); err != nil {
		return err
	}
	if err := readJSON(f, "environment.json", a.Environment); err != nil {
		return err
	}
	var err error
	if a.Requests, err = readRequests(f, "requests.jsonl.zst"); err != nil {
		return err
	}
	a.Identity = &Identity{}
	err = readJSON(f, "outputs.json", a.Identity)
	if errors.Is(err, fs.ErrNotExist) {
		a.Identity, err = nil, nil // the run ended before the identity pass
	}
	return err
}
