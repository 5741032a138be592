package bench

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Folders that only the environment names stand in a server's log as well; one
// below a folder that has a word of its own keeps that word.
func TestPrivateNamesFoldersOfTheEnvironment(t *testing.T) {
	dir, err := os.Getwd()
	require.NoError(t, err)
	a := &app{cache: "/home/u/.cache/opbench", environ: []string{
		"HOME=/home/u", "PYTHONPATH=" + dir + "/loader:/opt/site::relative:/", "VLLM_CACHE_ROOT=/scratch/vllm", "HF_HOME=/home/u/hf", "SHELL=/bin/sh",
	}}
	assert.Equal(t, map[string]string{
		"/home/u/.cache/opbench": "{cache}", "/home/u": "~", dir: "{cwd}", "/opt/site": "{PYTHONPATH}", "/scratch/vllm": "{VLLM_CACHE_ROOT}",
	}, a.private())
}
