package validity

import "strings"

// Rule names one of the rules, in kebab-case; README.md says when it fires.
type Rule string

// The rules of one run, in the order of README.md.
const (
	ruleUnplannedArm        Rule = "unplanned-arm"
	ruleRunFailed           Rule = "run-failed"
	ruleRequestFailed       Rule = "request-failed"
	ruleRequestShort        Rule = "request-short"
	rulePhaseMissing        Rule = "phase-missing"
	ruleRequestsUnsent      Rule = "requests-unsent"
	rulePrimaryMissing      Rule = "primary-missing"
	rulePrimaryUndefined    Rule = "primary-undefined"
	ruleProbeLag            Rule = "probe-lag"
	ruleSendLate            Rule = "send-late"
	ruleConcurrency         Rule = "concurrency"
	ruleSlicesMissing       Rule = "slices-missing"
	ruleStampsMixed         Rule = "stamps-mixed"
	ruleIdleArm             Rule = "idle-arm"
	ruleServerExit          Rule = "server-exit"
	ruleForeignServer       Rule = "foreign-server"
	ruleUnprovenServer      Rule = "unproven-server"
	ruleWallClockStep       Rule = "wall-clock-step"
	ruleWrongModel          Rule = "wrong-model"
	ruleFingerprintChanged  Rule = "fingerprint-changed"
	ruleJITInTimedPhase     Rule = "jit-in-timed-phase"
	ruleProfilerActive      Rule = "profiler-active"
	ruleForeignGPUProcess   Rule = "foreign-gpu-process"
	ruleRecorderTraceback   Rule = "recorder-traceback"
	ruleEngineError         Rule = "engine-error"
	ruleCachedTokensUnknown Rule = "cached-tokens-unknown"
	ruleRecorderMissing     Rule = "recorder-missing"
	ruleRecorderRevision    Rule = "recorder-revision"
	ruleRecorderUnexpected  Rule = "recorder-unexpected"
	ruleTornTail            Rule = "torn-tail"
	ruleNoFooter            Rule = "no-footer"
	ruleStepCheck           Rule = "step-check"
	ruleDroppedRecords      Rule = "dropped-records"
	ruleIdentityMissing     Rule = "identity-missing"
)

// The rules of two arms.
const (
	ruleArmsDiffer   Rule = "arms-differ"
	ruleCompileCache Rule = "compile-cache"
	ruleKVBlocks     Rule = "kv-blocks"
	rulePrefixHits   Rule = "prefix-hits"
	ruleSlicesDiffer Rule = "slices-differ"
	ruleStampsDiffer Rule = "stamps-differ"
	rulePreemptions  Rule = "preemptions"
	ruleIdentity     Rule = "identity"
	// ruleNotReproduced is of a timed output that differs in one run only.
	ruleNotReproduced Rule = "identity-not-reproduced"
)

// RuleWork came with analysis rules 3.
const RuleWork Rule = "work-differs"

// RuleReliability decides FAIL, not INVALID; see Reliability.
const RuleReliability Rule = "reliability"

// Words is the rule's name as people read it: prefix hits.
func (r Rule) Words() string { return strings.ReplaceAll(string(r), "-", " ") }

// table has every rule of INVALID in the order of README.md, and whether an attempt that
// is void by it alone is put back: its numbers are those of its servers, measured under
// a worse load or client than is allowed, and whoever may repeat it without them may
// choose. The others are not: where a rule shows a fault in the records, or another
// server's work in them, the numbers say nothing of the arms. Rules of two arms void no
// attempt.
var table = []struct {
	rule    Rule
	putBack bool
}{
	{ruleUnplannedArm, false},
	{ruleRunFailed, false}, // counts for FAIL(reliability) where it is the arm's fault
	{ruleRequestFailed, false},
	{ruleRequestShort, false},
	{rulePhaseMissing, false},
	{ruleRequestsUnsent, false},
	{RuleWork, false}, // other work takes another time
	{rulePrimaryMissing, false},
	{rulePrimaryUndefined, false}, // the number is that of a part of the requests
	{ruleProbeLag, true},
	{ruleSendLate, true},
	{ruleConcurrency, true},
	{ruleSlicesMissing, false},
	{ruleStampsMixed, false}, // times of two kinds
	{ruleIdleArm, true},
	{ruleServerExit, false}, // the arm's fault, and its records may be cut
	{ruleForeignServer, false},
	{ruleUnprovenServer, false},
	{ruleWallClockStep, false},
	{ruleWrongModel, false},
	{ruleFingerprintChanged, false},
	{ruleJITInTimedPhase, false},
	{ruleProfilerActive, false},    // such a server may stay slower
	{ruleForeignGPUProcess, false}, // its work is in the times
	{ruleRecorderTraceback, false},
	{ruleEngineError, false},
	{ruleCachedTokensUnknown, false}, // the work is not known
	{ruleRecorderMissing, false},     // the arm is not what it is called
	{ruleRecorderRevision, false},
	{ruleRecorderUnexpected, false},
	{ruleTornTail, false},
	{ruleNoFooter, false},
	{ruleStepCheck, false},
	{ruleDroppedRecords, true}, // the requests are whole, and a slow disk is the recorder's cost
	{ruleIdentityMissing, false},
	{ruleArmsDiffer, false},
	{ruleCompileCache, false},
	{ruleKVBlocks, false},
	{rulePrefixHits, false},
	{ruleSlicesDiffer, false},
	{ruleStampsDiffer, false},
	{rulePreemptions, false},
	{ruleIdentity, false},
	{ruleNotReproduced, false},
}

// Rules returns every rule of INVALID, in the order of README.md. A rule that
// is not among the findings has found nothing; that it could be applied is not
// said.
func Rules() []Rule {
	var all []Rule
	for _, row := range table {
		all = append(all, row.rule)
	}
	return all
}

// PutBack reports whether a run counts in the worst attempt of its block although the
// rule voided it.
func (r Rule) PutBack() bool {
	for _, row := range table {
		if row.rule == r {
			return row.putBack
		}
	}
	return false
}
