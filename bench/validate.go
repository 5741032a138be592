package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "validate SCENARIO...", Short: "Check scenario files; every error at once, with its position",
		Example: "opbench validate scenarios/vllm-cpu.yaml", Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, name := range args {
				p, err := a.loadPlan(name)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				fmt.Fprintf(a.stdout, "%s: ok, plan %.8s\n", name, p.Hash)
			}
			return usageError(errors.Join(errs...))
		},
	}
}

// loadPlan reads a scenario, a file or the name of one that ships with the
// tool, and plans it, with the patches that were given. All its errors are the
// user's.
func (a *app) loadPlan(name string, given ...string) (*results.Plan, error) {
	s, text, err := loadScenario(name, given...)
	if err != nil {
		return nil, err
	}
	return harness.Plan(s, name, text, a.build.Version)
}

func loadScenario(name string, given ...string) (*scenarios.Scenario, []byte, error) {
	known, err := knownPatches(given)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) && !strings.ContainsRune(name, filepath.Separator) {
		text, err := scenarios.Open(strings.TrimSuffix(name, ".yaml"))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: no such file, and no scenario of that name ships with opbench (%s)",
				name, strings.Join(scenarios.Bundled(), ", "))
		}
		s, err := scenarios.Load(name, text, known)
		return s, text, err
	}
	return scenarios.Read(name, known)
}
