// Command opbench decides, with a stated error rate, whether a vLLM with the
// OpProf recorder serves slower than without it, and by how much.
//
// See README.md for the life of a command, and opbench --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
)

// version is the version of the tool. It stamps plans and reports.
const version = "0.1.0"

// Exit codes. 10 to 12 are verdicts; see report/README.md.
const (
	exitUnexpected     = 1
	exitUsage          = 2
	exitInfrastructure = 13
	exitStopped        = 14
)

// exitError is an error that ends the program with a code of its own. A nil
// err means that everything has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// app holds all that comes from the process: nothing else touches it.
type app struct {
	stdout, stderr io.Writer
	tty            bool // stderr is a terminal that can redraw a line
	environ        []string
	self           string // path of this binary
	cache          string // directory for link trees
	signals        <-chan os.Signal
	quit           func(code int)
	sleep          func(context.Context, time.Duration) error // between two tries to post; nil: as it says
}

func main() {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	os.Exit(newApp(self).main(os.Args[1:]))
}

// newApp is the app of this process; self is the path of its binary.
func newApp(self string) *app {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	a := &app{stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), self: self, signals: signals, quit: os.Exit}
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
		return 0
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
