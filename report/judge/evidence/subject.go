package evidence

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// Subject says what was asked and what it ran on.
func Subject(c *results.Campaign, runs []*accept.Run) view.Subject {
	p, in := c.Plan, &c.Plan.Scenario
	s := view.Subject{
		Campaign: view.CampaignName(c.Dir), Scenario: in.Name, Purpose: string(in.Purpose), About: in.About,
		PlanHash: p.Hash, WorkloadHash: p.WorkloadSHA256, Engine: string(in.Engine.Kind),
		Model: path.Base(filepath.ToSlash(in.Engine.Model)), MarginPct: 100 * in.Gate.Margin,
		Confidence: 100 * in.Gate.Confidence, Looks: in.Design.Looks, AdjustOrder: in.Design.AdjustOrder,
		SliceS: in.Design.Interleave.Slice.Seconds(),
	}
	if len(c.Entries) > 0 && !c.Entries[0].Time.IsZero() {
		s.Date = c.Entries[0].Time.UTC().Format("2006-01-02")
	}
	for _, a := range in.Arms {
		s.Arms = append(s.Arms, view.Arm{Name: a.Name, Patch: a.Patch, PatchSHA256: p.Patches[a.Patch], Records: a.Records()})
	}
	order := "order of arms"
	if p.Replicate > 0 {
		order += fmt.Sprintf(" (replicate %d)", p.Replicate)
	}
	s.Seeds = append(s.Seeds, view.Seed{Of: order, Seed: in.Design.Seed})
	for _, phase := range in.Phases {
		s.Seeds = append(s.Seeds, view.Seed{Of: "requests of phase " + phase.Name, Seed: phase.Source.Seed})
	}
	s.Seeds = append(s.Seeds, view.Seed{Of: "identity prompts", Seed: in.Identity.Seed})
	if i := slices.IndexFunc(runs, func(a *accept.Run) bool { return a.Damage == "" }); i >= 0 {
		s.Hardware, s.Versions = hardware(runs[i].Environment), versions(runs[i].Run.Server.Versions)
	}
	return s
}

// Reproduce is the command that asks the same again. A pilot measured again gives
// other values, and so another plan.
func Reproduce(p *results.Plan) string {
	file := view.ShellWord(path.Join("scenarios", p.ScenarioFile))
	if p.Pilot != nil {
		return "opbench control " + file
	}
	replicate := ""
	if p.Replicate > 0 {
		replicate = fmt.Sprintf(" --replicate %d", p.Replicate)
	}
	return fmt.Sprintf("opbench run %s%s%s --expect-plan %.8s", file, givenPatches(&p.Scenario), replicate, p.Hash)
}

// givenPatches are the options that named the folders of revisions which do not
// ship with opbench; of a folder of one machine only the last element is shown.
func givenPatches(s *scenarios.Scenario) string {
	var options string
	for _, a := range s.Arms {
		dir := filepath.ToSlash(a.PatchDir)
		if path.IsAbs(dir) {
			dir = path.Base(dir)
		}
		if dir != "" {
			options += " --patch " + view.ShellWord(a.Name+"="+dir)
		}
	}
	return options
}

func hardware(e *results.Environment) string {
	if len(e.GPUs) == 0 {
		return e.CPUModel
	}
	if n := len(e.GPUs); n > 1 && len(slices.Compact(slices.Sorted(slices.Values(e.GPUs)))) == 1 {
		return fmt.Sprintf("%d x %s", n, e.GPUs[0])
	}
	return strings.Join(e.GPUs, ", ")
}

func versions(v map[string]string) string {
	if v["vllm"] == "" {
		return ""
	}
	return "vLLM " + v["vllm"]
}
