package evidence

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// neighbour is another campaign in the same folder.
type neighbour struct {
	name, dir   string
	began       time.Time // of its ledger's first entry
	fingerprint string    // of the host and software that it began on
	plan        *results.Plan
	said        Said // in its verdict.json
}

// Nearby is what lies beside a campaign.
type Nearby struct {
	AA       string // the evidence in words, or "none"
	Evidence *AA    // the latest A/A that speaks for the set-up, or nil
	Earlier  []view.Earlier
	// Spreads are those that earlier campaigns on the same host and software saved.
	Spreads map[SpreadOf][]float64
}

// FindNearby lists the earlier campaigns of the same comparison, and
// considers the latest A/A of the same workload and server. What is earlier is
// decided by the ledgers: a published campaign may have any name. judge judges
// a campaign from its files.
func FindNearby(c *results.Campaign, judge func(dir string) Said) (Nearby, error) {
	near := Nearby{AA: "none", Spreads: map[SpreadOf][]float64{}}
	if len(c.Entries) == 0 {
		return near, nil
	}
	neighbours, err := earlierThan(c.Dir, c.Entries[0].Time)
	if err != nil {
		return near, err
	}
	for _, n := range neighbours {
		if sameComparison(c.Plan, n.plan) {
			near.Earlier = append(near.Earlier, view.Earlier{Campaign: n.name, Verdict: n.said.String(), PlanHash: n.plan.Hash})
		}
		if n.fingerprint != "" && n.fingerprint == c.Entries[0].Fingerprint {
			addSpreads(near.Spreads, n.dir)
		}
		if n.speaksFor(c) {
			near.Evidence = n.evidenceFor(c, judge)
		}
	}
	if near.Evidence != nil {
		near.AA = near.Evidence.String()
	}
	return near, nil
}

// sameComparison reports whether two plans ask the same question: a scenario of
// the same name about the same patches, or one of any name with the same workload
// in which a comparison has the same two arms. Where one of two earlier campaigns
// failed, a third that passes must not stand alone.
func sameComparison(a, b *results.Plan) bool {
	if a.Scenario.Name == b.Scenario.Name && maps.Equal(a.Patches, b.Patches) {
		return true
	}
	if a.WorkloadSHA256 != b.WorkloadSHA256 || a.Scenario.Engine.Kind != b.Scenario.Engine.Kind {
		return false
	}
	for _, x := range a.Scenario.Compare {
		for _, y := range b.Scenario.Compare {
			if sameArm(a, x.Baseline, b, y.Baseline) && sameArm(a, x.Candidate, b, y.Candidate) {
				return true
			}
		}
	}
	return false
}

// sameArm reports whether two arms run the same patch with the same options and
// variables, whatever their names.
func sameArm(a *results.Plan, nameA string, b *results.Plan, nameB string) bool {
	x, foundX := a.Scenario.Arm(nameA)
	y, foundY := b.Scenario.Arm(nameB)
	return foundX && foundY && x.Patch == y.Patch && a.Patches[x.Patch] == b.Patches[y.Patch] && x.URL == y.URL &&
		maps.Equal(a.Scenario.ArmArgs(x), b.Scenario.ArmArgs(y)) && maps.Equal(a.Scenario.ArmEnv(x), b.Scenario.ArmEnv(y))
}

// earlierThan returns the campaigns beside dir that began before a time, the
// earliest first.
func earlierThan(dir string, began time.Time) ([]neighbour, error) {
	entries, err := os.ReadDir(filepath.Join(dir, ".."))
	if err != nil {
		return nil, fmt.Errorf("look for earlier campaigns: %w", err)
	}
	var list []neighbour
	for _, e := range entries {
		if n, ok := readNeighbour(filepath.Join(dir, "..", e.Name())); ok && n.began.Before(began) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b neighbour) int { return a.began.Compare(b.began) })
	return list, nil
}

// readNeighbour reads what is needed of another campaign; ok is false for
// what is none, and for one that has not begun.
func readNeighbour(dir string) (n neighbour, ok bool) {
	plan, err := results.ReadPlan(dir)
	if err != nil {
		return n, false
	}
	entries, err := results.ReadLedger(results.LedgerPath(dir))
	if err != nil || len(entries) == 0 {
		return n, false
	}
	return neighbour{filepath.Base(dir), dir, entries[0].Time, entries[0].Fingerprint, plan, Saved(filepath.Join(dir, results.VerdictFile))}, true
}
