package bench

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
)

func (a *app) patchListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the revisions that ship with opbench: what they change, expected and measured cost",
		Example: "opbench patch list", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printRevisions()
			}
			for _, r := range patches.List() {
				fmt.Fprint(a.stdout, r.Text())
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return c
}

// listedRevision is a revision in opbench patch list --json.
type listedRevision struct {
	ID           string   `json:"id"`
	Parent       string   `json:"parent"`
	VLLM         string   `json:"vllm"`
	Commit       string   `json:"commit"`
	Status       string   `json:"status"`
	Schema       int      `json:"record_schema"`
	ExpectedCost string   `json:"expected_cost"`
	MeasuredCost string   `json:"measured_cost,omitempty"`
	Changes      []string `json:"changes"`
	Files        []string `json:"files"`
	SHA256       string   `json:"series_sha256"`
}

func (a *app) printRevisions() error {
	var all []listedRevision
	for _, r := range patches.List() {
		one := listedRevision{ID: r.ID, Parent: r.Parent, VLLM: r.VLLM, Commit: r.Commit, Status: r.Status, Schema: r.SchemaVersion,
			ExpectedCost: r.ExpectedCost, MeasuredCost: r.MeasuredCost, Changes: r.Changes, SHA256: r.SHA256}
		for _, f := range r.Files {
			one.Files = append(one.Files, f.Path)
		}
		all = append(all, one)
	}
	return a.printJSON(struct {
		Schema    int              `json:"schema"`
		Kind      string           `json:"kind"`
		Revisions []listedRevision `json:"revisions"`
	}{results.Schema, "patch-list", all})
}
