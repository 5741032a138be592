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
)

// RuleWork came with analysis rules 3.
const RuleWork Rule = "work-differs"

// RuleReliability decides FAIL, not INVALID; see Reliability.
const RuleReliability Rule = "reliability"

// Words is the rule's name as people read it: prefix hits.
func (r Rule) Words() string { return strings.ReplaceAll(string(r), "-", " ") }

// Rules returns every rule of INVALID, in the order of README.md. A rule that
// is not among the findings has found nothing; that it could be applied is not
// said.
func Rules() []Rule {
	return []Rule{
		ruleUnplannedArm, ruleRunFailed, ruleRequestFailed, ruleRequestShort, rulePhaseMissing,
		ruleRequestsUnsent, RuleWork, rulePrimaryMissing, rulePrimaryUndefined, ruleProbeLag, ruleSendLate,
		ruleConcurrency, ruleSlicesMissing, ruleStampsMixed, ruleIdleArm, ruleServerExit, ruleForeignServer,
		ruleUnprovenServer, ruleWallClockStep, ruleWrongModel, ruleFingerprintChanged, ruleJITInTimedPhase,
		ruleProfilerActive, ruleForeignGPUProcess, ruleRecorderTraceback, ruleEngineError,
		ruleCachedTokensUnknown, ruleRecorderMissing, ruleRecorderRevision, ruleRecorderUnexpected, ruleTornTail,
		ruleNoFooter, ruleStepCheck, ruleDroppedRecords, ruleIdentityMissing, ruleArmsDiffer, ruleCompileCache,
		ruleKVBlocks, rulePrefixHits, ruleSlicesDiffer, ruleStampsDiffer, rulePreemptions, ruleIdentity,
	}
}
