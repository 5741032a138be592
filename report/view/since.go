package view

import "github.com/aituner/opprof/results/validity"

// newInRules3 are the reasons that plans of rules 1 and 2 could not end for when they
// were made.
var newInRules3 = map[Reason]bool{
	ReasonDamaged:                     true,
	ReasonSelection:                   true,
	ReasonUnadjusted:                  true,
	ReasonBatch:                       true,
	"identity not reproduced":         true,
	Reason(validity.RuleWork.Words()): true,
}

// Since reports whether a reason is one of the rules of that version.
func (r Reason) Since(rules string) bool { return rules >= "3" || !newInRules3[r] }
