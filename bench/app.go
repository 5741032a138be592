// Package bench is the command opbench, which decides, with a stated error rate,
// whether a vLLM with the OpProf recorder serves slower than without it, and by
// how much. It is the only package that knows both harness and report, and the
// only one that touches the process: arguments, environment, terminal, exit.
//
// Every subcommand has a file that is named after it. See README.md for the life
// of a command, and opbench --help.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aituner/opprof/report"
	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/results"
	"golang.org/x/term"
)

// app holds all that comes from the process: nothing else touches it.
type app struct {
	stdout, stderr io.Writer
	tty            bool // stderr is a terminal that can redraw a line
	environ        []string
	build          build  // what this binary was made from
	self           string // path of this binary
	cache          string // directory for link trees
	signals        <-chan os.Signal
	quit           func(code int)
	sleep          func(context.Context, time.Duration) error // between two tries to post; nil: as it says
}

// Main runs the command of this process and returns its exit code.
func Main() int {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return newApp(self, thisBuild()).main(os.Args[1:])
}

// newApp is the app of this process; self is the path of its binary.
func newApp(self string, b build) *app {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	a := &app{stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), build: b, self: self,
		signals: signals, quit: os.Exit}
	a.tty = term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	a.cache = filepath.Join(dir, "opbench")
	return a
}

// main runs one command and returns the exit code.
func (a *app) main(args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return exitPass
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{exitUnexpected, err}
	}
	if exit.err != nil {
		fmt.Fprintln(a.stderr, "opbench:", exit.err)
	}
	return exit.code
}

// interruptible is a context that the first signal ends; the second quits.
func (a *app) interruptible() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		select {
		case s := <-a.signals:
			fmt.Fprintf(a.stderr, "\n%s: ending the run in progress; again to quit at once\n", s)
			cancel(fmt.Errorf("signal %s", s))
		case <-done:
			return
		}
		select {
		case <-a.signals:
			a.quit(exitStopped)
		case <-done:
		}
	}()
	return ctx, func() { close(done); cancel(nil) }
}

// variable looks up an environment variable.
func (a *app) variable(name string) string {
	for _, kv := range a.environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// printJSON writes a document to standard output.
func (a *app) printJSON(document any) error { return report.WriteIndented(a.stdout, document) }

// output writes to a file, or to standard output if there is none.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(a.stdout)
	}
	return export.ToFile(path, write)
}

// load reads a run directory; that it is none is the user's mistake.
func load(dir string) (*results.Campaign, error) {
	c, err := results.Load(dir)
	if errors.Is(err, os.ErrPermission) {
		return nil, infrastructureError(err)
	}
	return c, usageError(err)
}

// judge reads a run directory and says what it means.
func (a *app) judge(dir string) (*results.Campaign, *report.View, error) {
	c, err := load(dir)
	if err != nil {
		return nil, nil, err
	}
	v, err := report.Build(c, a.build.Version)
	return c, v, err
}
