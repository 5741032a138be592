package sim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/aituner/opprof/results/steps"
)

// midRun is the step from which on record and log faults act: late enough that
// what comes before is sound, early enough for the shortest run.
const midRun = 10

// errorEvery is the share of requests that error-after-tokens and long-line
// strike.
const errorEvery = 10

type fault struct {
	n       int64
	percent Percent
	pause   time.Duration
}

// Faults is a set of faults to commit, each at most once. The zero value
// commits none. It is a pflag.Value: --fault NAME[=VALUE], repeatable.
type Faults struct{ set map[string]fault }

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
	i := slices.IndexFunc(faultKinds, func(k faultKind) bool { return k.name == name })
	if i < 0 {
		return fmt.Errorf("fault %q is unknown: use one of %s", name, strings.Join(faultNames(), ", "))
	}
	if f.has(name) {
		return fmt.Errorf("fault %q is given twice", name)
	}
	v, err := faultKinds[i].parse(value, given)
	if err != nil {
		return fmt.Errorf("fault %q: %w: write it as %s%s", text, err, name, faultKinds[i].value)
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

// IdleTimeout is how long the HTTP server of the engine keeps idle connections,
// which is the business of whoever runs that server; 0: as long as they last.
func (f *Faults) IdleTimeout() time.Duration { return f.set[faultIdleClose].pause }

// Unasked reports whether records are to be written although no folder for them
// is named. A process then writes them below its working directory.
func (f *Faults) Unasked() bool { return f.has(faultUnasked) }

// spoil commits the faults that change the settings of an engine.
func (f *Faults) spoil(cfg *Config) {
	share := 1 - float64(f.set[faultFewerKVBlocks].percent)/100
	cfg.KVBlocks = max(1, int(math.Round(float64(cfg.KVBlocks)*share)))
	if f.Unasked() && cfg.RecordDir == "" {
		cfg.RecordDir = steps.Folder
	}
}

func (f *Faults) has(name string) bool { _, on := f.set[name]; return on }

// hits reports whether the fault strikes the nth (from 1) of its events.
func (f *Faults) hits(name string, n int64) bool {
	v, on := f.set[name]
	return on && n%v.n == 0
}

// pause is how long the engine has to stand still before a step.
func (f *Faults) pause(step int64) time.Duration {
	if once, on := f.set[faultStall]; on && once.n == step {
		return once.pause
	}
	if f.hits(faultStallEvery, step+1) {
		return f.set[faultStallEvery].pause
	}
	return 0
}

func (k faultKind) parse(value string, given bool) (fault, error) {
	switch {
	case k.value == formNone && given:
		return fault{}, errors.New("takes no value")
	case k.value == formNone:
		return fault{}, nil
	case k.value == formEvery && !given:
		return fault{n: k.usual}, nil
	case value == "":
		return fault{}, errors.New("needs a value")
	case k.value == formPercent:
		var p Percent
		err := p.Set(value)
		return fault{percent: p}, err
	case k.value == formDuration:
		pause, err := parseLength(value)
		return fault{pause: pause}, err
	case k.value == formStall:
		return parseStall(value, 0)
	case k.value == formStalls:
		return parseStall(value, 1)
	case k.value == formPlace:
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

func parseLength(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a positive duration", value)
	}
	return d, nil
}

func parseStall(value string, least int64) (fault, error) {
	length, step, _ := strings.Cut(value, "@")
	pause, err := parseLength(length)
	if err != nil {
		return fault{}, err
	}
	at, err := parseCount(step, least)
	at.pause = pause
	return at, err
}

func faultNames() []string {
	names := make([]string, len(faultKinds))
	for i, k := range faultKinds {
		names[i] = k.name
	}
	return names
}
