package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A refusal sends its reader to the opbench that made a plan, as far as the plan
// says which that was: with the commit to build, or why there is none.
func TestMakerOfAPlan(t *testing.T) {
	const commit = "7170bf8a1b2c3d4e5f60718293a4b5c6d7e8f901"
	for tool, want := range map[string]string{
		"0.1.0":                                    "opbench 0.1.0, before commits were recorded",
		ToolVersion("0.1.0", commit, false):        "opbench 0.1.0 of commit 7170bf8a1b2c (git checkout 7170bf8a1b2c && make build)",
		ToolVersion("0.1.0", commit, true):         "opbench 0.1.0 of commit 7170bf8a1b2c with changes that were never committed",
		ToolVersion("0.1.0", commit[:12], false):   "opbench 0.1.0 of commit 7170bf8a1b2c (git checkout 7170bf8a1b2c && make build)",
		ToolVersion("0.1.0", UnknownCommit, false): "opbench 0.1.0, built without git: its commit is not known",
		"0.2.0":                        "opbench 0.2.0 (git checkout v0.2.0 && make build)",
		"":                             `opbench "", of which nothing else is known`,
		"0.1.0+7170bf8a1b2c; rm -rf ~": `opbench "0.1.0+7170bf8a1b2c; rm -rf ~", of which nothing else is known`,
		"0.1.0\n":                      `opbench "0.1.0\n", of which nothing else is known`,
	} {
		assert.Equal(t, want, (&Plan{Tool: tool}).Maker())
	}
	assert.Equal(t, "0.1.0+7170bf8a1b2c.dirty", ToolVersion("0.1.0", commit, true))
}

// A plan of another schema is refused with the opbench that reads it; another
// document of that name is no plan at all.
func TestReadPlanOfAnotherSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema": 9, "kind": "plan", "tool": "0.9.0+7170bf8a1b2c"}`: "schema 9, this tool reads schema 1: " +
			"use the one that made it, opbench 0.9.0 of commit 7170bf8a1b2c",
		`{"schema": 1, "kind": "verdict"}`: `kind "verdict", want a plan`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plan.json"), []byte(text), 0o644))
		_, err := ReadPlan(dir)
		assert.ErrorContains(t, err, want)
	}
}
