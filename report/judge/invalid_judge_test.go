package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStallEventsAreMerged(t *testing.T) {
	t.Parallel()
	for want, gaps := range map[int][][2]int64{
		0: nil,
		1: {{10, 20}, {0, 12}, {20, 30}},
		3: {{50, 60}, {0, 10}, {11, 30}, {12, 13}},
	} {
		assert.Equal(t, want, countSeparate(gaps))
	}
}
