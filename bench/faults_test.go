package bench

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/harness/engine"
	"github.com/aituner/opprof/harness/sim"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/results"
)

var update = flag.Bool("update", false, "write the table of harness/FAULTS.md from the cases")

// faultCase is one named fault and what it has to come to.
type faultCase struct {
	name     string
	imitates string // field cases and traps
	result   string // the verdict with its reason
	say      string // distinctive part of what the user reads

	// Injected by one of:
	arm    string // "on", "off", "both": servers that get the faults
	faults string
	edit   func(c *results.Campaign)               // on what is recorded
	damage func(t *testing.T, dir string)          // on the files
	proof  string                                  // a test of another package, FOLDER TestName
	how    string                                  // describes edit, damage, proof or changes
	change []string                                // of the scenario: old, new, old, new, ...
	also   func(t *testing.T, c *results.Campaign) // more to hold
}

// exitOf is the exit code that belongs to a verdict.
func exitOf(result string) int {
	kind, _, _ := strings.Cut(result, "(")
	return map[string]int{"PASS": exitPass, "FAIL": exitFail, "INCONCLUSIVE": exitInconclusive,
		"INVALID": exitInvalid, "UNFINISHED": exitStopped}[kind]
}

func (c *faultCase) sabotage(s engine.Spec) []string {
	if c.faults != "" && (c.arm == "both" || c.arm == s.Arm.Name) {
		return strings.Split(c.faults, ",")
	}
	return nil
}

// scenario is the gate's scenario with the case's changes.
func (c *faultCase) scenario(t *testing.T) string {
	text := strings.Replace(fmt.Sprintf(gateScenario, `noise: 1%`), "burn_in_blocks: 1", "burn_in_blocks: 0", 1)
	for i := 0; i+1 < len(c.change); i += 2 {
		require.Contains(t, text, c.change[i])
		text = strings.Replace(text, c.change[i], c.change[i+1], 1)
	}
	return text
}

// row is the case's line of the table.
func (c *faultCase) row() string {
	how := c.how
	if c.faults != "" {
		how = strings.TrimSuffix("`--fault "+c.faults+"` in "+c.arm+"; "+how, "; ")
	}
	if c.proof != "" {
		folder, name, _ := strings.Cut(c.proof, " ")
		how = fmt.Sprintf("%s (`%s` in %s)", how, name, folder)
	}
	verdict := c.result
	if c.proof == "" {
		verdict = fmt.Sprintf("%s, exit %d", c.result, exitOf(c.result))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", c.name, how, c.imitates, verdict, c.say)
}

// Whatever a server, its recorder, the client's machine or a copy of the files
// gets wrong ends in exactly this verdict and names itself; and what is only
// unusual passes.
func TestFaults(t *testing.T) {
	var sound string
	parent := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sound = campaign(t, parent, (&faultCase{}).scenario(t), nil)
	})
	for _, c := range faultCases {
		if c.proof != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, sound)
		})
	}
}

func (c *faultCase) run(t *testing.T, sound string) {
	dir := sound
	switch {
	case c.damage != nil:
		dir = filepath.Join(t.TempDir(), filepath.Base(sound))
		require.NoError(t, os.CopyFS(dir, os.DirFS(sound)))
		c.damage(t, dir)
	case c.edit == nil:
		parent := t.TempDir()
		synctest.Test(t, func(t *testing.T) { dir = campaign(t, parent, c.scenario(t), c.sabotage) })
	}
	loaded, err := results.Load(dir)
	require.NoError(t, err)
	if c.edit != nil {
		c.edit(loaded)
	}
	v, err := judge.Build(loaded, version)
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, render.WriteText(&text, v))
	assert.Equal(t, c.result, v.Headline(), text.String())
	assert.Equal(t, exitOf(c.result), v.ExitCode)
	assert.Contains(t, unwrap(text.String()), c.say)
	if c.also != nil {
		c.also(t, loaded)
	}
}

const faultTable = "../harness/FAULTS.md"

// The table says what the cases are, all of them and nothing else.
func TestFaultTable(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| fault | injected by | imitates | verdict | says |\n|---|---|---|---|---|\n")
	for _, c := range faultCases {
		rows.WriteString(c.row() + "\n")
	}
	text, err := os.ReadFile(faultTable)
	require.NoError(t, err)
	table := regexp.MustCompile(`(?m)^\| fault \|.*\n(\|.*\n)+`)
	require.Len(t, table.FindAll(text, -1), 1)
	if *update {
		text = table.ReplaceAllLiteral(text, []byte(rows.String()))
		require.NoError(t, os.WriteFile(faultTable, text, 0o644))
	}
	assert.Equal(t, rows.String(), string(table.Find(text)), "go test ./bench -run TestFaultTable -update writes it")
	assert.GreaterOrEqual(t, len(faultCases), 40)
}

// Every fault of the simulated engine comes to a verdict, every name is there
// once, and every test that is named exists.
func TestFaultCasesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	var used strings.Builder
	for _, c := range faultCases {
		assert.False(t, seen[c.name], "%s is there twice", c.name)
		seen[c.name] = true
		used.WriteString(" " + strings.ReplaceAll(c.faults, "=", " ") + " ")
		assert.NotEmpty(t, c.say, c.name)
		if c.proof != "" {
			folder, name, _ := strings.Cut(c.proof, " ")
			assert.True(t, hasTest(t, folder, name), "%s: no %s in %s", c.name, name, folder)
		}
	}
	names := faultNames(t)
	require.Greater(t, len(names), 40)
	for _, name := range names {
		if name != "ignore-sigint" { // of real processes: TestStopKillsWhatIgnoresSIGINT
			assert.Contains(t, used.String(), " "+name+" ")
		}
	}
}

// faultNames are the faults that the help of --fault offers.
func faultNames(t *testing.T) []string {
	t.Helper()
	var f sim.Faults
	flags := pflag.NewFlagSet("sim serve", pflag.ContinueOnError)
	f.Flags(flags)
	_, names, found := strings.Cut(flags.Lookup("fault").Usage, "repeated: ")
	require.True(t, found)
	return strings.Split(names, ", ")
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob("../" + folder + "/*_test.go")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		if bytes.Contains(text, []byte("func "+name+"(t *testing.T)")) {
			return true
		}
	}
	return false
}
