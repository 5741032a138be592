package evidence

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
)

// factTable collects who says what, in order of first mention.
type factTable struct {
	names  []string
	values map[string]map[string][]*accept.Run // by name and value
}

func (t *factTable) add(name, value string, a *accept.Run) {
	if t.values[name] == nil {
		t.names = append(t.names, name)
		t.values[name] = map[string][]*accept.Run{}
	}
	t.values[name][value] = append(t.values[name][value], a)
}

// Environment collapses what all runs have in common to one line each
// and names the runs that differ.
func Environment(runs []*accept.Run) (facts []view.Fact) {
	t := &factTable{values: map[string]map[string][]*accept.Run{}}
	var whole []*accept.Run
	for _, a := range runs {
		if a.Damage != "" {
			continue
		}
		whole = append(whole, a)
		t.addMachine(a)
		t.addServer(a)
	}
	for _, name := range t.names {
		facts = append(facts, fact(name, t.values[name], whole))
	}
	return facts
}

func (t *factTable) addMachine(a *accept.Run) {
	e := a.Environment
	t.add("CPU", e.CPUModel+", "+view.Plural(e.Cores, "core", "cores"), a)
	t.add("memory", fmt.Sprintf("%.1f GiB", float64(e.MemoryBytes)/(1<<30)), a)
	t.add("kernel", e.Kernel, a)
	if len(e.GPUs) > 0 {
		t.add("GPU", strings.Join(e.GPUs, ", "), a)
		t.add("driver", e.Driver, a)
	}
}

func (t *factTable) addServer(a *accept.Run) {
	s := &a.Run.Server
	for _, k := range slices.Sorted(maps.Keys(s.Versions)) {
		t.add("version of "+k, s.Versions[k], a)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Backends)) {
		t.add("backend: "+k, s.Backends[k], a)
	}
	for _, k := range s.Engine.Capabilities().Backends {
		if s.Backends[k] == "" {
			t.add("backend: "+k, "not named in the server's log", a)
		}
	}
	for _, role := range slices.Sorted(maps.Keys(s.Schedule)) {
		t.add("CPU scheduling of "+role, s.Schedule[role], a)
	}
	if s.ModelSHA256 != "" {
		t.add("model SHA-256", s.ModelSHA256, a)
	}
	if len(s.ModelConfig) > 0 {
		config, _ := json.Marshal(s.ModelConfig) // it came from JSON
		t.add("model config", string(config), a)
	}
	for _, file := range slices.Sorted(maps.Keys(s.Blobs)) {
		t.add("blob of "+file, s.Blobs[file], a)
	}
	if len(s.Command) > 0 {
		t.add("command", strings.Join(s.Command, " "), a)
	}
}

// fact is one line if all runs say the same.
func fact(name string, values map[string][]*accept.Run, all []*accept.Run) view.Fact {
	if keys := slices.Sorted(maps.Keys(values)); len(keys) == 1 && len(values[keys[0]]) == len(all) {
		return view.Fact{Name: name, Value: keys[0]}
	}
	f := view.Fact{Name: name}
	silent := slices.Clone(all)
	for _, v := range slices.Sorted(maps.Keys(values)) {
		f.By = append(f.By, view.Differ{Value: v, Runs: who(values[v], all)})
		silent = slices.DeleteFunc(silent, func(a *accept.Run) bool { return slices.Contains(values[v], a) })
	}
	if len(silent) > 0 {
		f.By = append(f.By, view.Differ{Value: "(not found)", Runs: who(silent, all)})
	}
	return f
}

// who names runs, or an arm if these are exactly its runs.
func who(some, all []*accept.Run) []string {
	arm := some[0].Key.Arm
	ofArm := slices.DeleteFunc(slices.Clone(all), func(a *accept.Run) bool { return a.Key.Arm != arm })
	if slices.Equal(some, ofArm) {
		return []string{"every run of " + arm}
	}
	var names []string
	for _, a := range some {
		names = append(names, a.Key.String())
	}
	return names
}
