package accept

import (
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// leastPooled is the number of blocks from which a host's noise is known.
const leastPooled = 2

// separateHosts takes the blocks of hosts with a single one out of the analysis:
// nothing is known about the noise there, so they are shown and not pooled.
func (in *Accepted) separateHosts() {
	count := map[string]int{}
	for i := range in.Blocks {
		hosts := in.Blocks[i].hostsOf()
		if len(hosts) > 1 {
			in.invalid(view.ReasonSpansHosts, "block %s ran on %s hosts", in.Blocks[i].Plan.Name(), map[int]string{2: "two", 3: "three", 4: "four"}[len(hosts)])
			return
		}
		in.Blocks[i].Host = strings.Join(hosts, "")
		count[in.Blocks[i].Host]++
		in.numberHost(in.Blocks[i].Host)
	}
	in.checkSoftware()
	if len(in.HostNumber) < 2 || !HasEffects(in.Scenario) {
		return
	}
	lone := func(k Block) bool { return k.Host != "" && count[k.Host] < leastPooled }
	for _, k := range in.Blocks {
		if lone(k) {
			in.Alone = append(in.Alone, k)
		}
	}
	in.Blocks = slices.DeleteFunc(slices.Clone(in.Blocks), lone)
	if len(in.Alone) > 0 && len(in.Blocks) < stat.MinBlocks {
		in.invalid(view.ReasonHostTooSmall, "%s alone on a host and not pooled, %s left, at least %d are needed",
			view.Plural(len(in.Alone), "block is", "blocks are"), view.Plural(len(in.Blocks), "block is", "blocks are"), stat.MinBlocks)
	}
}

func (in *Accepted) numberHost(host string) {
	if _, known := in.HostNumber[host]; !known && host != "" {
		in.HostNumber[host] = len(in.HostNumber) + 1
	}
}

// checkSoftware refuses runs on different software, drivers or GPU models: that
// is another question, not another host.
func (in *Accepted) checkSoftware() {
	var first *Run
	var want map[string]string
	for i := range in.Blocks {
		for _, arm := range in.Blocks[i].Plan.Order {
			a := in.Blocks[i].Runs[arm]
			if a.Environment == nil {
				continue
			}
			got := a.Environment.Software()
			if first == nil {
				first, want = a, got
			}
			names := maps.Clone(want)
			maps.Copy(names, got)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if want[name] != got[name] {
					in.invalid(view.ReasonSoftware, "%s is %q in %s and %q in %s", name, want[name], first.Key, got[name], a.Key)
					return
				}
			}
		}
	}
}
