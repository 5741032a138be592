package results

import (
	"fmt"
	"os"
	"path/filepath"
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
