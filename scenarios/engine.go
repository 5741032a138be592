package scenarios

import "slices"

// EngineKind names how servers under test come to life.
type EngineKind string

// The kinds of engine.
const (
	EngineVLLM   EngineKind = "vllm"   // vllm serve, started and stopped for each run
	EngineSim    EngineKind = "sim"    // the simulated engine: proves nothing about vLLM
	EngineAttach EngineKind = "attach" // endpoints that someone else started
)

// Capabilities is what the engines of a kind have and can do. Whatever depends on
// the kind asks this table: a new kind is a row of it and a way to start its
// servers, in harness/engine.
type Capabilities struct {
	Kind EngineKind
	// Starts: the harness starts a server for each run, gives it options and
	// environment, proves that it is its own, and stops it. Otherwise someone else
	// has started it, and every arm names an endpoint.
	Starts bool
	// Simulated: its numbers are evidence about the tool, never about vLLM.
	Simulated bool
	// Patchable: arms may run a patch of the package, and only a patch has a
	// recorder, which names itself and its files in its records.
	Patchable bool
	// Package is the Python package that serves, Repository where it is kept on
	// GitHub, Python the default interpreter; empty where none is started.
	Package, Repository, Python string
	// GPUs: its servers compute on GPUs of this host.
	GPUs bool
	// Roles are the processes that wait busily and can be put under a CPU
	// scheduling policy.
	Roles []string
	// CachesPrefixes: it keeps prompts in a cache unless an option turns that off.
	CachesPrefixes bool
	// Backends are those that its log is expected to name.
	Backends []string
	Metrics  MetricNames

	needsModel bool   // a scenario must name one
	model      string // the name where it need not
	slowdown   slowdown
}

// MetricNames are the names of what a server's /metrics says.
type MetricNames struct {
	Prefix           string // of all counters that are the engine's own
	Running, Waiting string // gauges: requests in the batch and in the queue
	// CacheConfig is the gauge whose label num_gpu_blocks is the size of the KV
	// cache in blocks.
	CacheConfig               string
	Preemptions               string // counter
	PrefixQueries, PrefixHits string // counters, in tokens
}

// slowdown is how a positive control slows its candidate down.
type slowdown string

const (
	bySpin       slowdown = "spin"        // variables of the patch PatchControl
	byRecordCost slowdown = "record-cost" // an option of the simulated engine
)

// vllmMetrics are vLLM's names, which the simulated engine has as well.
var vllmMetrics = MetricNames{
	Prefix: "vllm:", Running: "vllm:num_requests_running", Waiting: "vllm:num_requests_waiting",
	CacheConfig: "vllm:cache_config_info", Preemptions: "vllm:num_preemptions_total",
	PrefixQueries: "vllm:prefix_cache_queries_total", PrefixHits: "vllm:prefix_cache_hits_total",
}

// engines lists every kind, in the order of messages.
var engines = []Capabilities{
	{
		Kind: EngineVLLM, Starts: true, Patchable: true, GPUs: true, CachesPrefixes: true,
		Package: "vllm", Repository: "vllm-project/vllm", Python: "python3",
		Roles: []string{"engine_core", "worker"}, Backends: []string{"attention", "moe"}, Metrics: vllmMetrics,
		needsModel: true, slowdown: bySpin,
	},
	{
		Kind: EngineSim, Starts: true, Simulated: true, Metrics: vllmMetrics,
		model: "simulated", slowdown: byRecordCost,
	},
	{Kind: EngineAttach, Metrics: vllmMetrics, needsModel: true},
}

// Capabilities returns the row of the kind; of an unknown one an empty row.
func (k EngineKind) Capabilities() Capabilities {
	i := slices.IndexFunc(engines, func(c Capabilities) bool { return c.Kind == k })
	if i < 0 {
		return Capabilities{Kind: k}
	}
	return engines[i]
}

func engineKinds() []EngineKind {
	return each(engines, func(c Capabilities) EngineKind { return c.Kind })
}

// kindsWith names the kinds that have something, for messages.
func kindsWith(has func(Capabilities) bool) string {
	return oneOf(slices.DeleteFunc(engineKinds(), func(k EngineKind) bool { return !has(k.Capabilities()) }))
}

// scheduledRoles are the roles that any kind of engine has.
func scheduledRoles() (roles []string) {
	for _, c := range engines {
		roles = append(roles, c.Roles...)
	}
	return roles
}

// attached reports whether someone else started the servers. Nothing follows from
// a kind that could not be read.
func (e Engine) attached() bool { return e.Kind != "" && !e.Kind.Capabilities().Starts }
