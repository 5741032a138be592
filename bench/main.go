package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"
)

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
