package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// Attempt is one sealed run of a campaign with what was measured.
type Attempt struct {
	Key    Key
	BurnIn bool
	// Valid: the block's attempt was accepted. Void attempts are kept and shown.
	Valid bool
	// Findings of the harness right after the run, as the ledger has them.
	Findings    []Cause
	Run         *Run
	Requests    []Request
	Identity    *Identity
	Environment *Environment
	// Damage says why the files cannot be trusted; everything else but Key is
	// then empty.
	Damage string
}

// SaveRun writes the files of a run that Load reads back. Step records and the
// server's log are there before, Seal comes after.
func SaveRun(dir string, a *Attempt) error {
	files, err := RunFiles(a)
	if err != nil {
		return fmt.Errorf("run %s: %w", a.Run.Key, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := WriteFile(filepath.Join(dir, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// RunFiles is what SaveRun writes, by name: record, environment, requests and, where
// there was an identity pass, outputs.
func RunFiles(a *Attempt) (map[string][]byte, error) {
	documents := map[string]any{RunFile: a.Run, environmentFile: a.Environment}
	if a.Identity != nil {
		documents[outputsFile] = a.Identity
	}
	files := map[string][]byte{}
	var err error
	for name, v := range documents {
		if files[name], err = encodeJSON(v); err != nil {
			return nil, fmt.Errorf("encode %s: %w", name, err)
		}
	}
	if files[RequestsFile], err = encodeRequests(a.Requests); err != nil {
		return nil, fmt.Errorf("encode %s: %w", RequestsFile, err)
	}
	return files, nil
}

// readRun reads into an attempt what SaveRun wrote.
func readRun(f files, a *Attempt) error {
	a.Run, a.Environment = &Run{}, &Environment{}
	if err := readJSON(f, RunFile, a.Run); err != nil {
		return err
	}
	if err := readJSON(f, environmentFile, a.Environment); err != nil {
		return err
	}
	var err error
	if a.Requests, err = readRequests(f, RequestsFile); err != nil {
		return err
	}
	a.Identity = &Identity{}
	err = readJSON(f, outputsFile, a.Identity)
	if errors.Is(err, fs.ErrNotExist) {
		a.Identity, err = nil, nil // the run ended before the identity pass
	}
	return err
}
