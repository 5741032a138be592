package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The key enters the plan only where it is written: plans of earlier versions keep
// their hash.
func TestExpectIsWrittenOnly(t *testing.T) {
	for text, want := range map[string]Expectation{"": "", "\nidentity: {expect: report}": ExpectReport, "\nidentity: {expect: equal}": ExpectEqual} {
		s, err := Load("s", []byte(good+text), known)
		require.NoError(t, err)
		assert.Equal(t, want, s.Identity.Expect)
	}
	_, err := Load("s", []byte(good+"\nidentity: {expect: same}"), known)
	assert.ErrorContains(t, err, "identity.expect: want equal or report")
}
