package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// MinTPOTOutput is the shortest output, in tokens, that gives a meaningful time
// per output token.
const MinTPOTOutput = 16

func checkPhases(f *file, s *Scenario) {
	if len(s.Phases) == 0 {
		f.rule("phases", "need at least one phase")
	}
	names, primaries := map[string]int{}, 0
	for i, p := range s.Phases {
		path := fmt.Sprintf("phases[%d]", i)
		if first, twice := names[p.Name]; twice && p.Name != "" {
			f.rule(path+".name", "duplicate name: phases[%d] is %s already", first, p.Name)
		} else {
			names[p.Name] = i
		}
		checkSource(f, path+".source", p)
		checkArrival(f, path+".arrival", p)
		checkWarmup(f, path+".warmup.requests", p)
		checkPrimary(f, s, path, p)
		checkLength(f, s, path+".source", p.Source)
		checkGoodput(f, path+".goodput", p.Goodput)
		primaries += len(p.Primary)
	}
	if primaries == 0 && len(s.Phases) > 0 && s.Purpose != Correctness {
		f.rule("phases", "no phase has a primary metric: nothing would be decided")
	}
}

// Keys that only some kinds of an object have, with those kinds.
var (
	arrivalKinds = map[string][]ArrivalKind{
		"streams": {ArrivalClosed}, "ramp": {ArrivalClosed},
		"rate": {ArrivalPoisson, ArrivalConstant, ArrivalGamma}, "burstiness": {ArrivalGamma},
		"scale": {ArrivalTrace},
	}
	distKinds = map[string][]DistKind{
		"value": {DistFixed}, "min": {DistUniform, DistLognormal}, "max": {DistUniform, DistLognormal},
		"median": {DistLognormal}, "p95": {DistLognormal},
	}
)

// checkKind reports the keys below path that do not belong to the kind.
func checkKind[K ~string](f *file, path string, kind K, owners map[string][]K) {
	for _, key := range slices.Sorted(maps.Keys(owners)) {
		if f.has(path+"."+key) && !slices.Contains(owners[key], kind) {
			f.rule(path+"."+key, "belongs to %s, and this is %s", oneOf(owners[key]), kind)
		}
	}
}

func checkDist(f *file, path string, d Dist) {
	if d.Kind == "" {
		return
	}
	checkKind(f, path, d.Kind, distKinds)
	for _, need := range map[DistKind][]string{
		DistFixed: {"value"}, DistUniform: {"min", "max"}, DistLognormal: {"median", "p95"},
	}[d.Kind] {
		if f.has(path+".dist") && !f.has(path+"."+need) {
			f.rule(path+"."+need, "missing: %s needs it", d.Kind)
			return
		}
	}
	switch {
	case d.Kind == DistLognormal && d.P95 <= d.Median:
		f.rule(path+".p95", "must be above the median (%d), got %d", d.Median, d.P95)
	case d.Kind == DistLognormal && (d.Median < d.Min || d.Median > d.Max):
		f.rule(path+".median", "must lie between min and max (%d to %d), got %d", d.Min, d.Max, d.Median)
	case d.Kind == DistUniform && d.Max < d.Min:
		f.rule(path+".max", "must not be below min (%d), got %d", d.Min, d.Max)
	}
}

// least and most bound the tokens that a distribution can give.
func least(d Dist) int {
	if d.Kind == DistFixed {
		return d.Value
	}
	return d.Min
}

func most(d Dist) int {
	if d.Kind == DistFixed {
		return d.Value
	}
	return d.Max
}

func checkArrival(f *file, path string, p Phase) {
	a := p.Arrival
	if f.wrong(path + ".kind") {
		return
	}
	checkKind(f, path, a.Kind, arrivalKinds)
	switch {
	case a.Kind != ArrivalClosed:
		checkOpenLoop(f, path, p)
	case a.Streams > p.Source.Requests:
		f.rule(path+".streams", "more streams (%d) than requests (%d): they would never all be busy",
			a.Streams, p.Source.Requests)
	}
}

func checkWarmup(f *file, path string, p Phase) {
	if p.Arrival.Kind == ArrivalClosed && p.Warmup.Requests < p.Arrival.Streams {
		f.rule(path, "must at least fill the %d streams, got %d", p.Arrival.Streams, p.Warmup.Requests)
	}
}

func checkPrimary(f *file, s *Scenario, path string, p Phase) {
	if s.Purpose == Correctness && len(p.Primary) > 0 {
		f.rule(path+".primary", "a correctness scenario has no primary metrics: leave this out")
		return
	}
	for i, name := range p.Primary {
		m, _ := FindMetric(name) // reading has refused others
		at := fmt.Sprintf("%s.primary[%d]", path, i)
		if !f.has(at) {
			at = path + ".primary"
		}
		switch out := least(p.Source.OutputTokens); {
		case slices.Contains(p.Primary[:i], name):
			f.rule(at, "%s is listed twice", name)
		case m.Kind == Throughput && p.Arrival.Kind != ArrivalClosed:
			f.rule(at, "%s can be primary only under closed-loop load: "+
				"below saturation an open loop fixes it, and the gate would pass anything", name)
		case m.Of == TPOT && out > 0 && out < MinTPOTOutput:
			f.rule(at, "%s needs outputs of at least %d tokens, and they can be as short as %d", name, MinTPOTOutput, out)
		}
	}
}

// checkModelLength compares the longest request with the server's limit, where
// the scenario states one.
func checkModelLength(f *file, s *Scenario, path string, prompt, output int) {
	limit, err := strconv.Atoi(s.Engine.Args["max-model-len"])
	if err == nil && prompt+output > limit {
		f.rule(path, "a request can need %d + %d tokens, more than engine.args.max-model-len (%d)", prompt, output, limit)
	}
}
