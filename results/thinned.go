package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

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

// thinnedDamage says why thinned.json cannot be what publishing wrote, or "": the
// ledger has its digest, every file that it lists was sealed with its run, and one
// run of each recording arm keeps all of them.
func (c *Campaign) thinnedDamage() string {
	if len(c.Thinned) == 0 {
		return ""
	}
	const instead = "get the publication or the run directory that it was made of again"
	got, err := hashFile(c.files, thinnedFile)
	if want := vouched(c.Entries); err != nil || got != want {
		return fmt.Sprintf("%s: digest %.12s, the ledger says %.12s: publishing did not write it; %s", thinnedFile, got, orNone(want), instead)
	}
	sealed := c.sealedSteps()
	for _, name := range slices.Sorted(maps.Keys(c.Thinned)) {
		if _, err := fs.Stat(c.files, blocksFolder+"/"+name); err == nil {
			return fmt.Sprintf("%s lists %s, which is there; %s", thinnedFile, name, instead)
		}
		if !sealed[name] && !c.ofDamagedRun(name) {
			return fmt.Sprintf("%s lists %s, which no run has among its sealed step files; %s", thinnedFile, name, instead)
		}
	}
	if arm := c.stripped(); arm != "" {
		return fmt.Sprintf("%s leaves no run of arm %s its step files, and one keeps them; %s", thinnedFile, arm, instead)
	}
	return ""
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

// sealedSteps are the step files on which the record of a run and its seal agree,
// named as in thinned.json.
func (c *Campaign) sealedSteps() map[string]bool {
	sealed := map[string]bool{}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Run == nil || a.Run.Steps == nil {
			continue
		}
		f := c.run(a.Key)
		data, err := fs.ReadFile(f, sumsFile)
		if err != nil {
			continue // it would be damaged
		}
		sums, _ := parseSums(f.path(sumsFile), data)
		for _, step := range a.Run.Steps.Files {
			if step.Size > 0 && step.SHA256 != "" && sums[step.Name] == step.SHA256 {
				sealed[a.Key.Dir()+"/"+step.Name] = true
			}
		}
	}
	return sealed
}

// ofDamagedRun reports whether a file belongs to a run that is damaged, which is
// told by itself.
func (c *Campaign) ofDamagedRun(name string) bool {
	return slices.ContainsFunc(c.Attempts, func(a Attempt) bool {
		return a.Damage != "" && strings.HasPrefix(name, a.Key.Dir()+"/")
	})
}

// stripped is an arm that recorded and has no run left with all its step files, of
// those that count if there are any; "" if there is none.
func (c *Campaign) stripped() string {
	type kept struct{ counting, keeping, idle bool }
	arms := map[string]*kept{}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Run == nil || a.Run.Steps == nil || len(a.Run.Steps.Files) == 0 {
			continue
		}
		if arms[a.Key.Arm] == nil {
			arms[a.Key.Arm] = &kept{}
		}
		k, counts, whole := arms[a.Key.Arm], a.Valid && !a.BurnIn, c.whole(a)
		k.counting = k.counting || counts
		k.keeping = k.keeping || counts && whole
		k.idle = k.idle || whole
	}
	for _, arm := range slices.Sorted(maps.Keys(arms)) {
		if k := arms[arm]; !k.keeping && (k.counting || !k.idle) {
			return arm
		}
	}
	return ""
}

// whole reports whether no step file of a run was left out.
func (c *Campaign) whole(a *Attempt) bool {
	return !slices.ContainsFunc(a.Run.Steps.Files, func(f StepFile) bool { return c.Thinned[a.Key.Dir()+"/"+f.Name] })
}

// thinnedList is the content of thinned.json.
func thinnedList(names []string) []byte {
	list, _ := json.MarshalIndent(names, "", "  ") // strings
	return append(list, '\n')
}

// vouchFor is a ledger with an entry more, which has the digest of thinned.json. Its
// time is that of the last entry: the same campaign gives the same bytes.
func vouchFor(ledger, thinned []byte) ([]byte, error) {
	entries, good, err := parseLedger(ledgerFile, ledger)
	if err != nil {
		return nil, err
	}
	e := Entry{Seq: int64(len(entries)) + 1, Event: EventThinned, ThinnedSHA256: digest(thinned)}
	if n := len(entries); n > 0 {
		e.Time = entries[n-1].Time
	}
	line, err := json.Marshal(e)
	return slices.Concat(bytes.Clone(ledger[:good]), line, []byte("\n")), err
}
