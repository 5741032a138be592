package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/judge/accept"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/validity"
	"github.com/aituner/opprof/scenarios"
)

// Cause is one of the causes for which runs do not count, with the findings of
// these runs that are told by it.
type Cause struct {
	view.Cause
	found  []found // in running order
	said   string  // the shortest of what was said, without its numbers
	voided int     // runs of planned blocks, burn-in left out
}

// found is a finding of a run.
type found struct {
	run *accept.Run
	accept.Finding
}

// Causes tells once what speaks against the runs that do not count: findings of all
// attempts that differ only in their numbers, or that quote the same words of a
// server, are one cause. The first one voided the most runs of planned blocks.
func Causes(in *accept.Accepted) []Cause {
	var all []Cause
	for _, a := range in.Runs {
		if counts(in, a) {
			continue // a finding of its comparison
		}
		for _, f := range a.Findings {
			all = gather(all, found{a, f})
		}
	}
	for i := range all {
		all[i].tell(in)
	}
	slices.SortStableFunc(all, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.voided, x.voided), cmp.Compare(len(y.Runs), len(x.Runs)))
	})
	return all
}

// counts reports whether a run is part of a judged comparison.
func counts(in *accept.Accepted, a *accept.Run) bool {
	compared := func(c scenarios.Comparison) bool { return c.Baseline == a.Key.Arm || c.Candidate == a.Key.Arm }
	return in.Campaign.Complete && slices.ContainsFunc(in.Scenario.Compare, compared) &&
		slices.ContainsFunc(in.All(), func(k accept.Block) bool { return k.Runs[a.Key.Arm] == a })
}

// gather adds a finding to the cause that it has in common with others.
func gather(all []Cause, f found) []Cause {
	said := kin(f.Said)
	for i := range all {
		if c := &all[i]; c.has(f) || quotes(said, c.said) {
			c.found = append(c.found, f)
			if len(said) < len(c.said) {
				c.said = said
			}
			return all
		}
	}
	return append(all, Cause{found: []found{f}, said: said})
}

// quotes reports whether one of two errors ends with the other.
func quotes(x, y string) bool {
	return x != "" && y != "" && (strings.HasSuffix(x, y) || strings.HasSuffix(y, x))
}

func kin(message string) string { return results.Cause{Message: message}.Kin() }

// has reports whether a finding differs only in its numbers from one that is there.
func (c *Cause) has(f found) bool {
	return slices.ContainsFunc(c.found, func(x found) bool { return x.Name == f.Name && kin(x.Detail) == kin(f.Detail) })
}

// tell words the cause: as its findings do if they are of one kind, else by what all
// of them quote.
func (c *Cause) tell(in *accept.Accepted) {
	alike := !slices.ContainsFunc(c.found, func(f found) bool {
		return f.Name != c.found[0].Name || kin(f.Detail) != kin(c.found[0].Detail)
	})
	var texts []string
	for _, f := range c.found {
		c.Names = with(c.Names, f.Name)
		c.Arms = with(c.Arms, f.run.Key.Arm)
		if runs := with(c.Runs, f.run.Key.String()); len(runs) > len(c.Runs) {
			c.Runs = runs
			if _, void := in.Campaign.Voids[f.run.Key.BlockAttempt()]; void && !f.run.BurnIn {
				c.voided++
			}
		}
		switch {
		case alike:
			texts = with(texts, f.Detail)
		case kin(f.Said) == c.said:
			texts = with(texts, f.Said)
		}
	}
	c.Detail, c.Differ = texts[0], len(texts) > 1
}

// with is a list with one more member, unless it has it.
func with[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// Voided reports whether the cause voided a planned block.
func (c *Cause) Voided() bool { return c.voided > 0 }

// Is reports whether the cause is that of a finding of the rules.
func (c *Cause) Is(f *validity.Finding) bool {
	return slices.ContainsFunc(c.found, func(x found) bool { return x.run.Key == f.Key && x.Detail == f.Message })
}
