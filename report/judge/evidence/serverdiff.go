package evidence

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/scenarios"
)

func InBoth(name, a, b string) string {
	return fmt.Sprintf("%s is %s in A, %s in B", name, orNotThere(a), orNotThere(b))
}

func orNotThere(s string) string {
	if s == "" {
		return "absent"
	}
	return view.Clean(s)
}

// EngineDifferences names the settings of the server, common to all arms, in
// which two scenarios differ.
func EngineDifferences(a, b *scenarios.Scenario) []string {
	var list []string
	differ := func(name, x, y string) {
		if x != y {
			list = append(list, InBoth(name, x, y))
		}
	}
	differ("engine.kind", string(a.Engine.Kind), string(b.Engine.Kind))
	differ("engine.model", modelName(a), modelName(b))
	for _, m := range []struct {
		name string
		a, b map[string]string
	}{{"engine.args", a.Engine.Args, b.Engine.Args}, {"engine.env", a.Engine.Env, b.Engine.Env}, {"engine.schedule", a.Engine.Schedule, b.Engine.Schedule}} {
		for _, key := range BothKeys(m.a, m.b) {
			x, hasX := m.a[key]
			y, hasY := m.b[key]
			if x != y || hasX != hasY {
				list = append(list, InBoth(m.name+"."+key, shown(x, hasX), shown(y, hasY)))
			}
		}
	}
	return list
}

// shown tells a bare flag from one that is not there.
func shown(value string, there bool) string {
	if there && value == "" {
		return "set"
	}
	return value
}

// modelName leaves out where the model lies on a machine.
func modelName(s *scenarios.Scenario) string { return path.Base(filepath.ToSlash(s.Engine.Model)) }

func BothKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
