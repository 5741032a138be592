package report

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// describeSubject says what was asked; describeEnvironment adds what ran.
func (b *builder) describeSubject() {
	p := b.c.Plan
	s := &b.view.Subject
	*s = Subject{
		Campaign: campaignName(b.c.Dir), Scenario: b.s.Name, Purpose: string(b.s.Purpose), About: b.s.About,
		PlanHash: p.Hash, WorkloadHash: p.WorkloadSHA256, Engine: string(b.s.Engine.Kind),
		Model: path.Base(filepath.ToSlash(b.s.Engine.Model)), MarginPct: 100 * b.s.Gate.Margin,
		Confidence: 100 * b.s.Gate.Confidence, Looks: b.s.Design.Looks, AdjustOrder: b.s.Design.AdjustOrder,
		SliceS: b.s.Design.Interleave.Slice.Seconds(),
	}
	if len(b.c.Entries) > 0 && !b.c.Entries[0].Time.IsZero() {
		s.Date = b.c.Entries[0].Time.UTC().Format("2006-01-02")
	}
	for _, a := range b.s.Arms {
		s.Arms = append(s.Arms, Arm{Name: a.Name, Patch: a.Patch, PatchSHA256: p.Patches[a.Patch], Records: a.Records()})
	}
	s.Seeds = append(s.Seeds, Seed{"order of arms", b.s.Design.Seed})
	for _, phase := range b.s.Phases {
		s.Seeds = append(s.Seeds, Seed{"requests of phase " + phase.Name, phase.Source.Seed})
	}
	s.Seeds = append(s.Seeds, Seed{"identity prompts", b.s.Identity.Seed})
	b.view.Reproduce = fmt.Sprintf("opbench run %s%s --expect-plan %.8s", shellWord(path.Join("scenarios", p.ScenarioFile)), b.givenPatches(), p.Hash)
	if p.Pilot != nil { // a pilot measured again gives other values, and so another plan
		b.view.Reproduce = "opbench control " + shellWord(path.Join("scenarios", p.ScenarioFile))
	}
}

// givenPatches are the options that named the folders of revisions which do not
// ship with opbench; of a folder of one machine only the last element is shown.
func (b *builder) givenPatches() string {
	var options string
	for _, a := range b.s.Arms {
		dir := filepath.ToSlash(a.PatchDir)
		if path.IsAbs(dir) {
			dir = path.Base(dir)
		}
		if dir != "" {
			options += " --patch " + shellWord(a.Name+"="+dir)
		}
	}
	return options
}

// campaignName is the run directory's own name, wherever it lies.
func campaignName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// shellWord quotes a word for a shell unless it is harmless.
func shellWord(s string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/=", r)
	}
	if strings.TrimFunc(s, harmless) == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// factTable collects who says what, in order of first mention.
type factTable struct {
	names  []string
	values map[string]map[string][]*attempt // by name and value
}

func (t *factTable) add(name, value string, a *attempt) {
	if t.values[name] == nil {
		t.names = append(t.names, name)
		t.values[name] = map[string][]*attempt{}
	}
	t.values[name][value] = append(t.values[name][value], a)
}

// describeEnvironment collapses what all runs have in common to one line each
// and names the runs that differ.
func (b *builder) describeEnvironment() {
	t := &factTable{values: map[string]map[string][]*attempt{}}
	var whole []*attempt
	for _, a := range b.attempts {
		if a.Damage != "" {
			continue
		}
		whole = append(whole, a)
		t.addMachine(a)
		t.addServer(a)
	}
	for _, name := range t.names {
		b.view.Environment = append(b.view.Environment, fact(name, t.values[name], whole))
	}
	if len(whole) > 0 {
		b.view.Subject.Hardware = hardware(whole[0].Environment)
		b.view.Subject.Versions = versions(whole[0].Run.Server.Versions)
	}
}

func (t *factTable) addMachine(a *attempt) {
	e := a.Environment
	t.add("CPU", fmt.Sprintf("%s, %d cores", e.CPUModel, e.Cores), a)
	t.add("memory", fmt.Sprintf("%.1f GiB", float64(e.MemoryBytes)/(1<<30)), a)
	t.add("kernel", e.Kernel, a)
	if len(e.GPUs) > 0 {
		t.add("GPU", strings.Join(e.GPUs, ", "), a)
		t.add("driver", e.Driver, a)
	}
}

func (t *factTable) addServer(a *attempt) {
	s := &a.Run.Server
	for _, k := range sortedKeys(s.Versions) {
		t.add("version of "+k, s.Versions[k], a)
	}
	for _, k := range sortedKeys(s.Backends) {
		t.add("backend: "+k, s.Backends[k], a)
	}
	for _, k := range []string{"attention", "moe"} {
		if s.Backends[k] == "" && s.Engine == string(scenarios.EngineVLLM) {
			t.add("backend: "+k, "not named in the server's log", a)
		}
	}
	for _, role := range sortedKeys(s.Schedule) {
		t.add("CPU scheduling of "+role, s.Schedule[role], a)
	}
	if s.ModelSHA256 != "" {
		t.add("model SHA-256", s.ModelSHA256, a)
	}
	if len(s.ModelConfig) > 0 {
		config, _ := json.Marshal(s.ModelConfig) // it came from JSON
		t.add("model config", string(config), a)
	}
	for _, file := range sortedKeys(s.Blobs) {
		t.add("blob of "+file, s.Blobs[file], a)
	}
	if len(s.Command) > 0 {
		t.add("command", strings.Join(s.Command, " "), a)
	}
}

// fact is one line if all runs say the same.
func fact(name string, values map[string][]*attempt, all []*attempt) Fact {
	if keys := sortedKeys(values); len(keys) == 1 && len(values[keys[0]]) == len(all) {
		return Fact{Name: name, Value: keys[0]}
	}
	f := Fact{Name: name}
	silent := slices.Clone(all)
	for _, v := range sortedKeys(values) {
		f.By = append(f.By, Differ{v, who(values[v], all)})
		silent = slices.DeleteFunc(silent, func(a *attempt) bool { return slices.Contains(values[v], a) })
	}
	if len(silent) > 0 {
		f.By = append(f.By, Differ{"(not found)", who(silent, all)})
	}
	return f
}

// who names runs, or an arm if these are exactly its runs.
func who(some, all []*attempt) []string {
	arm := some[0].Key.Arm
	ofArm := slices.DeleteFunc(slices.Clone(all), func(a *attempt) bool { return a.Key.Arm != arm })
	if slices.Equal(some, ofArm) {
		return []string{"every run of " + arm}
	}
	var names []string
	for _, a := range some {
		names = append(names, a.Key.String())
	}
	return names
}

func hardware(e *results.Environment) string {
	if len(e.GPUs) == 0 {
		return e.CPUModel
	}
	if n := len(e.GPUs); n > 1 && len(distinct(e.GPUs)) == 1 {
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

// describeRuns lists every attempt and every lost run.
func (b *builder) describeRuns() {
	for _, a := range b.attempts {
		b.view.Runs = append(b.view.Runs, b.describeRun(a))
	}
	for _, e := range b.c.Aborted {
		why := e.Detail
		if why == "" {
			why = "lost to a crash or an interruption"
		}
		b.view.Aborted = append(b.view.Aborted, Aborted{e.Block, e.Attempt, e.Arm, why})
	}
}

func (b *builder) describeRun(a *attempt) Run {
	r := Run{Block: a.Key.Block, Attempt: a.Key.Attempt, Arm: a.Key.Arm, Findings: a.findings, Warnings: a.warnings}
	switch why, void := b.c.Voids[fmt.Sprintf("%s.%d", a.Key.Block, a.Key.Attempt)]; {
	case a.Damage != "":
		r.State, r.Why = "damaged", a.Damage
	case void:
		r.State, r.Why = "void", why
	case a.BurnIn:
		r.State = "burn-in"
	case a.Valid && len(a.findings) > 0:
		r.State, r.Why = "INVALID", "accepted by the harness"
	case a.Valid:
		r.State = "valid"
	default:
		r.State = "block open"
	}
	if len(a.findings) == 0 {
		for _, f := range a.Attempt.Findings {
			r.Warnings = append(slices.Clone(r.Warnings), "found by the harness, not found again: "+f)
		}
	}
	if a.Run != nil {
		r.Position = a.Run.Position + 1
		r.Seconds = a.Run.End.Sub(a.Run.Start).Seconds()
		r.Ready = a.Run.Server.ReadyIn
		if a.Run.Failure != "" {
			r.Warnings = append(slices.Clone(r.Warnings), "ended early ("+a.Run.FailureClass+"): "+a.Run.Failure)
		}
	}
	return r
}
