package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// The files of a campaign's run directory; LedgerPath, RunPath and PilotPath lead
// to the others.
const (
	PlanFile = "plan.json"
	// Derived files are made again at will.
	VerdictFile = "verdict.json"
	ReportFile  = "report.md"
	PageFile    = "report.html"

	ledgerFile   = "ledger.jsonl"
	thinnedFile  = "thinned.json" // the step files that publishing left out
	blocksFolder = "blocks"
	pilotFolder  = "pilot"
)

// The files of one run, beside the folder of its step records (steps.Folder).
const (
	RunFile      = "run.json"
	RequestsFile = "requests.jsonl.zst"
	// ServerLogFile is there while the server lives, compressed afterwards.
	ServerLogFile = "server.log"
	// ServerPIDFile names the server while it lives, so that one that outlived
	// its harness can be found.
	ServerPIDFile = "server.pid"

	environmentFile = "environment.json"
	outputsFile     = "outputs.json"
	sumsFile        = "SHA256SUMS" // over all others, written last
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
	return dir, WriteJSON(filepath.Join(dir, PlanFile), plan)
}

// LedgerPath is the ledger of a campaign.
func LedgerPath(dir string) string { return filepath.Join(dir, ledgerFile) }

// RunPath is the directory of one run of a campaign.
func RunPath(dir string, key Key) string {
	return filepath.Join(dir, blocksFolder, filepath.FromSlash(key.Dir()))
}

// ServerPIDs are the files that name servers which live, or outlived the session
// that started them, in all runs of a campaign.
func ServerPIDs(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, blocksFolder, "*", "*", ServerPIDFile)) // the pattern is good
	return files
}

// PilotPath is the folder of a positive control's pilot.
func PilotPath(dir string) string { return filepath.Join(dir, pilotFolder) }

// PilotStepPath is the run directory of a step of the pilot in a folder. Steps count
// from 1.
func PilotStepPath(pilot string, step int) string {
	return filepath.Join(pilot, strconv.Itoa(step))
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
func readRun(dir string, a *Attempt) error {
	a.Run, a.Environment = &Run{}, &Environment{}
	if err := readJSON(filepath.Join(dir, RunFile), a.Run); err != nil {
		return err
	}
	if err := readJSON(filepath.Join(dir, environmentFile), a.Environment); err != nil {
		return err
	}
	var err error
	if a.Requests, err = readRequests(filepath.Join(dir, RequestsFile)); err != nil {
		return err
	}
	a.Identity = &Identity{}
	err = readJSON(filepath.Join(dir, outputsFile), a.Identity)
	if errors.Is(err, fs.ErrNotExist) {
		a.Identity, err = nil, nil // the run ended before the identity pass
	}
	return err
}
