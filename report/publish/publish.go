// Package publish makes of a finished campaign what is committed: an archive, and
// beside it the report and the verdict that the archive gives in its place.
package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Why a campaign is not published.
var (
	ErrUnfinished   = errors.New("not finished")
	ErrDamaged      = errors.New("damaged, nothing is published of it")
	ErrExists       = errors.New("exists")                          // may be replaced
	ErrRunDirectory = errors.New("a run directory, no publication") // is never replaced
)

// Judge says what a campaign means, unless it is not finished or damaged. tool is
// the version to stamp.
func Judge(c *results.Campaign, tool string) (*view.View, error) {
	if !c.Complete {
		return nil, fmt.Errorf("%s is %w: opbench resume %[1]s goes on; opbench close %[1]s --why TEXT gives it up",
			c.Dir, ErrUnfinished)
	}
	if len(c.Damage) > 0 {
		return nil, fmt.Errorf("%s is %w: %s", c.Dir, ErrDamaged, c.Damage[0])
	}
	damaged := slices.IndexFunc(c.Attempts, func(a results.Attempt) bool { return a.Damage != "" })
	if damaged >= 0 {
		d := c.Attempts[damaged]
		return nil, fmt.Errorf("%s: run %s is %w: %s", c.Dir, d.Key, ErrDamaged, d.Damage)
	}
	if lost := slices.IndexFunc(c.Lost, func(a results.Attempt) bool { return a.Damage != "" }); lost >= 0 {
		return nil, fmt.Errorf("%s: run %s is %w: %s", c.Dir, c.Aborted[lost].Folder, ErrDamaged, c.Lost[lost].Damage)
	}
	return judge.Build(c, tool)
}

// Write makes the publication of a campaign in a folder: what was packed, and what it
// means beside the campaigns that are there. replace lets it take the folder of another
// publication. One that it made and could not fill is removed.
func Write(folder string, c *results.Campaign, tool string, replace bool) (*results.Packed, *view.View, error) {
	made, err := makeFolder(folder, replace)
	if err != nil {
		return nil, nil, err
	}
	packed, v, err := fill(folder, c, tool)
	if err != nil && made {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return packed, v, err
}

// makeFolder makes the folder of a publication, or takes one that may be replaced.
func makeFolder(folder string, replace bool) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return false, err
	}
	err = os.Mkdir(folder, 0o755)
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrExist):
		return false, err
	case !replace:
		return false, fmt.Errorf("%s %w: give another name, or replace it with --force", folder, ErrExists)
	}
	if _, err := os.Stat(filepath.Join(folder, results.PlanFile)); err == nil {
		return false, fmt.Errorf("%s is %w: its files would hide the archive", folder, ErrRunDirectory)
	}
	return false, nil
}

// fill writes the archive, and the report that it gives in its place.
func fill(folder string, c *results.Campaign, tool string) (*results.Packed, *view.View, error) {
	packed, err := results.Pack(filepath.Join(folder, results.ArchiveName), c, results.MaxArchive)
	if err != nil {
		return nil, nil, err
	}
	stored, err := results.Load(folder)
	if err != nil {
		return nil, nil, err
	}
	v, err := Judge(stored, tool)
	if err != nil {
		return nil, nil, err
	}
	for name, write := range map[string]func(io.Writer, *view.View) error{
		results.VerdictFile: view.WriteJSON[*view.View], results.ReportFile: render.WriteMarkdown,
	} {
		var b bytes.Buffer
		if err := errors.Join(write(&b, v), results.WriteFile(filepath.Join(folder, name), b.Bytes())); err != nil {
			return nil, nil, err
		}
	}
	return packed, v, nil
}
