package bench

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/scenarios"
)

// completeArgs gives every command below c the shell completion that its usage
// line asks for: SCENARIO is a bundled name or a YAML file, DIR a directory.
func completeArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		switch {
		case strings.Contains(sub.Use, "SCENARIO"):
			sub.ValidArgsFunction = completeScenario
		case strings.Contains(sub.Use, "DIR"):
			sub.ValidArgsFunction = completeDir
		}
		completeArgs(sub)
	}
}

// completeScenario offers the bundled scenarios with what each is about; when
// none of them fits, the shell offers YAML files.
func completeScenario(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	for _, name := range scenarios.Bundled() {
		if !strings.HasPrefix(name, typed) {
			continue
		}
		if s, _, err := loadScenario(name + ".yaml"); err == nil {
			found = append(found, cobra.CompletionWithDesc(name, s.About))
		}
	}
	if len(found) == 0 {
		return []cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func completeDir(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeWords offers the keys of a table as the values of a flag.
func completeWords[T any](c *cobra.Command, flag string, table map[string]T) {
	var words []cobra.Completion
	for word := range table {
		words = append(words, word)
	}
	slices.Sort(words)
	completeFlag(c, flag, words)
}

// completeFlag offers the values of a flag.
func completeFlag(c *cobra.Command, flag string, words []cobra.Completion) {
	// The only error is a flag that does not exist, or one completed twice.
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}
