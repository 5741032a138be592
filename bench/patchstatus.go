package bench

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
)

type statusFlags struct {
	drift, asJSON      bool
	revision, upstream string
}

func (a *app) patchStatusCommand() *cobra.Command {
	var f statusFlags
	c := &cobra.Command{
		Use: "status DIR", Short: "Tell what a vLLM tree is: pristine, patched with which revision, or foreign (exit 12)",
		Long: `status compares a tree with all revisions at once, by git blob ids. DIR contains vllm/: a
site-packages folder, a clone or a tree.

With --drift it also says where each hunk of a revision would go in a tree that is another vLLM:
at its own line, at another one, or nowhere. Hunks have no context, so without --upstream only
replaced lines can be searched for; with it, a pristine tree of the pinned commit, lines are followed
from there. Nothing is ever applied: a revision fits one commit, this is for carrying it over.`,
		Example: "opbench patch status --drift --upstream .vllm-cpu/venv/lib/python3.11/site-packages ../vllm", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.patchStatus(args[0], f) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.drift, "drift", false, "say where the hunks of a revision would go")
	fl.StringVar(&f.revision, "revision", "r2-onepass", "revision of --drift")
	fl.StringVar(&f.upstream, "upstream", "", "pristine tree that --drift follows lines from")
	fl.BoolVar(&f.asJSON, "json", false, "print it as JSON")
	return c
}

func (a *app) patchStatus(dir string, f statusFlags) error {
	if f.upstream != "" && !f.drift {
		return usagef("--upstream is for --drift; give both")
	}
	s, err := patches.Inspect(dir)
	if err != nil {
		return usageError(err)
	}
	var d *patches.Drift
	if f.drift {
		if d, err = findDrift(dir, f); err != nil {
			return err
		}
	}
	if f.asJSON {
		err = a.printStatusJSON(s, d)
	} else {
		fmt.Fprint(a.stdout, s.Text(dir))
		if d != nil {
			fmt.Fprint(a.stdout, "\n", d.Text())
		}
	}
	if err == nil && s.State == patches.Foreign {
		err = invalidf("%s is neither the pinned vLLM %s nor patched with one revision: %s",
			dir, s.VLLM, strings.Join(s.Wrong(), ", "))
	}
	return err
}

func findDrift(dir string, f statusFlags) (*patches.Drift, error) {
	r, err := findRevision(f.revision)
	if err != nil {
		return nil, err
	}
	d, err := patches.FindDrift(r, dir, f.upstream)
	if err != nil {
		return nil, usageError(err)
	}
	return &d, nil
}

func (a *app) printStatusJSON(s patches.Status, d *patches.Drift) error {
	return a.printJSON(struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
		patches.Status
		Drift *patches.Drift `json:"drift,omitempty"`
	}{results.Schema, "patch-status", s, d})
}
