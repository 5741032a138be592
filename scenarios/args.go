package scenarios

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	argPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[A-Za-z0-9_.-]+)?$`)
)

// reservedArgs are the options that the harness sets itself: with others it
// could not prove that the server is its own, or count cached tokens. config
// names a file of options, which could set any of them.
var reservedArgs = []string{
	"host", "port", "uds", "served-model-name", "model", "config",
	"jit-monitor-verbose", "enable-prompt-tokens-details",
}

// reservedEnv decide which vllm package is imported; the harness chooses it by
// the arm's patch.
var reservedEnv = []string{"PYTHONPATH", "PYTHONHOME"}

// BatchInvariant makes vLLM use kernels whose result for a request does not depend on
// the others of its batch.
const BatchInvariant = "VLLM_BATCH_INVARIANT"

// readArgs reads long options. true is a bare flag, stored as "".
func readArgs(v value, to map[string]string) {
	for _, e := range v.entries() {
		e.argName(v.file)
		switch {
		case e.is("!!bool") && strings.EqualFold(e.node.Value, "true"):
			to[e.key] = ""
		case e.is("!!bool"):
			e.bad("an option cannot be false: write %s: true", opposite(e.key))
		case e.is("!!null"):
			e.bad("an option needs a value: write %[1]s: true for a bare flag, %[2]s: true to turn it off", e.key, opposite(e.key))
		case e.is("!!str") && e.node.Value == "":
			e.bad("an empty value: write true for a bare flag")
		case e.is("!!str", "!!int", "!!float"):
			to[e.key] = e.node.Value
		default:
			e.bad("want true, text or a number, got %s", e.got())
		}
	}
}

// argName checks the spelling of an option: vLLM takes an underscore for a
// hyphen, so that two keys could be one option.
func (e entry) argName(f *file) {
	switch head, _, _ := strings.Cut(e.key, "."); {
	case strings.HasPrefix(e.key, "-"):
		f.add(e.name, e.path, "write the option without its dashes: %s", strings.TrimLeft(e.key, "-"))
	case strings.Contains(head, "_"):
		f.add(e.name, e.path, "write the option with hyphens: %s", strings.ReplaceAll(e.key, "_", "-"))
	case !argPattern.MatchString(e.key):
		f.add(e.name, e.path, "want a long option in small letters, such as max-num-seqs")
	}
}

// opposite returns the option that turns a flag the other way.
func opposite(arg string) string {
	if positive, is := strings.CutPrefix(arg, "no-"); is {
		return positive
	}
	return "no-" + arg
}

// ArmArgs returns the options of an arm's server: the engine's and over them
// the arm's own. An arm's flag replaces the engine's opposite (no-) flag.
func (s *Scenario) ArmArgs(a Arm) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, s.Engine.Args)
	for arg, v := range a.Args {
		delete(merged, opposite(arg))
		merged[arg] = v
	}
	return merged
}

// TensorParallel is over how many devices each layer of an arm's server is split.
func (s *Scenario) TensorParallel(a Arm) int { return s.ArmCount(a, "tensor-parallel-size") }

// ArmCount is the value of an option that counts something in an arm's server.
// vLLM's default of those is 1, and it starts with no value that is not a count.
func (s *Scenario) ArmCount(a Arm, option string) int {
	n, err := strconv.Atoi(s.ArmArgs(a)[option])
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// ArmEnv returns the declared environment of an arm's server: the engine's and
// over it the arm's own. RunDirToken is still in it.
func (s *Scenario) ArmEnv(a Arm) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, s.Engine.Env)
	maps.Copy(merged, a.Env)
	return merged
}

// sorted returns the keys of a map in order, so that messages are stable.
func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
