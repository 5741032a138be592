package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const maxArms = 4

func checkEngine(f *file, s *Scenario) {
	e, can := s.Engine, s.Engine.Kind.Capabilities()
	if e.Model == "" && can.needsModel {
		f.rule("engine.model", "missing: kind %s needs a model", e.Kind)
	}
	if e.Python != "" && can.Python == "" {
		kinds := kindsWith(func(c Capabilities) bool { return c.Python != "" })
		f.rule("engine.python", "only kind %s starts Python", kinds)
	}
	if f.has("engine.schedule") && len(can.Roles) == 0 {
		kinds := kindsWith(func(c Capabilities) bool { return len(c.Roles) > 0 })
		f.rule("engine.schedule", "only kind %s has processes with these roles", kinds)
	}
	checkArgs(f, s, "engine.args", e.Args)
	checkEnv(f, s, "engine.env", e.Env)
	if _, set := e.Env[RecorderVariable]; set {
		f.rule("engine.env."+RecorderVariable, "declare the recorder in the arms that record, not for all of them")
	}
	if s.Purpose == Control && can.slowdown == bySpin && !hasArg(e.Args, "no-async-scheduling") {
		f.rule("engine.args", "a control on vllm needs no-async-scheduling: true, or its wait hides behind the GPU")
	}
}

func hasArg(args map[string]string, name string) bool {
	_, has := args[name]
	return has
}

func checkArgs(f *file, s *Scenario, path string, args map[string]string) {
	for _, arg := range sorted(args) {
		at := path + "." + arg
		plain := strings.TrimPrefix(arg, "no-")
		switch {
		case slices.Contains(reservedArgs, plain):
			f.rule(at, "the harness sets %s itself: leave it out", plain)
		case s.Engine.attached():
			f.rule(at, "an attached endpoint takes no options: someone else started it")
		case arg != plain && hasArg(args, plain):
			f.rule(at, "contradicts %s", plain)
		}
	}
}

func checkEnv(f *file, s *Scenario, path string, env map[string]string) {
	for _, name := range sorted(env) {
		at := path + "." + name
		switch {
		case slices.Contains(reservedEnv, name):
			f.rule(at, "the harness sets %s itself, to the tree of the arm's patch: leave it out", name)
		case s.Engine.attached():
			f.rule(at, "an attached endpoint takes no environment: someone else started it")
		case name == BatchInvariant && env[name] == "1" && s.Purpose != Correctness:
			f.rule(at, "batch-invariant kernels are much slower and never timed: use purpose correctness")
		}
	}
}

func checkArms(f *file, s *Scenario, known Known) {
	switch n := len(s.Arms); {
	case n < 2:
		f.rule("arms", "need at least two arms, got %d", n)
	case n > maxArms:
		f.rule("arms", "at most %d arms, got %d", maxArms, n)
	}
	for _, a := range s.Arms {
		path := "arms." + a.Name
		checkPatch(f, s, path+".patch", a.Patch, known)
		checkArgs(f, s, path+".args", a.Args)
		checkEnv(f, s, path+".env", a.Env)
		checkURL(f, s, path+".url", a.URL)
	}
	checkOneServer(f, s)
}

// givePatches replaces the patches of arms by those that were given.
func givePatches(f *file, s *Scenario, known Known) {
	for _, name := range slices.Sorted(maps.Keys(known.Given)) {
		i := slices.IndexFunc(s.Arms, func(a Arm) bool { return a.Name == name })
		if i < 0 {
			f.rule("arms", "there is no arm %s that could get a patch", quote(name))
			continue
		}
		s.Arms[i].Patch, s.Arms[i].PatchDir = known.Given[name].ID, known.Given[name].Dir
	}
}

func checkPatch(f *file, s *Scenario, path, patch string, known Known) {
	options := append([]string{PatchNone}, known.Patches...)
	switch can := s.Engine.Kind.Capabilities(); {
	case !slices.Contains(options, patch):
		f.rule(path, "unknown patch revision %s; known: %s", quote(patch), strings.Join(options, ", "))
	case patch == PatchNone || can.Patchable:
	case can.Simulated:
		f.rule(path, "the simulated engine runs no vLLM that could be patched: write none")
	case s.Engine.attached():
		f.rule(path, "an attached endpoint cannot be patched: write none")
	}
}

func checkURL(f *file, s *Scenario, path, text string) {
	if s.Engine.Kind == "" {
		return
	}
	attach := s.Engine.attached()
	switch {
	case attach && text == "":
		f.rule(path, "missing: kind %s needs the endpoint of each arm", s.Engine.Kind)
	case attach:
		if _, err := Endpoint(text); err != nil {
			f.rule(path, "%v", err)
		}
	case text != "":
		kinds := kindsWith(func(c Capabilities) bool { return !c.Starts })
		f.rule(path, "only kind %s takes addresses: the harness starts this server", kinds)
	}
}

func checkCompare(f *file, s *Scenario) {
	if len(s.Compare) == 0 && len(s.Arms) > 1 {
		f.rule("compare", "need at least one comparison: leave the key out to compare every arm with the first")
	}
	seen := map[[2]string]bool{}
	for i, c := range s.Compare {
		path := fmt.Sprintf("compare[%d]", i)
		checkArmName(f, s, path+".baseline", c.Baseline)
		checkArmName(f, s, path+".candidate", c.Candidate)
		pair := [2]string{min(c.Baseline, c.Candidate), max(c.Baseline, c.Candidate)}
		switch {
		case c.Baseline == c.Candidate:
			f.rule(path, "compares %s with itself", c.Baseline)
		case seen[pair]:
			f.rule(path, "compares %s and %s a second time", c.Baseline, c.Candidate)
		}
		seen[pair] = true
	}
	checkCompared(f, s)
}

// checkCompared refuses an arm that costs a run in every block for nothing.
func checkCompared(f *file, s *Scenario) {
	for _, a := range s.Arms {
		compared := func(c Comparison) bool { return c.Baseline == a.Name || c.Candidate == a.Name }
		if len(s.Compare) > 0 && len(s.Arms) > 2 && !slices.ContainsFunc(s.Compare, compared) {
			f.rule("arms."+a.Name, "is in no comparison: compare it, or leave it out")
		}
	}
}

func checkArmName(f *file, s *Scenario, path, name string) {
	if _, found := s.Arm(name); found || name == "" {
		return
	}
	names := each(s.Arms, func(a Arm) string { return a.Name })
	f.rule(path, "there is no arm %s%s", quote(name), suggest(name, names))
}

// checkDifferences holds the arms to the purpose: they differ where an effect
// is looked for, and only where one is.
func checkDifferences(f *file, s *Scenario) {
	for _, a := range s.Arms {
		checkSameAs(f, s, a)
	}
	// More comparisons than pairs have been reported as repeated.
	if n := len(s.Compare); n == 0 || n > maxArms*(maxArms-1)/2 || f.wrong("purpose") {
		return
	}
	repeats := true
	for i, c := range s.Compare {
		a, foundA := s.Arm(c.Baseline)
		b, foundB := s.Arm(c.Candidate)
		if !foundA || !foundB || a.Name == b.Name || s.Engine.attached() && (a.URL == "" || b.URL == "") {
			return
		}
		checkDifference(f, s, fmt.Sprintf("compare[%d]", i), a, b)
		repeats = repeats && s.Repeats(a, b) && s.difference(a, b) == ""
	}
	if repeats && (s.Purpose == Overhead || s.Purpose == Control) {
		f.rule("purpose", "no comparison is between arms that differ: use purpose aa")
	}
}

func checkDifference(f *file, s *Scenario, path string, a, b Arm) {
	where := s.difference(a, b)
	switch effect := s.Purpose == Overhead || s.Purpose == Control; {
	case s.Purpose == AA && where != "":
		f.rule("arms."+b.Name, "the arms of an A/A must be equal: %s and %s differ in %s", a.Name, b.Name, where)
	case effect && where == "" && !s.Repeats(a, b):
		f.rule("arms."+b.Name, "equal to %[1]s: say same_as: %[1]s if that is meant", a.Name)
	case s.Purpose == Overhead && a.Records() && !b.Records():
		f.rule(path, "the baseline %s records and the candidate %s does not: exchange them", a.Name, b.Name)
	}
}

func checkSameAs(f *file, s *Scenario, a Arm) {
	path := "arms." + a.Name + ".same_as"
	if a.SameAs == "" {
		return
	}
	if a.SameAs == a.Name {
		f.rule(path, "an arm cannot repeat itself")
		return
	}
	checkArmName(f, s, path, a.SameAs)
	if other, found := s.Arm(a.SameAs); found {
		if where := s.difference(other, a); where != "" {
			f.rule(path, "differs from %s in %s", other.Name, where)
		}
	}
}

// difference names the declared keys in which two arms differ; nothing else
// may differ. Two attached endpoints differ unless purpose aa says otherwise.
func (s *Scenario) difference(a, b Arm) string {
	var where []string
	if a.Patch != b.Patch {
		where = append(where, "patch")
	}
	if !maps.Equal(a.Env, b.Env) {
		where = append(where, "env")
	}
	if !maps.Equal(s.ArmArgs(a), s.ArmArgs(b)) {
		where = append(where, "args")
	}
	if a.URL != b.URL && s.Purpose != AA {
		where = append(where, "url")
	}
	return strings.Join(where, ", ")
}

// checkRecorders refuses recording arms that could not record, before a server
// is started for them.
func checkRecorders(f *file, s *Scenario) {
	for _, a := range s.Arms {
		if !a.Records() {
			continue
		}
		path := "arms." + a.Name
		checkRecorderDir(f, path+".env."+RecorderVariable, a.Env[RecorderVariable])
		if a.Patch == PatchNone && s.Engine.Kind.Capabilities().Patchable {
			f.rule(path+".patch", "the arm turns the recorder on but runs the untouched package, which has none")
		}
		if hasArg(s.ArmArgs(a), "disable-log-stats") {
			at := path + ".args.disable-log-stats"
			if !f.has(at) {
				at = "engine.args.disable-log-stats"
			}
			f.rule(at, "arm %s records, and the recorder needs the log stats: leave this out", a.Name)
		}
	}
}

// checkRecorderDir keeps a run's records in its own directory: in a shared one
// those of another run could be taken for them.
func checkRecorderDir(f *file, path, dir string) {
	rest, inside := strings.CutPrefix(dir, RunDirToken)
	if !inside || rest != "" && rest[0] != '/' || slices.Contains(strings.Split(rest, "/"), "..") {
		f.rule(path, `the records must lie in the run's own directory: write "%s/steps"`, RunDirToken)
	}
}
