// Package bench is the command opbench, which decides, with a stated error rate,
// whether a vLLM with the OpProf recorder serves slower than without it, and by
// how much. It is the only package that knows both harness and report, and the
// only one that touches the process: arguments, environment, terminal, exit.
//
// Every subcommand has a file that is named after it; exit.go has the exit codes.
// See README.md for the life of a command, .github/CONTRIBUTING.md for the life of a
// verdict, and opbench --help. Package main is in bench/opbench.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aituner/opprof/report/export"
	"github.com/aituner/opprof/report/judge"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
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
	sleep          func(context.Context, time.Duration) error // between two tries to post; nil: it does sleep
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
func (a *app) printJSON(document any) error { return view.WriteJSON(a.stdout, document) }

// output writes to a file, or to standard output if there is none.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(a.stdout)
	}
	return export.ToFile(path, write)
}

// load reads a run directory; a folder that is none is the user's mistake.
func load(dir string) (*results.Campaign, error) {
	c, err := results.Load(dir)
	if errors.Is(err, os.ErrPermission) {
		return nil, infrastructureError(err)
	}
	return c, usageError(err)
}

// judge reads a run directory and says what it means.
func (a *app) judge(dir string) (*results.Campaign, *view.View, error) {
	c, err := load(dir)
	if err != nil {
		return nil, nil, err
	}
	v, err := judge.Build(c, a.build.Version)
	return c, v, err
}
