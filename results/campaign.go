package results

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aituner/opprof/results/thinned"
)

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
	if err := readJSON(f, PlanFile, &p); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is not a run directory: it has no plan.json", dir)
		}
		return nil, err
	}
	if p.Kind != "plan" {
		return nil, fmt.Errorf("%s/plan.json: kind %q, want a plan", dir, p.Kind)
	}
	if p.Schema != Schema {
		return nil, fmt.Errorf("%s/plan.json: schema %d, this tool reads schema %d: use the one that made it, %s",
			dir, p.Schema, Schema, p.Maker())
	}
	var err error
	if p.FileSHA256, err = hashFile(f, PlanFile); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return &p, nil
}

// Campaign is a run directory, read and verified.
type Campaign struct {
	Dir      string
	files    files // in Dir, or in its archive
	Plan     *Plan
	Entries  []Entry
	Attempts []Attempt // in running order
	// Voids has the entry of each block's attempt that was void: its Causes, or its
	// Detail, say why.
	Voids map[BlockAttempt]Entry
	// Thinned lists step files that publishing left out ("0001/off/steps/…").
	Thinned map[string]bool
	// Aborted are runs that were lost to a crash or an interruption, and Lost, in the
	// same order, is what was sealed of them: Run is nil where that has no record.
	Aborted []Entry
	Lost    []Attempt
	// Complete: the ledger says that nothing is left to run.
	Complete bool
	// Closed says why a complete campaign was given up before its end, or "".
	Closed string
	// Damage says why the plan or the list of what publishing left out cannot be
	// trusted. What is wrong with a run stands at the run.
	Damage []string
}

// Load reads a campaign, from a folder or from the archive in it, and verifies
// every checksum. Damaged runs, and a plan that was changed, are returned as such, so
// that they can be named; only an unreadable plan, ledger or archive is an error.
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
	entries, _, err := readLedger(f, ledgerFile)
	if err != nil {
		return nil, err
	}
	c := &Campaign{Dir: dir, files: f, Plan: plan, Entries: entries, Voids: map[BlockAttempt]Entry{}}
	if c.Thinned, err = readThinned(f); err != nil {
		return nil, err
	}
	for _, e := range entries {
		c.add(e)
	}
	for _, why := range []string{plan.damage(), c.thinnedDamage()} {
		if why != "" {
			c.Damage = append(c.Damage, why)
		}
	}
	return c, nil
}

// RunFiles are the files of one run.
func (c *Campaign) RunFiles(key Key) fs.FS { return c.run(key) }

func (c *Campaign) run(key Key) files { return c.files.sub(path.Join(blocksFolder, key.Dir())) }

func readThinned(f files) (map[string]bool, error) {
	var names []string
	err := readJSON(f, thinnedFile, &names)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set, err
}

// thinnedDamage says why thinned.json cannot be what publishing wrote, or "".
func (c *Campaign) thinnedDamage() string {
	if len(c.Thinned) == 0 {
		return ""
	}
	got, err := hashFile(c.files, thinnedFile)
	why := ""
	if want := vouched(c.Entries); err != nil || got != want {
		why = fmt.Sprintf("has digest %.12s, the ledger says %.12s: publishing did not write it", got, orNone(want))
	} else {
		why = thinned.Problem(c.Thinned, c.spareable(), func(name string) bool {
			_, err := fs.Stat(c.files, path.Join(blocksFolder, name))
			return err == nil
		})
	}
	if why == "" {
		return ""
	}
	return thinnedFile + " " + why + "; get the publication, or the run directory that it was made of, again"
}

// vouched is the digest of thinned.json that the ledger has last; "" if it has none.
func vouched(entries []Entry) (sum string) {
	for _, e := range entries {
		if e.Event == EventThinned {
			sum = e.ThinnedSHA256
		}
	}
	return sum
}

// spareable are the runs with the step files that their records and their seals have.
func (c *Campaign) spareable() (runs []thinned.Run) {
	for i := range c.Attempts {
		a := &c.Attempts[i]
		r := thinned.Run{Folder: a.Key.Dir(), Arm: a.Key.Arm, Counts: a.Valid && !a.BurnIn, Damaged: a.Run == nil}
		if a.Run != nil && a.Run.Steps != nil {
			f := c.run(a.Key)
			data, _ := fs.ReadFile(f, sumsFile) // read before, or the run is damaged
			sums, _ := parseSums(f.path(sumsFile), data)
			r.Steps = map[string]bool{}
			for _, step := range a.Run.Steps.Files {
				r.Steps[step.Name] = step.Size > 0 && step.SHA256 != "" && sums[step.Name] == step.SHA256
			}
		}
		runs = append(runs, r)
	}
	return runs
}

func (c *Campaign) add(e Entry) {
	switch e.Event {
	case EventRunEnd:
		c.Attempts = append(c.Attempts, c.load(e))
	case EventRunAbort:
		c.Aborted, c.Lost = append(c.Aborted, e), append(c.Lost, c.lost(e))
	case EventBlockValid:
		for i := range c.Attempts {
			if c.Attempts[i].Key.BlockAttempt() == e.Key().BlockAttempt() {
				c.Attempts[i].Valid = true
			}
		}
	case EventBlockVoid:
		c.Voids[e.Key().BlockAttempt()] = c.withCauses(e)
	case EventComplete:
		c.Complete = true
	case EventClose:
		c.Complete, c.Closed = true, e.Detail
	}
}

// withCauses gives the entry of a void block by an opbench that joined the findings
// of its runs to one text the causes that these are.
func (c *Campaign) withCauses(e Entry) Entry {
	var texts []string
	var causes []Cause
	for _, a := range c.Attempts {
		if a.Key.BlockAttempt() != e.Key().BlockAttempt() || len(a.Findings) == 0 {
			continue
		}
		var words []string
		for _, f := range a.Findings {
			words = append(words, f.String())
			f.Arm = a.Key.Arm
			causes = append(causes, f)
		}
		texts = append(texts, "arm "+a.Key.Arm+": "+strings.Join(words, "; "))
	}
	if e.Detail != "" && e.Detail == strings.Join(texts, "; ") {
		e.Detail, e.Causes = "", causes
	}
	return e
}

func (c *Campaign) load(e Entry) Attempt {
	a := Attempt{Key: e.Key(), Findings: e.Findings, BurnIn: e.BurnIn()}
	if err := c.read(&a, a.Key.Dir(), e.SumsSHA256); err != nil {
		return Attempt{Key: a.Key, BurnIn: a.BurnIn, Findings: a.Findings, Damage: err.Error()}
	}
	return a
}

// lost reads what was sealed of an aborted run. Its Run is nil where there is no
// record of it.
func (c *Campaign) lost(e Entry) Attempt {
	a := Attempt{Key: e.Key(), BurnIn: e.BurnIn()}
	if e.SumsSHA256 == "" {
		return a
	}
	err := c.read(&a, e.Folder, e.SumsSHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return Attempt{Key: a.Key, BurnIn: a.BurnIn} // sealed before it had a record
	}
	if err != nil {
		return Attempt{Key: a.Key, BurnIn: a.BurnIn, Damage: err.Error()}
	}
	return a
}

// read takes a run from its folder below blocks/.
func (c *Campaign) read(a *Attempt, dir, sums string) error {
	if !fs.ValidPath(dir) {
		return fmt.Errorf("the ledger has a run %q: no folder in a run directory", dir)
	}
	f := c.files.sub(path.Join(blocksFolder, dir))
	absent := map[string]bool{}
	for name := range c.Thinned {
		if rel, ok := strings.CutPrefix(name, dir+"/"); ok {
			absent[rel] = true
		}
	}
	if err := verifySeal(f, sums, absent); err != nil {
		return err
	}
	if err := readRun(f, a); err != nil {
		return err
	}
	if a.Run.Key != a.Key {
		return fmt.Errorf("%s is the record of run %s", f.path(RunFile), a.Run.Key)
	}
	return nil
}

// PilotRuns reports whether the runs of the pilot are in the run directory: a
// publication may leave them out.
func (c *Campaign) PilotRuns() bool {
	_, err := fs.Stat(c.files, pilotFolder)
	return !errors.Is(err, fs.ErrNotExist)
}

// LoadPilot loads the campaign of a step of the pilot, counted from 1, as Load
// does.
func (c *Campaign) LoadPilot(step int) (*Campaign, error) {
	name := strconv.Itoa(step)
	return load(filepath.Join(c.Dir, pilotFolder, name), c.files.sub(path.Join(pilotFolder, name)))
}
