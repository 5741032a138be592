package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
)

// A campaign may move to another host or other boards between two sessions. Each
// is a host group with burn-in blocks of its own, and no block spans two.

// comparable refuses a machine whose runs could not stand beside those that are
// there: other software, another driver or GPU model.
func (c *campaign) comparable() error {
	s := c.state
	if s.fingerprint == "" || s.fingerprint == c.env.Fingerprint && s.group == "" {
		return nil // the first session, or one by an opbench without host groups
	}
	if s.group == "" {
		return fmt.Errorf("%w: %s was begun on another host or software (fingerprint %s, here %s) by an opbench that did not say which: go on there",
			ErrRefused, c.dir, s.fingerprint, c.env.Fingerprint)
	}
	if changed := changes(s.software, c.env.Software()); changed != "" {
		return fmt.Errorf("%w: %s was begun on other software (%s): go on with the one that it began with, or start a new campaign",
			ErrRefused, c.dir, changed)
	}
	if s.group != c.env.Group() && c.plan.Scenario.Design.AdjustOrder {
		return fmt.Errorf("%w: %s was begun on another host, and a plan that adjusts for the order cannot be pooled over hosts: go on there",
			ErrRefused, c.dir)
	}
	return nil
}

// changes lists what differs between two sets of versions.
func changes(was, is map[string]string) string {
	all := maps.Clone(is)
	maps.Copy(all, was)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if was[name] != is[name] {
			list = append(list, fmt.Sprintf("%s was %s, is %s", name, orAbsent(was[name]), orAbsent(is[name])))
		}
	}
	return strings.Join(list, "; ")
}

func orAbsent(version string) string {
	if version == "" {
		return "absent"
	}
	return version
}

// session is the ledger entry of this one.
func (c *campaign) session() results.Entry {
	return results.Entry{Event: results.EventSession, Fingerprint: c.env.Fingerprint, Tool: c.opt.Tool,
		Software: c.env.Software(), HostGroup: c.env.Group(), PlanSHA256: c.plan.FileSHA256}
}

// voidElsewhere voids a block that was begun in another host group, to be
// repeated here. It goes by the runs, so a crash right after the session's entry
// changes nothing.
func (c *campaign) voidElsewhere() error {
	for _, b := range c.plan.Blocks {
		if b.BurnIn || c.state.decided(b) || !c.state.elsewhere(b) {
			continue
		}
		err := c.append(results.Entry{Event: results.EventBlockVoid, Block: b.Name(), Attempt: c.state.attempt(b),
			Detail: "begun on another host: blocks never span hosts"})
		if err != nil {
			return err
		}
	}
	return nil
}

// elsewhere reports whether a run of the block's current attempt belongs to
// another host group than the session.
func (s *state) elsewhere(b results.Block) bool {
	for _, arm := range b.Order {
		group, ran := s.where[results.Key{Block: b.Name(), Attempt: s.attempt(b), Arm: arm}]
		if ran && group != s.group {
			return true
		}
	}
	return false
}

// enterGroup notes the host group of a session. Sessions of an opbench without
// host groups belong to the first one that has a name: comparable saw to it.
func (s *state) enterGroup(e results.Entry) {
	if i := slices.Index(s.groups, ""); i >= 0 && e.HostGroup != "" {
		s.groups[i] = e.HostGroup
		for key, group := range s.where {
			if group == "" {
				s.where[key] = e.HostGroup
			}
		}
	}
	if !slices.Contains(s.groups, e.HostGroup) {
		s.groups = append(s.groups, e.HostGroup)
	}
	s.fingerprint, s.software, s.group = e.Fingerprint, e.Software, e.HostGroup
}

// blocks are those of the session: the burn-in blocks of its host group, then
// the plan's. The burn-in blocks of the second group are numbered on from those
// of the first. With nothing left to measure there is nothing to burn in for.
func (s *state) blocks() []results.Block {
	group := max(0, slices.Index(s.groups, s.group))
	burnIn := s.plan.BurnInBlocks()
	open := slices.ContainsFunc(s.plan.Blocks, func(b results.Block) bool { return !b.BurnIn && !s.decided(b) })
	var out []results.Block
	for _, b := range s.plan.Blocks {
		if !b.BurnIn {
			out = append(out, b)
			continue
		}
		if b.Number += group * burnIn; open || group == 0 {
			out = append(out, b)
		}
	}
	return out
}
