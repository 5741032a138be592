package sim

// The names of the faults.
const (
	// in the streams
	faultErrorAfterTokens = "error-after-tokens"
	faultErrorFirst       = "error-first"
	faultHTTP500          = "http-500"
	faultHTTP503          = "http-503"
	faultShortOutput      = "short-output"
	faultOneToken         = "one-token"
	faultCutBody          = "cut-body"
	faultNoFinishReason   = "no-finish-reason"
	faultNoUsage          = "no-usage"
	faultNoDone           = "no-done"
	faultNoTokenIDs       = "no-token-ids"
	faultBadJSON          = "bad-json"
	faultPromptCount      = "wrong-prompt-count"
	faultCachedTokens     = "cached-tokens"
	faultFingerprint      = "new-fingerprint"
	faultWrongModel       = "wrong-model"
	faultStalledStream    = "stalled-stream"
	faultHalfOpen         = "half-open"
	faultFlipToken        = "flip-token"
	faultConstantOutput   = "constant-output"
	faultNondeterministic = "nondeterministic-output"
	// in the form of the streams, within the standard
	faultSplitEvents  = "split-events"
	faultNoSpace      = "no-space"
	faultCRLF         = "crlf"
	faultComments     = "comments"
	faultMultiLine    = "multi-line"
	faultLongLine     = "long-line"
	faultEmptyChoices = "empty-choices"
	faultBundle       = "bundle"
	faultIdleClose    = "idle-close"
	// in the engine
	faultKillAfter     = "kill-after"
	faultIgnoreSIGINT  = "ignore-sigint"
	faultSlow          = "slow"
	faultStall         = "stall"
	faultStallEvery    = "stall-every"
	faultPreempt       = "preempt"
	faultFewerKVBlocks = "fewer-kv-blocks"
	faultSilentMetrics = "silent-metrics"
	// in its log
	faultLateJIT      = "late-jit"
	faultTraceback    = "traceback"
	faultEngineError  = "engine-error"
	faultProfiler     = "profiler"
	faultCompileCache = "compile-cache"
	// in the step records
	faultNoRecords      = "no-records"
	faultUnasked        = "unasked-records"
	faultDropRecords    = "drop-records"
	faultDiskFull       = "disk-full"
	faultIndexGap       = "index-gap"
	faultWrongHistogram = "wrong-histogram"
	faultTokenSum       = "token-sum-off-by-one"
	faultDamagedRecord  = "damaged-record"
	faultGluedRecords   = "glued-records"
	faultSecondFile     = "second-file"
	faultTornTail       = "torn-tail"
	faultNoFooter       = "no-footer"
)

// What may follow a fault's name.
const (
	formNone     = ""
	formCount    = "=N"
	formEvery    = "[=N]"
	formPlace    = "=POS"
	formPercent  = "=PERCENT"
	formDuration = "=DURATION"
	formStall    = "=DURATION@N"
	formStalls   = "=DURATION@EVERY"
)

// faultKind documents one fault.
type faultKind struct {
	name  string
	value string // what follows the name: empty, =N, [=N], =POS, =PERCENT, =DURATION, =DURATION@N, =DURATION@EVERY
	about string
	usual int64 // value of [=N] where none is given
}

var faultKinds = []faultKind{
	{faultErrorAfterTokens, formCount, "every 10th request ends with an error object after N output tokens; [DONE] follows", 0},
	{faultErrorFirst, formEvery, "every Nth request (10) is answered with status 200 and an error object instead of tokens; [DONE] follows", 10},
	{faultHTTP500, formEvery, "every Nth request (10) is answered with status 500", 10},
	{faultHTTP503, formEvery, "every Nth request (10) is answered with status 503", 10},
	{faultShortOutput, formEvery, "every Nth request (10) ends one token early, its usage is honest", 10},
	{faultOneToken, formEvery, "every Nth request (10) ends after one token, its usage is honest", 10},
	{faultCutBody, formEvery, "the connection of every Nth request (10) is cut after half of the tokens", 10},
	{faultNoFinishReason, formEvery, "every Nth request (10) ends without a finish_reason", 10},
	{faultNoUsage, formEvery, "every Nth request (10) ends without usage", 10},
	{faultNoDone, formEvery, "every Nth request (10) ends without [DONE]", 10},
	{faultNoTokenIDs, formEvery, "every Nth request (10) gets no token ids, its usage is right", 10},
	{faultBadJSON, formEvery, "the first event of every Nth request (10) is no JSON", 10},
	{faultPromptCount, formEvery, "the usage of every Nth request (10) counts a prompt token too many", 10},
	{faultCachedTokens, formCount, "usage says that N tokens of every prompt were cached", 0},
	{faultFingerprint, formEvery, "every Nth request (10) carries another system_fingerprint", 10},
	{faultWrongModel, formNone, "completions carry the name of another model; /v1/models is right", 0},
	{faultStalledStream, formEvery, "every Nth request (10) gets nothing more after half of the tokens; the connection stays open", 10},
	{faultHalfOpen, formEvery, "every Nth request (10) is never answered; the connection stays open", 10},
	{faultFlipToken, formPlace, "the output token at position POS (from 0) is another one for about half of all prompts, always the same half", 0},
	{faultConstantOutput, formNone, "every output token is the same", 0},
	{faultNondeterministic, formNone, "output tokens differ from request to request, also for equal prompts", 0},
	{faultSplitEvents, formNone, "every event goes out in two writes; the cut moves through all its bytes from event to event", 0},
	{faultNoSpace, formNone, "no space follows the colon of data lines", 0},
	{faultCRLF, formNone, "lines end in CR LF", 0},
	{faultComments, formNone, "a comment of its own and the fields event, id and retry come with every event", 0},
	{faultMultiLine, formNone, "the JSON of every event is spread over two data lines", 0},
	{faultLongLine, formCount, "the first event of every 10th request has an unknown field of N bytes", 0},
	{faultEmptyChoices, formNone, "a chunk with an empty list of choices comes first and last", 0},
	{faultBundle, formCount, "an event carries N tokens", 0},
	{faultIdleClose, formDuration, "connections that were idle for DURATION are closed", 0},
	{faultKillAfter, formCount, "the process exits with code 137 after N output tokens", 0},
	{faultIgnoreSIGINT, formNone, "the process does not react to SIGINT", 0},
	{faultSlow, formPercent, "steps last PERCENT longer", 0},
	{faultStall, formStall, "nothing happens for DURATION before step N, whatever is running", 0},
	{faultStallEvery, formStalls, "nothing happens for DURATION before every EVERY-th step", 0},
	{faultPreempt, formEvery, "every Nth step (50) evicts the request that was admitted last", 50},
	{faultFewerKVBlocks, formPercent, "the KV cache is PERCENT smaller than asked for", 0},
	{faultSilentMetrics, formNone, "GET /metrics is never answered", 0},
	{faultLateJIT, formEvery, "every Nth step (100) logs vLLM's line about a Triton kernel compiled during inference", 100},
	{faultTraceback, formNone, "a Python traceback from the recorder is logged once", 0},
	{faultEngineError, formNone, "vLLM's line about a fatal error of the engine core is logged once", 0},
	{faultProfiler, formNone, "vLLM's line about the start of its profiler is logged once", 0},
	{faultCompileCache, formNone, "the log names a compile-cache directory", 0},
	{faultNoRecords, formNone, "no step records are written although they are asked for", 0},
	{faultUnasked, formNone, "step records are written although nobody asked", 0},
	{faultDropRecords, formCount, "N step records are dropped and counted", 0},
	{faultDiskFull, formCount, "from step N on nothing can be written to the record file; the log says so once", 0},
	{faultIndexGap, formNone, "one step index is missing and no drop is reported", 0},
	{faultWrongHistogram, formNone, "the context histogram of one record counts a request too many", 0},
	{faultTokenSum, formNone, "decode_tokens of one record is one too high", 0},
	{faultDamagedRecord, formNone, "one line of the record file is damaged", 0},
	{faultGluedRecords, formNone, "the beginning of a record is glued to the next one", 0},
	{faultSecondFile, formNone, "a second record file of the same rank is there", 0},
	{faultTornTail, formNone, "the record file ends inside a record, without a footer", 0},
	{faultNoFooter, formNone, "the record file has no footer", 0},
}
