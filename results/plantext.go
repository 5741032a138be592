package results

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

// Text says in some lines what a campaign of the plan would do, and in which order.
func (p *Plan) Text() string {
	var b strings.Builder
	s := &p.Scenario
	fmt.Fprintf(&b, "plan %s\n%s: %s\n", p.Hash, s.Name, s.About)
	if p.Replicate > 0 {
		fmt.Fprintf(&b, "replicate %d: the same requests in another order of runs\n", p.Replicate)
	}
	b.WriteByte('\n')
	for _, a := range s.Arms {
		fmt.Fprintf(&b, "arm %-8s patch %s (series %.12s)", a.Name, a.Patch, orNone(p.Patches[a.Patch]))
		if a.Records() {
			b.WriteString(", records")
		}
		b.WriteByte('\n')
	}
	for _, ph := range s.Phases {
		fmt.Fprintf(&b, "phase %-8s %s, %d timed requests after %d warm-up, primary: %s\n",
			ph.Name, arrivalText(ph.Arrival), ph.Source.Requests, ph.Warmup.Requests, orNone(strings.Join(ph.Primary, " ")))
	}
	fmt.Fprintf(&b, "margin %g %%\nworkload %.12s\n\n", 100*s.Gate.Margin, p.WorkloadSHA256)
	runs := 0
	for _, bl := range p.Blocks {
		runs += len(bl.Order)
		fmt.Fprintf(&b, "block %-9s %s\n", bl.Name(), strings.Join(bl.Order, " then "))
	}
	fmt.Fprintf(&b, "\n%d runs, each on a fresh server\n", runs)
	if looks := s.Design.Looks; len(looks) > 1 {
		fmt.Fprintf(&b, "judged after %s blocks; a PASS or a FAIL ends the campaign there\n",
			strings.Trim(fmt.Sprint(looks), "[]"))
	}
	return b.String()
}

func arrivalText(a scenarios.Arrival) string {
	switch a.Kind {
	case scenarios.ArrivalClosed:
		if a.Streams == 1 {
			return "closed loop with 1 stream"
		}
		return fmt.Sprintf("closed loop with %d streams", a.Streams)
	case scenarios.ArrivalTrace:
		return "the arrivals of its trace"
	}
	return fmt.Sprintf("%s arrivals at %g/s", a.Kind, a.Rate)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
