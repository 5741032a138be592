package bench

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// misplaced lists the commands below c that are not in the file named after
// them: opbench patch tree is in patchtree.go.
func misplaced(c *cobra.Command, read func(name string) (string, error)) (list []string) {
	for _, sub := range c.Commands() {
		words := strings.Fields(sub.CommandPath())[1:]
		text, err := read(strings.Join(words, "") + ".go")
		if err != nil || !strings.Contains(text, `Use: "`+sub.Use+`"`) {
			list = append(list, sub.CommandPath())
		}
		list = append(list, misplaced(sub, read)...)
	}
	return list
}

// Whoever looks for a command finds its file by its name.
func TestEveryCommandHasItsFile(t *testing.T) {
	assert.Empty(t, misplaced(tested.root(), func(name string) (string, error) {
		text, err := os.ReadFile(name)
		return string(text), err
	}))
	none := misplaced(tested.root(), func(string) (string, error) { return `Use: "gate DIR"`, nil })
	assert.NotContains(t, none, "opbench gate")
	assert.Contains(t, none, "opbench patch tree")
}
