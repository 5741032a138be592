package scenarios

import (
	"slices"
	"strings"
	"time"
)

// Bounds that tell a slip of the finger from a scenario.
const (
	maxBlocks   = 1000
	maxRequests = 1_000_000
	maxStreams  = 100_000
	maxTokens   = 1 << 20
	maxVocab    = 1 << 24
)

// The tables below are the keys of the file. README.md lists them for users,
// schema.json for editors; a test holds the three together.

var scenarioFields = []field[Scenario]{
	{"scenario", true, func(v value, s *Scenario) { v.name(&s.Name) }},
	{"purpose", false, func(v value, s *Scenario) { choice(v, &s.Purpose, Overhead, AA, Control, Correctness) }},
	{"about", false, func(v value, s *Scenario) { v.text(&s.About) }},
	{"engine", true, func(v value, s *Scenario) { object(v, engineFields, &s.Engine) }},
	{"arms", true, readArms},
	{"compare", false, readCompare},
	{"phases", true, readPhases},
	{"design", true, func(v value, s *Scenario) { object(v, designFields, &s.Design) }},
	{"gate", false, func(v value, s *Scenario) { object(v, gateFields, &s.Gate) }},
	{"client", false, func(v value, s *Scenario) { object(v, clientFields, &s.Client) }},
	{"identity", false, func(v value, s *Scenario) { object(v, identityFields, &s.Identity) }},
	{"windows", false, func(v value, _ *Scenario) { readWindows(v) }},
}

var engineFields = []field[Engine]{
	{"kind", true, func(v value, e *Engine) { choice(v, &e.Kind, engineKinds()...) }},
	{"model", false, func(v value, e *Engine) { v.text(&e.Model) }},
	{"python", false, func(v value, e *Engine) { v.text(&e.Python) }},
	{"args", false, func(v value, e *Engine) { readArgs(v, e.Args) }},
	{"env", false, func(v value, e *Engine) { readEnv(v, e.Env) }},
	{"schedule", false, func(v value, e *Engine) { e.Schedule = readSchedule(v) }},
}

var armFields = []field[Arm]{
	{"patch", false, func(v value, a *Arm) { v.text(&a.Patch) }},
	{"env", false, func(v value, a *Arm) { readEnv(v, a.Env) }},
	{"args", false, func(v value, a *Arm) { readArgs(v, a.Args) }},
	{"same_as", false, func(v value, a *Arm) { v.name(&a.SameAs) }},
	{"url", false, func(v value, a *Arm) { v.text(&a.URL) }},
}

var comparisonFields = []field[Comparison]{
	{"baseline", true, func(v value, c *Comparison) { v.name(&c.Baseline) }},
	{"candidate", true, func(v value, c *Comparison) { v.name(&c.Candidate) }},
}

var phaseFields = []field[Phase]{
	{"name", true, func(v value, p *Phase) { v.name(&p.Name) }},
	{"source", true, func(v value, p *Phase) { object(v, sourceFields, &p.Source) }},
	{"arrival", false, func(v value, p *Phase) { object(v, arrivalFields, &p.Arrival) }},
	{"warmup", false, func(v value, p *Phase) { object(v, warmupFields, &p.Warmup) }},
	{"primary", false, func(v value, p *Phase) { p.Primary = readPrimary(v) }},
	{"goodput", false, func(v value, p *Phase) { object(v, goodputFields, &p.Goodput) }},
}

var goodputFields = []field[Goodput]{
	{"ttft", false, func(v value, g *Goodput) { v.duration(&g.TTFT, time.Microsecond) }},
	{"tpot", false, func(v value, g *Goodput) { v.duration(&g.TPOT, time.Microsecond) }},
}

var sourceFields = []field[Source]{
	{"kind", false, func(v value, s *Source) { choice(v, &s.Kind, SourceSynthetic, SourceTrace) }},
	{"requests", false, func(v value, s *Source) { v.count(&s.Requests, 1, maxRequests) }},
	{"prompt_tokens", false, func(v value, s *Source) { readDist(v, &s.PromptTokens) }},
	{"output_tokens", false, func(v value, s *Source) { readDist(v, &s.OutputTokens) }},
	{"seed", true, func(v value, s *Source) { v.seed(&s.Seed) }},
	{"vocab_size", false, func(v value, s *Source) { v.count(&s.VocabSize, 2, maxVocab) }},
	{"vocab_low", false, func(v value, s *Source) { v.count(&s.VocabLow, 0, maxVocab) }},
	{"shared_prefix", false, func(v value, s *Source) { v.count(&s.SharedPrefix, 0, maxTokens) }},
	{"prefix_groups", false, func(v value, s *Source) { object(v, prefixGroupsFields, &s.PrefixGroups) }},
	{"format", false, func(v value, s *Source) {
		choice(v, &s.Format, "azure", "mooncake", "vllm", "guidellm", "custom")
	}},
	{"path", false, func(v value, s *Source) { v.text(&s.Path) }},
	{"skip", false, func(v value, s *Source) { v.count(&s.Skip, 0, maxRequests) }},
	{"scale_tokens", false, func(v value, s *Source) { v.positive(&s.ScaleTokens) }},
	{"max_prompt", false, func(v value, s *Source) { v.count(&s.MaxPrompt, 1, maxTokens) }},
	{"max_output", false, func(v value, s *Source) { v.count(&s.MaxOutput, 1, maxTokens) }},
	{"time_unit", false, func(v value, s *Source) { v.duration(&s.TimeUnit, time.Nanosecond) }},
}

var prefixGroupsFields = []field[PrefixGroups]{
	{"count", true, func(v value, g *PrefixGroups) { v.count(&g.Count, 1, maxRequests) }},
	{"tokens", true, func(v value, g *PrefixGroups) { v.count(&g.Tokens, 1, maxTokens) }},
}

var distFields = []field[Dist]{
	{"dist", true, func(v value, d *Dist) { choice(v, &d.Kind, DistFixed, DistUniform, DistLognormal) }},
	{"value", false, func(v value, d *Dist) { v.count(&d.Value, 1, maxTokens) }},
	{"min", false, func(v value, d *Dist) { v.count(&d.Min, 1, maxTokens) }},
	{"max", false, func(v value, d *Dist) { v.count(&d.Max, 1, maxTokens) }},
	{"median", false, func(v value, d *Dist) { v.count(&d.Median, 1, maxTokens) }},
	{"p95", false, func(v value, d *Dist) { v.count(&d.P95, 1, maxTokens) }},
}

var arrivalFields = []field[Arrival]{
	{"kind", false, func(v value, a *Arrival) {
		choice(v, &a.Kind, ArrivalClosed, ArrivalPoisson, ArrivalConstant, ArrivalGamma, ArrivalTrace)
	}},
	{"streams", false, func(v value, a *Arrival) { v.count(&a.Streams, 1, maxStreams) }},
	{"ramp", false, func(v value, a *Arrival) { v.duration(&a.Ramp, 0) }},
	{"rate", false, func(v value, a *Arrival) { v.rate(&a.Rate) }},
	{"burstiness", false, func(v value, a *Arrival) { v.positive(&a.Burstiness) }},
	{"scale", false, func(v value, a *Arrival) { v.positive(&a.Scale) }},
}

var warmupFields = []field[Warmup]{
	{"requests", false, func(v value, w *Warmup) { v.count(&w.Requests, 0, maxRequests) }},
}

var designFields = []field[Design]{
	{"blocks", false, func(v value, d *Design) { v.count(&d.Blocks, 1, maxBlocks) }},
	{"seed", true, func(v value, d *Design) { v.seed(&d.Seed) }},
	{"burn_in_blocks", false, func(v value, d *Design) { v.count(&d.BurnInBlocks, 0, 10) }},
	{"looks", false, readLooks},
	{"max_dropped", false, func(v value, d *Design) { v.count(&d.MaxDropped, 0, maxRequests) }},
	{"cooldown", false, func(v value, d *Design) { v.duration(&d.Cooldown, 0) }},
	{"adjust_order", false, func(v value, d *Design) { v.flag(&d.AdjustOrder) }},
	{"interleave", false, func(v value, d *Design) { object(v, interleaveFields, &d.Interleave) }},
}

var gateFields = []field[Gate]{
	{"margin", false, func(v value, g *Gate) { v.percent(&g.Margin) }},
	{"confidence", false, func(v value, g *Gate) { v.percent(&g.Confidence) }},
	{"require_aa", false, func(v value, g *Gate) { v.flag(&g.RequireAA) }},
	{"require_all_five", false, func(v value, g *Gate) { v.flag(&g.RequireAllFive) }},
}

var clientFields = []field[Client]{
	{"max_probe_lag_p99", false, func(v value, c *Client) { v.duration(&c.MaxProbeLagP99, time.Microsecond) }},
	{"request_timeout", false, func(v value, c *Client) { v.duration(&c.RequestTimeout, time.Second) }},
}

var identityFields = []field[Identity]{
	{"prompts", false, func(v value, i *Identity) { v.count(&i.Prompts, 0, 10_000) }},
	{"prompt_tokens", false, func(v value, i *Identity) { v.count(&i.PromptTokens, 1, maxTokens) }},
	{"output_tokens", false, func(v value, i *Identity) { v.count(&i.OutputTokens, 1, maxTokens) }},
	{"min_distinct", false, func(v value, i *Identity) { v.count(&i.MinDistinct, 2, maxTokens) }},
	{"seed", false, func(v value, i *Identity) { v.seed(&i.Seed) }},
	{"expect", false, func(v value, i *Identity) { choice(v, &i.Expect, ExpectEqual, ExpectReport) }},
}

var interleaveFields = []field[Interleave]{
	{"slice", true, func(v value, i *Interleave) { v.duration(&i.Slice, time.Millisecond) }},
	{"settle", false, func(v value, i *Interleave) { v.duration(&i.Settle, 0) }},
}

func readWindows(v value) {
	windows := v.items()
	for _, w := range windows {
		w.entries()
	}
	if len(windows) > 0 {
		v.later("profiler windows; leave the list empty")
	}
}

func readArms(v value, s *Scenario) {
	for _, e := range v.entries() {
		arm := Arm{Patch: PatchNone, Env: map[string]string{}, Args: map[string]string{}}
		value{v.file, e.path, e.name}.armName(e.key, &arm.Name)
		object(e.value, armFields, &arm)
		s.Arms = append(s.Arms, arm)
	}
}

// armName keeps even a bad name, so that comparisons find the arm.
func (v value) armName(key string, to *string) {
	*to = key
	v.name(new(string))
}

func readCompare(v value, s *Scenario) {
	for _, item := range v.items() {
		var c Comparison
		object(item, comparisonFields, &c)
		s.Compare = append(s.Compare, c)
	}
}

func readPhases(v value, s *Scenario) {
	for _, item := range v.items() {
		p := defaultPhase()
		object(item, phaseFields, &p)
		s.Phases = append(s.Phases, p)
	}
}

func readPrimary(v value) []string {
	metrics := []string{}
	for _, item := range v.items() {
		var m string
		choice(item, &m, gateable()...)
		if m != "" {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

func readLooks(v value, d *Design) {
	for _, item := range v.items() {
		var look int
		item.count(&look, 1, maxBlocks)
		d.Looks = append(d.Looks, look)
	}
}

// readDist reads a distribution; a bare number is a fixed count.
func readDist(v value, to *Dist) {
	if v.is("!!int") {
		d := Dist{Kind: DistFixed}
		v.count(&d.Value, 1, maxTokens)
		*to = d
		return
	}
	*to = Dist{}
	object(v, distFields, to)
}

func readSchedule(v value) map[string]string {
	roles := map[string]string{}
	for _, e := range v.entries() {
		role, policy := "", ""
		choice(e.value, &policy, "idle")
		if role = e.key; !slices.Contains(scheduledRoles(), role) {
			v.file.add(e.name, e.path, "unknown role%s", suggest(role, scheduledRoles()))
		}
		roles[role] = policy
	}
	return roles
}

// readEnv reads environment variables. Numbers are taken as they are written;
// true and false are not, as programs disagree on how to spell them.
func readEnv(v value, to map[string]string) {
	for _, e := range v.entries() {
		if !envPattern.MatchString(e.key) {
			v.file.add(e.name, e.path, "want a variable name of letters, digits and underscores")
		}
		switch {
		case !e.is("!!str", "!!int", "!!float"):
			e.bad("want text or a number, got %s: quote it", e.got())
		case strings.ContainsRune(e.node.Value, 0):
			e.bad("a variable cannot hold a NUL byte")
		default:
			to[e.key] = e.node.Value
		}
	}
}
