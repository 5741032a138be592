package sim

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/results/steps"
)

func TestRecordsPassEveryCheck(t *testing.T) {
	mixed := func(c *Config) { c.MaxNumBatchedTokens, c.Noise = 256, 2 }
	onClock(t, mixed, "", func(g *rig) {
		for _, length := range []int{5, 300, 17, 700} {
			g.askAll(prompts(40, length), 20)
			time.Sleep(time.Second)
		}
		g.ask(prompts(1, 3)[0], 1)
		s := g.summary()
		assert.Empty(t, failed(s))
		for _, c := range s.Checks {
			assert.Empty(t, c.Skipped, "check %s was not made", c.ID)
		}
		assert.True(t, s.Footer)
		assert.EqualValues(t, 40*(5+300+17+700)+3, s.PrefillTokens)
		assert.EqualValues(t, 4*40*19, s.DecodeTokens)
		assert.EqualValues(t, 5, s.EmptySteps, "one after each time that the engine fell idle")
	})
}

func TestHeaderSaysSimulated(t *testing.T) {
	onClock(t, nil, "", func(g *rig) {
		names, err := filepath.Glob(filepath.Join(g.dir, steps.Folder, "*"))
		require.NoError(t, err)
		require.Len(t, names, 1, "the header is there before the first request")
		file, err := os.Open(names[0])
		require.NoError(t, err)
		defer file.Close()
		h, err := steps.ReadHeader(names[0], file)
		require.NoError(t, err)
		assert.Equal(t, "simulated", h.VLLM)
		assert.Equal(t, "sim", h.Revision)
		assert.Equal(t, steps.FileName(0, os.Getpid(), g.start.UnixNano()), filepath.Base(names[0]))
	})
}

func TestNoRecordsWithoutAFolder(t *testing.T) {
	off := func(c *Config) { c.RecordDir = "" }
	onClock(t, off, "", func(g *rig) {
		g.ask(prompts(1, 10)[0], 3)
		assert.Empty(t, g.summary().Files)
	})
}

func TestARecordFileIsNeverReused(t *testing.T) {
	cfg := DefaultConfig()
	cfg.RecordDir = t.TempDir()
	born := time.Now()
	first, err := openRecorder(&cfg, &Faults{}, born)
	require.NoError(t, err)
	require.NoError(t, first.close())
	_, err = openRecorder(&cfg, &Faults{}, born)
	assert.ErrorIs(t, err, os.ErrExist)
}

func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfg := DefaultConfig()
	cfg.RecordDir = filepath.Join(file, "steps")
	_, err := New(cfg, Faults{})
	assert.ErrorContains(t, err, "folder for step records")
}

func TestAbortsMakeRunsOfEmptySteps(t *testing.T) {
	cfg := DefaultConfig()
	cfg.RecordDir = t.TempDir()
	rec, err := openRecorder(&cfg, &Faults{}, time.Now())
	require.NoError(t, err)
	for i := range int64(3) {
		st := &step{index: i, submit: rec.born, ready: rec.born}
		require.NoError(t, rec.record(st, rec.born))
	}
	require.NoError(t, rec.close())
	s, err := steps.Check([]string{rec.file.Name()})
	require.NoError(t, err)
	assert.Empty(t, failed(s))
	assert.EqualValues(t, 1, s.Records)
	assert.EqualValues(t, 3, s.EmptySteps)
}
