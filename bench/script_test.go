package bench

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aituner/opprof/results"
)

// version, testBuild and tested are those of an opbench whose commit never
// changes, so that tests do not depend on the one that they run in.
const version = "0.1.0+0123456789ab"

var (
	testBuild = build{Version: version, Commit: "0123456789abcdef0123456789abcdef01234567", Go: "go1.26.0"}
	tested    = &app{build: testBuild}
)

// TestMain makes this test binary the command when it is called opbench, so
// that scripts and crash tests run it as users do, child processes included.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"opbench": func() {
		self, err := exec.LookPath(os.Args[0])
		if err != nil {
			panic(err)
		}
		os.Exit(newApp(self, testBuild).main(os.Args[1:]))
	}})
}

// Every command, as users call it: output, errors and exit codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"unarchive": unarchive,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			campaigns, err := filepath.Abs("../results/campaigns")
			if err != nil {
				return err
			}
			env.Setenv("CAMPAIGNS", campaigns)
			revisions, err := filepath.Abs("../patches/vllm/ee0da84")
			if err != nil {
				return err
			}
			env.Setenv("PATCHES", revisions)
			workflow, err := filepath.Abs("../.github/scripts")
			if err != nil {
				return err
			}
			env.Setenv("SCRIPTS", workflow)
			return writeRecords(env.WorkDir)
		},
	})
}

// unarchive makes a run directory of a published campaign: unarchive NAME DIR.
func unarchive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unarchive NAME DIR")
	}
	data, err := os.ReadFile(filepath.Join(ts.Getenv("CAMPAIGNS"), args[0], results.ArchiveName))
	ts.Check(err)
	z, err := zstd.NewReader(bytes.NewReader(data))
	ts.Check(err)
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		ts.Check(err)
		file := ts.MkAbs(filepath.Join(args[1], h.Name))
		text, err := io.ReadAll(r)
		ts.Check(errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)))
	}
}

// exits runs a command and requires its exit code: exits 10 opbench gate DIR.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	var exit *exec.ExitError
	if err != nil {
		ok := false
		if exit, ok = err.(*exec.ExitError); !ok {
			ts.Fatalf("%v", err)
		}
		code = strconv.Itoa(exit.ExitCode())
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}
