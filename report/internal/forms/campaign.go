package forms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// Build loads and judges a run directory.
func Build(t *testing.T, dir string) *view.View {
	t.Helper()
	c, err := results.Load(dir)
	require.NoError(t, err)
	v, err := judge.Build(c, "v0.1.0")
	require.NoError(t, err)
	return v
}
