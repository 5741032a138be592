package engine

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aituner/opprof/scenarios"
)

// port returns a port that nobody listens on.
func (c Config) port() (int, error) {
	if c.fixedPort != 0 {
		return c.fixedPort, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// LongOptions writes options by name as --name value pairs, sorted by name, the
// way vllm serve and opbench sim serve read them; an empty value is left out.
func LongOptions(args map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		out = append(out, "--"+name)
		if args[name] != "" {
			out = append(out, args[name])
		}
	}
	return out
}

// args are the options of this start: the engine's with the arm's on top.
func (s Spec) args() map[string]string { return s.scenario().ArmArgs(s.Arm) }

func (s Spec) scenario() *scenarios.Scenario { return &scenarios.Scenario{Engine: s.Engine} }

// addEnv adds the scenario's and the arm's variables.
func addEnv(env map[string]string, spec Spec) {
	for k, v := range spec.scenario().ArmEnv(spec.Arm) {
		env[k] = strings.ReplaceAll(v, scenarios.RunDirToken, spec.RunDir)
	}
}

// overlay returns base with the variables of env set.
func overlay(base []string, env map[string]string) []string {
	out := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := env[name]
		return set
	})
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// tokens replaces what differs between any two starts, so that commands of two
// arms can be compared.
func tokens(args []string, spec Spec, port int, model string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		switch {
		case a == spec.Nonce:
			out[i] = "{nonce}"
		case i > 0 && out[i-1] == "--port" && a == strconv.Itoa(port):
			out[i] = "{port}"
		case i > 0 && out[i-1] == "--seed" && a == strconv.FormatUint(spec.Seed, 10):
			out[i] = "{seed}"
		case model != "" && a == model && filepath.IsAbs(model):
			out[i] = "{model}/" + filepath.Base(model)
		default:
			out[i] = strings.ReplaceAll(a, spec.RunDir, scenarios.RunDirToken)
		}
	}
	return out
}

func envTokens(env map[string]string, spec Spec, importPath string) map[string]string {
	out := map[string]string{}
	for k, v := range env {
		switch k {
		case nonceVariable:
			v = "{nonce}"
		case "PYTHONPATH":
			v = strings.Replace(v, importPath, "{import_path}", 1)
		}
		out[k] = strings.ReplaceAll(v, spec.RunDir, scenarios.RunDirToken)
	}
	return out
}
