package report

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// unlike is one thing in which two campaigns differ.
type unlike struct {
	Part string // workload, engine, vllm, host
	Text string
}

// Excusable are the parts in which two campaigns may differ if the user says so.
// Unequal requests or engine arguments are another experiment and have no excuse.
var Excusable = []string{"vllm", "host"}

// campaignDifferences names what keeps the effects of two campaigns from being
// compared. a and b are finished and have runs.
func campaignDifferences(a, b *results.Campaign) []unlike {
	var list []unlike
	if a.Plan.WorkloadSHA256 != b.Plan.WorkloadSHA256 {
		list = append(list, unlike{"workload", fmt.Sprintf("the requests differ: workload %s in A, %s in B",
			shortHash(a.Plan.WorkloadSHA256), shortHash(b.Plan.WorkloadSHA256))})
	}
	for _, text := range engineDifferences(&a.Plan.Scenario, &b.Plan.Scenario) {
		list = append(list, unlike{"engine", text})
	}
	return append(list, softwareDifferences(software(a), software(b))...)
}

func inBoth(name, a, b string) string {
	return fmt.Sprintf("%s is %s in A, %s in B", name, orNotThere(a), orNotThere(b))
}

func orNotThere(s string) string {
	if s == "" {
		return "absent"
	}
	return clean(s)
}

// engineDifferences names the settings of the server, common to all arms, in
// which two scenarios differ.
func engineDifferences(a, b *scenarios.Scenario) []string {
	var list []string
	differ := func(name, x, y string) {
		if x != y {
			list = append(list, inBoth(name, x, y))
		}
	}
	differ("engine.kind", string(a.Engine.Kind), string(b.Engine.Kind))
	differ("engine.model", modelName(a), modelName(b))
	for _, m := range []struct {
		name string
		a, b map[string]string
	}{{"engine.args", a.Engine.Args, b.Engine.Args}, {"engine.env", a.Engine.Env, b.Engine.Env}, {"engine.schedule", a.Engine.Schedule, b.Engine.Schedule}} {
		for _, key := range bothKeys(m.a, m.b) {
			x, hasX := m.a[key]
			y, hasY := m.b[key]
			if x != y || hasX != hasY {
				list = append(list, inBoth(m.name+"."+key, shown(x, hasX), shown(y, hasY)))
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

func bothKeys(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// software is what the accepted runs of a campaign say about the machine and
// the versions, by name.
func software(c *results.Campaign) map[string]string {
	values := map[string][]string{}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if !a.Valid || a.Damage != "" {
			continue
		}
		for name, value := range softwareOf(a) {
			values[name] = append(values[name], value)
		}
	}
	out := map[string]string{}
	for name, list := range values {
		out[name] = strings.Join(distinct(list), " and ")
	}
	return out
}

func softwareOf(a *results.Attempt) map[string]string {
	e, s := a.Environment, &a.Run.Server
	return map[string]string{
		hostName: e.Host, "CPU": fmt.Sprintf("%s, %d cores", e.CPUModel, e.Cores), "kernel": e.Kernel,
		"GPU": strings.Join(e.GPUs, ", "), "driver": e.Driver, fingerprint: e.Fingerprint,
		vllmVersion: s.Versions["vllm"], "version of torch": s.Versions["torch"], modelHash: s.ModelSHA256,
	}
}

// Names of what software tells that are treated in their own way.
const (
	hostName    = "digest of the host's name"
	vllmVersion = "version of vllm"
	modelHash   = "SHA-256 of the model"
	fingerprint = "fingerprint"
)

// softwareDifferences names what differs between two machines. The fingerprint
// covers the rest: it is named only if nothing else is.
func softwareDifferences(a, b map[string]string) []unlike {
	parts := map[string]string{vllmVersion: "vllm", modelHash: "engine"}
	var list []unlike
	for _, name := range bothKeys(a, b) {
		if a[name] == b[name] || name == fingerprint {
			continue
		}
		part := parts[name]
		if part == "" {
			part = "host"
		}
		list = append(list, unlike{part, inBoth(name, a[name], b[name])})
	}
	if list == nil && a[fingerprint] != b[fingerprint] {
		list = append(list, unlike{"host", inBoth(fingerprint, a[fingerprint], b[fingerprint])})
	}
	return list
}
