package validity

// Rules returns the name of every rule, in the order of README.md. A rule that
// is not among the findings has found nothing; that it could be applied is not
// said.
func Rules() []string {
	return []string{
		"unplanned-arm", "run-failed", "request-failed", "request-short", "phase-missing", "requests-unsent",
		"primary-missing", "primary-undefined", "probe-lag", "send-late", "concurrency", "slices-missing", "stamps-mixed",
		"idle-arm", "server-exit", "foreign-server", "unproven-server", "wall-clock-step", "wrong-model",
		"fingerprint-changed", "jit-in-timed-phase", "profiler-active", "foreign-gpu-process", "recorder-traceback",
		"engine-error", "cached-tokens-unknown", "recorder-missing", "recorder-revision", "recorder-unexpected",
		"torn-tail", "no-footer", "step-check", "dropped-records", "identity-missing",
		"arms-differ", "compile-cache", "kv-blocks", "prefix-hits", "slices-differ", "stamps-differ", "preemptions",
		"identity",
	}
}
