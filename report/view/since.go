package view

// newInRules3 are the reasons that rules 3 brought.
var newInRules3 = map[Reason]bool{"identity not reproduced": true, ReasonBatch: true}

// Since reports whether a reason is one of the rules of that version.
func (r Reason) Since(rules string) bool { return rules >= "3" || !newInRules3[r] }
