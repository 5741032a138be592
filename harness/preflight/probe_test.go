package preflight

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/scenarios"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// program puts a shell script of that name first in the search path.
func program(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// What every Linux has can be read on this one, and nothing is left behind.
func TestProbe(t *testing.T) {
	s := scenario(t)
	s.Engine.Kind = scenarios.EngineSim
	root := t.TempDir()
	m := Probe(context.Background(), s, Config{Output: filepath.Join(root, "results", "runs"), Sample: 50 * time.Millisecond})
	assert.Equal(t, filepath.Join(root, "results", "runs"), m.Output)
	assert.NoError(t, m.Recorder)
	assert.NoError(t, m.Free.Err)
	assert.Positive(t, m.Free.Value)
	assert.NoError(t, m.Busy.Err)
	assert.NoError(t, m.Memory.Err)
	assert.Positive(t, m.Memory.Value)
	assert.NoError(t, m.OpenFiles.Err)
	assert.Positive(t, m.OpenFiles.Value)
	assert.NoError(t, m.Servers.Err)
	assert.NoError(t, m.Loopback.Err)
	assert.Equal(t, 200, m.Loopback.Value.Count)
	assert.Positive(t, m.Loopback.Value.P50)
	assert.GreaterOrEqual(t, m.Loopback.Value.P99, m.Loopback.Value.P50)
	assert.Positive(t, m.Cores)
	left, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Empty(t, left, "looking leaves nothing")
}

func TestProbeVLLM(t *testing.T) {
	s := scenario(t)
	packages := t.TempDir()
	write(t, filepath.Join(packages, "vllm", "envs.py"), "import os\n")
	program(t, "python3", "echo '{\"dir\": \""+packages+"\", \"versions\": {\"vllm\": \"0.24.0\"}}'\n")
	program(t, "nvidia-smi", `case "$1" in --query-gpu*) echo "`+gpuText[:len(gpuText)-1]+`" ;; *) echo "GPU-8f2a, 4711, python" ;; esac`)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "model", "config.json"), "{}")
	s.Engine.Model = filepath.Join(dir, "model")
	m := Probe(context.Background(), s, Config{Environ: []string{"CUDA_VISIBLE_DEVICES=1"}, WorkDir: filepath.Join(dir, "work"), Output: dir, Sample: time.Millisecond})
	assert.NoError(t, m.Package.Err)
	assert.Equal(t, packages, m.Package.Value.Dir)
	require.NoError(t, m.GPUs.Err)
	assert.Len(t, m.GPUs.Value, 2)
	assert.Equal(t, []GPUUser{{GPU: "GPU-8f2a", PID: 4711, Name: "python"}}, m.GPUUsers.Value)
	assert.Equal(t, []string{"1"}, m.Visible)
	assert.Empty(t, m.Holder.Value)
	all := Checks(m, s, 14)
	assert.Equal(t, Fail, find(t, all, "patch-tree").Status, "one file is not all of vLLM")
	assert.Equal(t, OK, find(t, all, "model").Status)
	assert.Equal(t, Warn, find(t, all, "gpu-processes").Status, "the process is on GPU 0, the campaign on GPU 1")

	// Another campaign on the same GPU.
	lock := filepath.Join(dir, "work", "lock-gpu-1")
	write(t, lock, "process 7\n")
	f, err := os.Open(lock)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	m = Probe(context.Background(), s, Config{Environ: []string{"CUDA_VISIBLE_DEVICES=1"}, WorkDir: filepath.Join(dir, "work"), Output: dir, Sample: time.Millisecond})
	assert.Contains(t, find(t, Checks(m, s, 14), "lock").Finding, "lock of GPU 1: process 7 holds")
}

func TestNvidiaSMI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := nvidiaSMI(context.Background(), "--query-gpu=x", parseGPUs)
	assert.ErrorIs(t, err, exec.ErrNotFound)
	assert.Equal(t, Skip, unseen("GPUs", err).status, "a host without GPUs")

	program(t, "nvidia-smi", "echo 'NVIDIA-SMI has failed because it could not talk to the driver.'; exit 9\n")
	_, err = nvidiaSMI(context.Background(), "--query-gpu=x", parseGPUs)
	assert.ErrorContains(t, err, "exit status 9: NVIDIA-SMI has failed")
	assert.Equal(t, Warn, unseen("GPUs", err).status, "a driver that is broken")
}

func TestGovernors(t *testing.T) {
	root := t.TempDir()
	_, err := governors(root)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	for i, g := range []string{"performance\n", "powersave\n", "performance\n"} {
		write(t, filepath.Join(root, "cpu"+string(rune('0'+i)), "cpufreq", "scaling_governor"), g)
	}
	write(t, filepath.Join(root, "cpufreq", "scaling_governor"), "not of a core\n")
	got, err := governors(root)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"performance": 2, "powersave": 1}, got)
	write(t, filepath.Join(root, "cpu7", "cpufreq", "scaling_governor"), "")
	_, err = governors(root)
	assert.ErrorContains(t, err, "want one word")
}

func TestFindModel(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	write(t, filepath.Join(good, "config.json"), `{"architectures": ["X"]}`)
	write(t, filepath.Join(good, "a.safetensors"), "1234")
	write(t, filepath.Join(good, "b.safetensors"), "56")
	write(t, filepath.Join(good, "pytorch_model.bin"), "the same weights again")
	m, err := findModel(good)
	require.NoError(t, err)
	assert.Equal(t, Model{Dir: good, WeightBytes: 6}, m)

	m, err = findModel("some-org/some-model")
	require.NoError(t, err)
	assert.Zero(t, m, "a name")

	_, err = findModel(filepath.Join(dir, "absent"))
	assert.ErrorContains(t, err, "no config.json there")
	write(t, filepath.Join(dir, "cut", "config.json"), `{"architectures": [`)
	_, err = findModel(filepath.Join(dir, "cut"))
	assert.ErrorContains(t, err, "not JSON")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "odd", "config.json"), 0o755))
	_, err = findModel(filepath.Join(dir, "odd"))
	assert.ErrorContains(t, err, "engine.model")
	bin := filepath.Join(dir, "bin")
	write(t, filepath.Join(bin, "config.json"), `{}`)
	write(t, filepath.Join(bin, "pytorch_model.bin"), "123")
	assert.Equal(t, uint64(3), weightBytes(bin))
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	var m Machine
	m.probeOutput(filepath.Join(file, "runs"))
	assert.Error(t, m.Recorder)
	assert.Error(t, m.Free.Err)
	m = healthy()
	m.probeOutput(file)
	assert.ErrorContains(t, m.Recorder, "is a file")
	assert.Equal(t, Fail, find(t, Checks(m, scenario(t), 1), "opprof-dir").Status)
	assert.Error(t, tryRecords(file))
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := sampleCPU(ctx, time.Hour)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = pingLoopback(ctx, 200)
	assert.ErrorIs(t, err, context.Canceled)
}
