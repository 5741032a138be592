package scenarios

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// givenTo is what is known when arms get patches from outside the file.
func givenTo(patches map[string]Given) Known {
	k := Known{Patches: []string{"r1-seed"}, Given: patches}
	for _, g := range patches {
		k.Patches = append(k.Patches, g.ID)
	}
	return k
}

// A patch from a folder takes the place of the file's, and only of it.
func TestGivenPatches(t *testing.T) {
	s, err := Load("s", []byte(served), givenTo(map[string]Given{"on": {"r1-seed+0123456789ab", "../pr/r1-seed"}}))
	require.NoError(t, err)
	off, _ := s.Arm("off")
	on, _ := s.Arm("on")
	assert.Equal(t, "r1-seed", off.Patch)
	assert.Empty(t, off.PatchDir)
	assert.Equal(t, "r1-seed+0123456789ab", on.Patch)
	assert.Equal(t, "../pr/r1-seed", on.PatchDir)
	assert.Equal(t, "r1-seed", on.Revision(), "what the records say")
	assert.Equal(t, "r1-seed", off.Revision())
	plain, err := json.Marshal(off)
	require.NoError(t, err)
	assert.NotContains(t, string(plain), "patch_dir", "plans without it are as they were")
}

// The rules of a file hold for what is given, too.
func TestGivenPatchesAreChecked(t *testing.T) {
	_, err := Load("s", []byte(served), givenTo(map[string]Given{"onn": {"r1-seed+0123456789ab", "x"}}))
	require.ErrorContains(t, err, `arms: there is no arm "onn" that could get a patch`)
	_, err = Load("s", []byte(good), givenTo(map[string]Given{"on": {"r1-seed+0123456789ab", "x"}}))
	require.ErrorContains(t, err, "the simulated engine runs no vLLM that could be patched")

	text, err := Open("ci-regress")
	require.NoError(t, err)
	same := Given{"r1-seed+0123456789ab", "x"}
	_, err = Load("s", text, Known{Patches: append(shipped.Patches, same.ID), Given: map[string]Given{"base": same, "change": same}})
	require.ErrorContains(t, err, "equal to base")
}
