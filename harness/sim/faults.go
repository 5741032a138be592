package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// The names of the faults.
const (
	faultKillAfter        = "kill-after"
	faultErrorAfterTokens = "error-after-tokens"
	faultHTTP500          = "http-500"
	faultShortOutput      = "short-output"
	faultFlipToken        = "flip-token"
	faultConstantOutput   = "constant-output"
	faultNondeterministic = "nondeterministic-output"
	faultWrongModel       = "wrong-model"
	faultSlow             = "slow"
	faultStall            = "stall"
	faultLateJIT          = "late-jit"
	faultTraceback        = "traceback"
	faultIgnoreSIGINT     = "ignore-sigint"
	faultNoRecords        = "no-records"
	faultDropRecords      = "drop-records"
	faultIndexGap         = "index-gap"
	faultWrongHistogram   = "wrong-histogram"
	faultTokenSum         = "token-sum-off-by-one"
	faultTornTail         = "torn-tail"
	faultNoFooter         = "no-footer"
)

// What may follow a fault's name.
const (
	formNone    = ""
	formCount   = "=N"
	formEvery   = "[=N]"
	formPlace   = "=POS"
	formPercent = "=PERCENT"
	formStall   = "=DURATION@N"
)

// FaultKind documents one fault.
type FaultKind struct {
	Name  string
	Value string // what follows the name: empty, =N, [=N], =POS, =PERCENT, =DURATION@N
	About string
	usual int64 // value of [=N] where none is given
}

// midRun is the step from which on record faults act: late enough that the
// records before are sound, early enough for the shortest run.
const midRun = 10

// errorEvery is the share of requests that error-after-tokens strikes.
const errorEvery = 10

var faultKinds = []FaultKind{
	{faultKillAfter, formCount, "the process exits with code 137 after N output tokens", 0},
	{faultErrorAfterTokens, formCount, "every 10th request ends with an error object after N output tokens; [DONE] follows", 0},
	{faultHTTP500, formEvery, "every Nth request (10) is answered with status 500", 10},
	{faultShortOutput, formEvery, "every Nth request (10) ends one token early, its usage is honest", 10},
	{faultFlipToken, formPlace, "the output token at position POS (from 0) is another one for about half of all prompts, always the same half", 0},
	{faultConstantOutput, formNone, "every output token is the same", 0},
	{faultNondeterministic, formNone, "output tokens differ from request to request, also for equal prompts", 0},
	{faultWrongModel, formNone, "completions carry the name of another model; /v1/models is right", 0},
	{faultSlow, formPercent, "steps last PERCENT longer", 0},
	{faultStall, formStall, "nothing happens for DURATION before step N, whatever is running", 0},
	{faultLateJIT, formEvery, "every Nth step (100) logs vLLM's line about a Triton kernel compiled during inference", 100},
	{faultTraceback, formNone, "a Python traceback from the recorder is logged once", 0},
	{faultIgnoreSIGINT, formNone, "the process does not react to SIGINT", 0},
	{faultNoRecords, formNone, "no step records are written although they are asked for", 0},
	{faultDropRecords, formCount, "N step records are dropped and counted", 0},
	{faultIndexGap, formNone, "one step index is missing and no drop is reported", 0},
	{faultWrongHistogram, formNone, "the context histogram of one record counts a request too many", 0},
	{faultTokenSum, formNone, "decode_tokens of one record is one too high", 0},
	{faultTornTail, formNone, "the record file ends inside a record, without a footer", 0},
	{faultNoFooter, formNone, "the record file has no footer", 0},
}

// FaultKinds lists every fault, for help texts and documentation.
func FaultKinds() []FaultKind { return slices.Clone(faultKinds) }

type fault struct {
	n       int64
	percent Percent
	pause   time.Duration
}

// Faults is a set of faults to commit, each at most once. The zero value
// commits none. It is a pflag.Value: --fault NAME[=VALUE], repeatable.
type Faults struct{ set map[string]fault }

// ParseFaults reads faults in their text form, all errors at once.
func ParseFaults(texts ...string) (Faults, error) {
	var f Faults
	err := f.Set(strings.Join(texts, ","))
	return f, err
}

// Flags binds --fault.
func (f *Faults) Flags(fs *pflag.FlagSet) {
	fs.Var(f, "fault", "faults to commit, NAME or NAME=VALUE, comma-separated or repeated: "+strings.Join(faultNames(), ", "))
}

// String lists the faults by name.
func (f *Faults) String() string { return strings.Join(slices.Sorted(maps.Keys(f.set)), ",") }

// Type names the value in help texts.
func (f *Faults) Type() string { return "fault" }

// Set adds faults in their text form, separated by commas, and reports all
// errors at once.
func (f *Faults) Set(texts string) error {
	var errs []error
	for text := range strings.SplitSeq(texts, ",") {
		if text != "" {
			errs = append(errs, f.add(text))
		}
	}
	return errors.Join(errs...)
}

func (f *Faults) add(text string) error {
	name, value, given := strings.Cut(text, "=")
	i := slices.IndexFunc(faultKinds, func(k FaultKind) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("fault %q is unknown: use one of %s", name, strings.Join(faultNames(), ", "))
	}
	if f.has(name) {
		return fmt.Errorf("fault %q is given twice", name)
	}
	v, err := faultKinds[i].parse(value, given)
	if err != nil {
		return fmt.Errorf("fault %q: %w: write it as %s%s", text, err, name, faultKinds[i].Value)
	}
	if f.set == nil {
		f.set = map[string]fault{}
	}
	f.set[name] = v
	return nil
}

// IgnoreSIGINT reports whether the process has to ignore SIGINT, which is the
// business of the command that runs the engine.
func (f *Faults) IgnoreSIGINT() bool { return f.has(faultIgnoreSIGINT) }

func (f *Faults) has(name string) bool { _, on := f.set[name]; return on }

// hits reports whether the fault strikes the nth (from 1) of its events.
func (f *Faults) hits(name string, n int64) bool {
	v, on := f.set[name]
	return on && n%v.n == 0
}

func (k FaultKind) parse(value string, given bool) (fault, error) {
	switch {
	case k.Value == formNone && given:
		return fault{}, errors.New("takes no value")
	case k.Value == formNone:
		return fault{}, nil
	case k.Value == formEvery && !given:
		return fault{n: k.usual}, nil
	case value == "":
		return fault{}, errors.New("needs a value")
	case k.Value == formPercent:
		var p Percent
		err := p.Set(value)
		return fault{percent: p}, err
	case k.Value == formStall:
		return parseStall(value)
	case k.Value == formPlace:
		return parseCount(value, 0)
	}
	return parseCount(value, 1)
}

func parseCount(value string, least int64) (fault, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least {
		return fault{}, fmt.Errorf("%q is not a whole number from %d on", value, least)
	}
	return fault{n: n}, nil
}

func parseStall(value string) (fault, error) {
	length, step, _ := strings.Cut(value, "@")
	pause, err := time.ParseDuration(length)
	if err != nil || pause <= 0 {
		return fault{}, fmt.Errorf("%q is not a positive duration", length)
	}
	at, err := parseCount(step, 0)
	at.pause = pause
	return at, err
}

func faultNames() []string {
	names := make([]string, len(faultKinds))
	for i, k := range faultKinds {
		names[i] = k.Name
	}
	return names
}
