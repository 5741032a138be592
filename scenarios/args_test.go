package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The size of an arm is that of its merged options; no server starts with one
// that is no count.
func TestTensorParallel(t *testing.T) {
	s := &Scenario{Engine: Engine{Args: map[string]string{"tensor-parallel-size": "2"}}}
	for arm, want := range map[string]int{"": 2, "4": 4, "1": 1, "many": 1, "0": 1} {
		a := Arm{}
		if arm != "" {
			a.Args = map[string]string{"tensor-parallel-size": arm}
		}
		assert.Equal(t, want, s.TensorParallel(a), arm)
	}
	assert.Equal(t, 1, (&Scenario{}).TensorParallel(Arm{}), "vLLM's default")
}
