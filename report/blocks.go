package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
	"github.com/aituner/opprof/scenarios"
)

// attempt is one sealed run with what was computed from it again.
type attempt struct {
	*results.Attempt
	values   map[string]map[string]float64 // by phase and metric
	findings []Reason                      // make the run INVALID
	warnings []string
}

// block is one accepted attempt of a planned block.
type block struct {
	plan results.Block
	runs map[string]*attempt // by arm
	host string              // host group; "" if every run is damaged
}

// baselineFirst reports which arm of a pair ran first, by the plan.
func (k *block) baselineFirst(c *Comparison) bool {
	return slices.Index(k.plan.Order, c.Baseline) < slices.Index(k.plan.Order, c.Candidate)
}

func (b *builder) readAttempts() {
	limits := map[string]scenarios.Goodput{}
	for _, p := range b.s.Phases {
		limits[p.Name] = p.Goodput
	}
	for i := range b.c.Attempts {
		a := &attempt{Attempt: &b.c.Attempts[i]}
		if a.Damage == "" {
			a.values = phaseValues(a.Attempt, limits)
			a.findings, a.warnings = b.examine(a.Attempt)
			a.findings = append(a.findings, differences(a)...)
			b.view.Simulated = b.view.Simulated || a.Run.Server.Simulated
		} else {
			a.findings = []Reason{{Name: "damaged run", Detail: a.Damage}}
		}
		b.attempts = append(b.attempts, a)
	}
}

// phaseValues computes the numbers of a run from its requests.
func phaseValues(a *results.Attempt, limits map[string]scenarios.Goodput) map[string]map[string]float64 {
	byPhase := requestsByPhase(a)
	values := map[string]map[string]float64{}
	for _, p := range a.Run.Phases {
		values[p.Name], _ = metrics.Compute(metrics.Phase{Requests: byPhase[p.Name], Goodput: limits[p.Name]})
	}
	return values
}

func requestsByPhase(a *results.Attempt) map[string][]results.Request {
	byPhase := map[string][]results.Request{}
	for _, r := range a.Requests {
		byPhase[r.Phase] = append(byPhase[r.Phase], r)
	}
	return byPhase
}

// sameNumber allows for the last digits of a decimal representation only.
const sameNumber = 1e-9

// recomputation is the reason where a stored number is not what its data give.
const recomputation = "recomputation differs"

// mostDifferences is how many numbers of a phase are named.
const mostDifferences = 2

// differences names, for every phase, what run.json says and its requests do not
// give.
func differences(a *attempt) []Reason {
	var found []Reason
	for _, p := range a.Run.Phases {
		var wrong []string
		for _, m := range scenarios.Metrics() {
			want, has := a.values[p.Name][m.Name]
			got, says := p.Metrics[m.Name]
			if has != says || has && math.Abs(got-want) > sameNumber*math.Abs(want) {
				wrong = append(wrong, fmt.Sprintf("%s is %s in run.json, the requests give %s", m.Name, orAbsent(got, says), orAbsent(want, has)))
			}
		}
		if more := len(wrong) - mostDifferences; more > 0 {
			wrong = append(wrong[:mostDifferences], plural(more, "more number differs", "more numbers differ"))
		}
		if wrong != nil {
			found = append(found, Reason{Name: recomputation, Detail: p.Name + ": " + strings.Join(wrong, "; ")})
		}
	}
	return found
}

func orAbsent(x float64, present bool) string {
	if !present {
		return "absent"
	}
	return fmt.Sprintf("%.9g", x)
}

// acceptBlocks collects the blocks that the harness accepted. It trusts that
// choice only where exactly one attempt with every arm is there.
func (b *builder) acceptBlocks() {
	for _, planned := range b.c.Plan.Blocks {
		if planned.BurnIn {
			continue
		}
		accepted := b.acceptedRuns(planned.Name())
		if len(accepted) == 0 {
			continue
		}
		k := block{plan: planned, runs: map[string]*attempt{}}
		for _, a := range accepted {
			if k.runs[a.Key.Arm] != nil {
				b.invalid("two accepted attempts", "block %s: arm %s was accepted twice, choosing one would be selection", planned.Name(), a.Key.Arm)
			}
			k.runs[a.Key.Arm] = a
		}
		if arm := k.missing(); arm != "" {
			b.invalid("incomplete block", "block %s was accepted without a run of arm %s", planned.Name(), arm)
			continue
		}
		b.checkOrder(&k)
		b.blocks = append(b.blocks, k)
	}
}

func (b *builder) acceptedRuns(name string) []*attempt {
	var accepted []*attempt
	for _, a := range b.attempts {
		if a.Valid && a.Key.Block == name {
			accepted = append(accepted, a)
		}
	}
	return accepted
}

func (k *block) missing() string {
	for _, arm := range k.plan.Order {
		if k.runs[arm] == nil {
			return arm
		}
	}
	return ""
}

// checkOrder compares the order in which the servers started with the plan's.
func (b *builder) checkOrder(k *block) {
	for i, arm := range k.plan.Order {
		if run := k.runs[arm].Run; run != nil && run.Position != i {
			b.invalid("order differs from plan", "block %s: arm %s ran in place %d, planned in place %d", k.plan.Name(), arm, run.Position+1, i+1)
		}
	}
}

func (b *builder) countBlocks() {
	n := &b.view.Blocks
	n.Planned, n.Valid, n.NotPooled = b.planned, len(b.blocks)+len(b.alone), len(b.alone)
	n.BurnIn = len(b.c.Plan.Blocks) - b.planned
	n.Voided = len(b.c.Voids)
	for _, k := range slices.Concat(b.blocks, b.alone) {
		n.ValidRuns += len(k.runs)
	}
	if !b.c.Complete {
		return
	}
	if n.Valid == n.Planned {
		n.Analysed = n.Valid
		return
	}
	if n.Analysed = b.look(); !b.gated() || n.Analysed == 0 {
		n.Analysed = 0
		why := fmt.Sprintf("%d of %d planned blocks are valid", n.Valid, n.Planned)
		if b.c.Closed != "" {
			why += ", and the campaign was closed: " + b.c.Closed
		}
		b.invalid("valid blocks missing", "%s", why)
	}
}
