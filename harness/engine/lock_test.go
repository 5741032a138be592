package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func TestGPUs(t *testing.T) {
	const v = visibleVariable
	for _, c := range []struct {
		name            string
		environ         []string
		engine, off, on string // "-": not set
		want            []string
	}{
		{"not confined", nil, "-", "-", "-", nil},
		{"inherited", []string{v + "=2,1"}, "-", "-", "-", []string{"1", "2"}},
		{"the last one counts", []string{v + "=2", v + "=3"}, "-", "-", "-", []string{"3"}},
		{"engine over inherited", []string{v + "=2"}, "0", "-", "-", []string{"0"}},
		{"arms differ", nil, "-", "0", "1", []string{"0", "1"}},
		{"one arm is not confined", nil, "-", "0", "-", nil},
		{"no device at all", []string{v + "=2"}, "", "-", "-", nil},
		{"what follows an invalid one is not visible", nil, "1, 0,-1,3", "-", "-", []string{"0", "1"}},
		{"a UUID", nil, "GPU-8f2a", "-", "-", []string{"GPU-8f2a"}},
	} {
		env := func(value string) map[string]string {
			if value == "-" {
				return nil
			}
			return map[string]string{v: value}
		}
		s := &scenarios.Scenario{Engine: scenarios.Engine{Env: env(c.engine)},
			Arms: []scenarios.Arm{{Name: "off", Env: env(c.off)}, {Name: "on", Env: env(c.on)}}}
		assert.Equal(t, c.want, NamedGPUs(s, c.environ), c.name)
	}
}

func TestLockHost(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, other []string
		both         bool
	}{
		{"one host", nil, nil, false},
		{"one GPU", []string{"0"}, []string{"0"}, false},
		{"an overlap", []string{"0", "1"}, []string{"1", "2"}, false},
		{"two GPUs", []string{"0"}, []string{"1"}, true},
		{"the host after a GPU", []string{"0"}, nil, false},
		{"a GPU after the host", nil, []string{"0"}, false},
		{"a name that is no file name", []string{"MIG-1/2"}, []string{"MIG-1/2"}, false},
	} {
		dir := filepath.Join(t.TempDir(), "not", "there", "yet")
		who, err := Holder(dir, c.other)
		require.NoError(t, err, c.name)
		assert.Empty(t, who, c.name)
		assert.NoDirExists(t, dir, "looking makes nothing")

		held, err := lockHost(dir, c.first)
		require.NoError(t, err, c.name)
		who, err = Holder(dir, c.other)
		require.NoError(t, err, c.name)
		second, err := lockHost(dir, c.other)
		if c.both {
			require.NoError(t, err, c.name)
			assert.Empty(t, who, c.name)
			require.NoError(t, second.Close())
		} else {
			require.ErrorContains(t, err, "another campaign runs here", c.name)
			assert.Contains(t, who, "holds "+dir, c.name)
		}
		require.NoError(t, held.Close())

		who, err = Holder(dir, c.other)
		require.NoError(t, err, c.name)
		assert.Empty(t, who, "%s: it was given back", c.name)
		second, err = lockHost(dir, c.other)
		require.NoError(t, err, c.name)
		require.NoError(t, second.Close())
	}
}

func TestHolderIsNamed(t *testing.T) {
	dir := t.TempDir()
	held, err := lockHost(dir, nil)
	require.NoError(t, err)
	who, err := Holder(dir, nil)
	require.NoError(t, err)
	assert.Contains(t, who, fmt.Sprintf("process %d holds", os.Getpid()))
	require.NoError(t, held.Close())

	held, err = lockHost(dir, []string{"0"})
	require.NoError(t, err)
	defer held.Close()
	who, err = Holder(dir, nil)
	require.NoError(t, err)
	assert.Contains(t, who, "a campaign holds", "a shared lock names nobody, and not the one before")
}

func TestLockHostFailures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err := lockHost(file, nil)
	assert.ErrorContains(t, err, "lock host")
	_, err = Holder(file, nil)
	assert.ErrorContains(t, err, "look at the lock")
}

// Campaigns at the same time switch each their own import path.
func TestConfined(t *testing.T) {
	assert.Equal(t, "/c/vllm", confined("/c/vllm", nil))
	assert.Equal(t, "/c/vllm/gpu-0-1", confined("/c/vllm", []string{"0", "1"}))
	assert.Equal(t, "/c/vllm/gpu-MIG-1_2", confined("/c/vllm", []string{"MIG-1/2"}))
}

func TestIsServer(t *testing.T) {
	for _, c := range []struct {
		name      string
		argv, env []string
		want      bool
	}{
		{"engine core", []string{"VLLM::EngineCore"}, nil, true},
		{"worker", []string{"VLLM::Worker_TP0"}, nil, true},
		{"module", []string{"python3", "-P", "-m", "vllm.entrypoints.cli.main", "serve"}, nil, true},
		{"program", []string{"/v/bin/python", "/v/bin/vllm", "serve", "m"}, nil, true},
		{"marked", []string{"opbench", "sim", "serve"}, []string{"A=1", nonceVariable + "=opbench-1"}, true},
		{"an editor", []string{"vi", "vllm.entrypoints.md"}, nil, false},
		{"a search", []string{"grep", "-r", "vllm.entrypoints.cli.main", "."}, nil, false},
		{"another subcommand", []string{"/v/bin/vllm", "bench"}, nil, false},
		{"a mark without a value", []string{"sh"}, []string{nonceVariable + "="}, false},
		{"a kernel thread", nil, nil, false},
	} {
		assert.Equal(t, c.want, isServer(c.argv, c.env), c.name)
	}
	assert.Equal(t, []string{"a", "b"}, split([]byte("a\x00\x00b\x00")))
	assert.Empty(t, split(nil))
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("python\x00-m\x00vllm.entrypoints.cli.main\x00"))
	f.Add([]byte{0, 0, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, part := range split(data) {
			assert.NotEmpty(t, part)
			assert.NotContains(t, part, "\x00")
		}
		isServer(split(data), split(data))
	})
}

// A live server is listed, but for the campaign whose resume will end it.
func TestServers(t *testing.T) {
	campaign := t.TempDir()
	spec := testSpec(t)
	spec.RunDir = filepath.Join(campaign, "blocks", "0001", "off")
	require.NoError(t, os.MkdirAll(spec.RunDir, 0o755))
	p := start(t, testEngine(t, "ok"), spec)
	listed := func(dir string) bool {
		all, err := Servers(dir)
		require.NoError(t, err)
		for _, one := range all {
			if one.PID == p.pid {
				assert.NotEmpty(t, one.Title)
				return true
			}
		}
		return false
	}
	assert.True(t, listed(t.TempDir()))
	assert.False(t, listed(campaign))
	require.NoError(t, os.WriteFile(filepath.Join(spec.RunDir, results.ServerPIDFile), []byte("garbage"), 0o644))
	assert.True(t, listed(campaign))
}

func TestFindPackageFailures(t *testing.T) {
	_, err := FindPackage(context.Background(), filepath.Join(t.TempDir(), "absent"), nil)
	assert.ErrorContains(t, err, "engine.python")
	python := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\necho '{\"dir\": \"\"}'\n"), 0o755))
	_, err = FindPackage(context.Background(), python, nil)
	assert.ErrorContains(t, err, "has no vllm package")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\necho '{\"dir\": \"/p\", \"versions\": {\"vllm\": \"0.24.0\"}}'\n"), 0o755))
	p, err := FindPackage(context.Background(), python, nil)
	require.NoError(t, err)
	assert.Equal(t, Package{Python: python, Dir: "/p", Versions: map[string]string{"vllm": "0.24.0"}}, p)
}
