package preflight

import (
	"fmt"

	"github.com/aituner/opprof/scenarios"
)

func lock(j subject) outcome {
	what := "the host"
	if len(j.Visible) > 0 {
		what = fmt.Sprintf("GPU %s", firstOf(j.Visible, 8))
	}
	switch {
	case j.Holder.Err != nil:
		return unseen("the lock of "+what, j.Holder.Err)
	case j.Holder.Value != "":
		return fail("wait for that campaign or end it: two at once measure each other", "a campaign holds the lock of %s: %s", what, j.Holder.Value)
	}
	return ok("nobody holds the lock of %s", what)
}

// leftoverServers: an engine core that outlived its API server keeps the GPU
// memory and listens to nothing, so every such process counts, not only those
// with a port.
func leftoverServers(j subject) outcome {
	if j.s != nil && !j.s.Engine.Kind.Capabilities().Starts {
		return skip("attached endpoints may be such processes")
	}
	if j.Servers.Err != nil {
		return unseen("the list of processes", j.Servers.Err)
	}
	var found []string
	for _, p := range j.Servers.Value {
		found = append(found, fmt.Sprintf("process %d (%s)", p.PID, p.Title))
	}
	const remedy = "end it by its id: it takes CPU or GPU from the campaign, and vLLM sets SO_REUSEPORT, so that an old server can share a port and answer for the new one"
	switch finding := plural(len(found), "live server") + ": " + firstOf(found, 3); {
	case len(found) == 0:
		return ok("none: no process of vLLM or of a simulated engine")
	case j.s != nil && j.s.Engine.Kind.Capabilities().GPUs && len(j.Visible) == 0:
		return fail(remedy, "%s", finding)
	default: // it may be on another GPU: gpu-processes looks at ours
		return warn(remedy, "%s", finding)
	}
}

// connections is the largest number of client connections at the same time: an
// open loop can have as many as requests that wait for their time-out.
func connections(s *scenarios.Scenario) int {
	most := 1
	if s == nil {
		return most
	}
	for _, ph := range s.Phases {
		n := ph.Arrival.Streams
		if ph.Arrival.Rate > 0 {
			waiting := int(ph.Arrival.Rate * s.Client.RequestTimeout.Seconds())
			n = min(ph.Source.Requests+ph.Warmup.Requests, waiting)
		}
		most = max(most, n)
	}
	return most
}

func portRange(j subject) outcome {
	if j.Ports.Err != nil {
		return unseen("the range of local ports", j.Ports.Err)
	}
	n := j.Ports.Value.Last - j.Ports.Value.First + 1
	need := connections(j.s)
	finding := fmt.Sprintf("%d local ports (%d to %d) for up to %s", n, j.Ports.Value.First, j.Ports.Value.Last, plural(need, "connection"))
	const remedy = "widen net.ipv4.ip_local_port_range"
	switch {
	case n < need+1: // and the server's own
		return fail(remedy, "%s", finding)
	case n < 4*need+100: // closed connections keep their port for a minute
		return warn(remedy, "%s", finding)
	}
	return ok("%s", finding)
}
