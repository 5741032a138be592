package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/results"
)

// abort ends a server that a lost run left over, seals what there is of the run in a
// folder of its own and says so: nothing measured is deleted, and nothing is forgotten.
// What cannot be sealed, say because the disk is full, is moved aside without a seal.
func (j *journal) abort(key results.Key, why string) error {
	dir := results.RunPath(j.dir, key)
	if _, err := engine.Reap(dir); err != nil {
		return err
	}
	e := entry(results.EventRunAbort, key)
	e.Detail, e.Timed = why, results.SentUnknown
	var unsealed error
	if _, err := os.Stat(dir); err == nil {
		e.SumsSHA256, e.Timed, unsealed = j.sealLost(dir)
		aside := freeName(dir + ".aborted")
		if err := os.Rename(dir, aside); err != nil {
			return errors.Join(unsealed, fmt.Errorf("move lost run aside: %w", err))
		}
		e.Folder = filepath.Base(filepath.Dir(aside)) + "/" + filepath.Base(aside)
	}
	return errors.Join(unsealed, j.append(e))
}

// sealLost makes the files of a lost run final: those of a killed session still have the
// server's log as it was written, and the number of its process.
func (j *journal) sealLost(dir string) (sums string, timed results.Sent, err error) {
	if err := os.Remove(filepath.Join(dir, results.ServerPIDFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", results.SentUnknown, err
	}
	if err := keepLog(dir, j.private); err != nil {
		return "", results.SentUnknown, err
	}
	return results.SealAborted(dir)
}

// freeName appends -2, -3, ... to a name that is taken.
func freeName(path string) string {
	name := path
	for i := 2; ; i++ {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", filepath.Clean(path), i)
	}
}
