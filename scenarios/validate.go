package scenarios

import (
	"fmt"
	"slices"
	"strings"
)

// validate checks the rules that hold between values. Each is reported where
// the value that should change stands.
func validate(f *file, s *Scenario, known Known) {
	checkEngine(f, s)
	checkArms(f, s, known)
	if len(s.Arms) <= maxArms {
		checkCompare(f, s)
		checkDifferences(f, s)
		checkRecorders(f, s)
		checkControl(f, s)
	}
	checkPhases(f, s)
	checkBlocks(f, s)
	checkLooks(f, s)
	checkGate(f, s)
	checkIdentity(f, s)
}

// checkBlocks holds the number of blocks to what the interval needs.
func checkBlocks(f *file, s *Scenario) {
	const path = "design.blocks"
	switch n := s.Design.Blocks; {
	case s.Purpose == Correctness || f.wrong("purpose"):
	case len(s.Arms) > 2:
		checkRows(f, s, path)
	case n < 6:
		f.rule(path, "need at least 6 blocks, got %d: even the range of five pairs covers the median only 93.75 %% "+
			"of the time (1 - 2 x 0.5^5), less than the 95 %% that the gate states", n)
	case n%2 != 0:
		f.rule(path, "need an even number of blocks, got %d: with an odd one the two orders of the arms cannot balance", n)
	}
}

func checkLooks(f *file, s *Scenario) {
	const path = "design.looks"
	looks := s.Design.Looks
	accepted := slices.ContainsFunc(s.lookSets(), func(set []int) bool { return slices.Equal(set, looks) })
	switch {
	case f.wrong("design.blocks"):
	case len(looks) == 0:
		f.rule(path, "need one look at least: leave the key out to look after the last block")
	case looks[len(looks)-1] != s.Design.Blocks:
		f.rule(path, "the last look must come after the last block: design.blocks is %d", s.Design.Blocks)
	case len(looks) == 1 || accepted && s.Purpose != Correctness:
	case s.Purpose == Correctness:
		f.rule(path, "a correctness scenario has no effects to look at: leave the key out")
	case knownLooks(looks):
		f.rule(path, "the orders of %d arms do not balance at each of these looks; accepted are one look, or %s",
			len(s.Arms), looksText(s.lookSets()))
	default:
		f.rule(path, "the error rate of these looks is not known; accepted are one look, or %s", looksText(s.lookSets()))
	}
}

func checkGate(f *file, s *Scenario) {
	g := s.Gate
	if g.Margin < 0.001 || g.Margin > 0.5 {
		f.rule("gate.margin", "want a margin from 0.1%% to 50%%, got %s%%", percentText(g.Margin))
	}
	if g.Confidence < 0.5 || g.Confidence >= 1 {
		f.rule("gate.confidence", "want a confidence from 50%% to below 100%%, got %s%%", percentText(g.Confidence))
	} else if g.Confidence != 0.95 {
		f.rule("gate.confidence", "not supported yet: a confidence other than 95%%")
	}
	if g.RequireAA && s.Purpose != Overhead {
		f.rule("gate.require_aa", "only an overhead scenario can require an A/A, this one is %s", s.Purpose)
	}
	checkAllFive(f, s)
}

func percentText(fraction float64) string { return fmt.Sprintf("%.4g", 100*fraction) }

func checkAllFive(f *file, s *Scenario) {
	const path = "gate.require_all_five"
	open := s.NotGated()
	switch {
	case !s.Gate.RequireAllFive:
	case s.Purpose == Correctness:
		f.rule(path, "a correctness scenario has no primary metrics: leave this out")
	case len(open) > 0:
		names := each(open, func(m Metric) string { return m.Name })
		f.rule(path, "every one of the five metrics must be primary in some phase; primary nowhere: %s",
			strings.Join(names, ", "))
	}
}

func checkIdentity(f *file, s *Scenario) {
	id := s.Identity
	if id.Prompts == 0 && (s.Purpose != AA || !s.Engine.attached()) {
		f.rule("identity.prompts", "the identity pass is part of every run: "+
			"only an A/A of attached endpoints may leave it out")
	}
	if id.Prompts == 1 {
		f.rule("identity.prompts", "need at least 2 prompts: outputs that are equal across prompts prove nothing")
	}
	if id.MinDistinct > id.OutputTokens {
		f.rule("identity.min_distinct", "cannot be more than identity.output_tokens (%d)", id.OutputTokens)
	}
	checkModelLength(f, s, "identity", id.PromptTokens, id.OutputTokens)
}
