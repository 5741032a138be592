// Package preflight looks at the machine before a campaign: what would make it
// fail, and what would make its numbers noisy. It only looks; it changes
// nothing, above all no clocks, power limits or foreign processes.
//
//  1. Probe asks /proc, /sys, nvidia-smi and the file system and fills a Machine.
//  2. Checks judges a Machine against a scenario. It is a pure function, so that
//     every outcome of every check has a test.
package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"unicode"

	"github.com/aituner/opprof/scenarios"
)

// Status is how a check ended.
type Status string

// The outcomes of a check, worst first.
const (
	Fail Status = "fail" // the campaign would break, or measure the wrong thing
	Warn Status = "warn" // the numbers may be noisier, or a fault may follow
	OK   Status = "ok"
	Skip Status = "skip" // does not apply, or cannot be seen on this machine
)

var worstFirst = []Status{Fail, Warn, OK, Skip}

// Check is one question about the machine and its answer.
type Check struct {
	ID      string `json:"id"`
	Status  Status `json:"status"`
	Finding string `json:"finding"`          // what was seen
	Remedy  string `json:"remedy,omitempty"` // what to do; empty for ok and skip
}

func (c Check) String() string {
	line := fmt.Sprintf("%s %s: %s", c.Status, c.ID, c.Finding)
	if c.Remedy != "" {
		line += " (" + c.Remedy + ")"
	}
	return line
}

// outcome is a check without its name.
type outcome struct {
	status          Status
	finding, remedy string
}

func ok(format string, args ...any) outcome   { return outcome{OK, fmt.Sprintf(format, args...), ""} }
func skip(format string, args ...any) outcome { return outcome{Skip, fmt.Sprintf(format, args...), ""} }

func warn(remedy, format string, args ...any) outcome {
	return outcome{Warn, fmt.Sprintf(format, args...), remedy}
}

func fail(remedy, format string, args ...any) outcome {
	return outcome{Fail, fmt.Sprintf(format, args...), remedy}
}

// subject is what a check judges. s is nil when only the machine is looked at.
type subject struct {
	Machine
	s    *scenarios.Scenario
	runs int
}

// scope says which scenarios a check is for.
type scope int

const (
	always      scope = iota
	anyScenario       // not without a scenario
	ownGPUs           // kind vllm, and without a scenario
	ownServers        // kind vllm
)

// checks in the order of a report, within one status.
var checks = []struct {
	id    string
	scope scope
	judge func(subject) outcome
}{
	{"vllm-package", ownServers, vllmPackage},
	{"patch-tree", ownServers, patchTree},
	{"model", ownServers, model},
	{"log-stats", anyScenario, logStats},
	{"opprof-dir", anyScenario, opprofDir},
	{"disk-space", anyScenario, diskSpace},
	{"lock", ownServers, lock},
	{"leftover-servers", always, leftoverServers},
	{"port-range", always, portRange},
	{"gpu-processes", ownGPUs, gpuProcesses},
	{"gpu-clocks", ownGPUs, gpuClocks},
	{"memory", ownServers, memory},
	{"cores", always, cores},
	{"cpu-load", always, cpuLoad},
	{"cpu-governor", always, cpuGovernor},
	{"clocksource", always, clocksource},
	{"time-sync", always, timeSync},
	{"open-files", always, openFiles},
	{"loopback", always, loopback},
}

// Checks judges a machine, worst first. s is nil when no scenario was named;
// runs is how many runs of it are still to be done.
func Checks(m Machine, s *scenarios.Scenario, runs int) []Check {
	var out []Check
	for _, c := range checks {
		o := c.scope.excludes(s)
		if o.status == "" {
			o = c.judge(subject{m, s, runs})
		}
		out = append(out, Check{c.id, o.status, clean(o.finding), clean(o.remedy)})
	}
	slices.SortStableFunc(out, func(a, b Check) int {
		return cmp.Compare(slices.Index(worstFirst, a.Status), slices.Index(worstFirst, b.Status))
	})
	return out
}

// Count returns how many checks ended with a status.
func Count(all []Check, status Status) int {
	n := 0
	for _, c := range all {
		if c.Status == status {
			n++
		}
	}
	return n
}

// excludes is the zero outcome if the check is for this scenario.
func (sc scope) excludes(s *scenarios.Scenario) outcome {
	if s == nil {
		if sc == anyScenario || sc == ownServers {
			return skip("no scenario was named")
		}
		return outcome{}
	}
	can := s.Engine.Kind.Capabilities()
	if sc == ownGPUs && !can.GPUs || sc == ownServers && can.Package == "" {
		return skip("engine kind %s starts no vLLM", s.Engine.Kind)
	}
	return outcome{}
}

// unseen is the outcome of a probe without an answer: nothing to see on this
// machine is no fault, everything else is worth a look.
func unseen(what string, err error) outcome {
	for _, absent := range []error{fs.ErrNotExist, fs.ErrPermission, errors.ErrUnsupported, exec.ErrNotFound} {
		if errors.Is(err, absent) {
			return skip("%s cannot be seen here: %v", what, err)
		}
	}
	return warn("look at it by hand", "%s could not be read: %v", what, err)
}

// maxText bounds a finding: command lines and error texts come from elsewhere.
const maxText = 400

// clean makes a text one printable line.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, strings.TrimSpace(text))
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText]) + "..."
	}
	return text
}

// size prints bytes for people.
func size(bytes uint64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}
