package revisions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/evidence"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// ErrUnlike is of two campaigns that measured different things.
var ErrUnlike = errors.New("not comparable")

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
			view.ShortHash(a.Plan.WorkloadSHA256), view.ShortHash(b.Plan.WorkloadSHA256))})
	}
	for _, text := range evidence.EngineDifferences(&a.Plan.Scenario, &b.Plan.Scenario) {
		list = append(list, unlike{"engine", text})
	}
	return append(list, softwareDifferences(software(a), software(b))...)
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
		out[name] = strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), " and ")
	}
	return out
}

func softwareOf(a *results.Attempt) map[string]string {
	e, s := a.Environment, &a.Run.Server
	return map[string]string{
		hostName: e.Host, "CPU": e.CPUModel + ", " + view.Plural(e.Cores, "core", "cores"), "kernel": e.Kernel,
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
	for _, name := range evidence.BothKeys(a, b) {
		if a[name] == b[name] || name == fingerprint {
			continue
		}
		part := parts[name]
		if part == "" {
			part = "host"
		}
		list = append(list, unlike{part, evidence.InBoth(name, a[name], b[name])})
	}
	if list == nil && a[fingerprint] != b[fingerprint] {
		list = append(list, unlike{"host", evidence.InBoth(fingerprint, a[fingerprint], b[fingerprint])})
	}
	return list
}
