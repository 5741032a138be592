package bench

import (
	"errors"
	"fmt"

	"github.com/aituner/opprof/report/publish"
	"github.com/aituner/opprof/report/revisions"
	"github.com/aituner/opprof/report/sizing"
	"github.com/aituner/opprof/report/view"
	"github.com/spf13/cobra"
)

// The exit codes of opbench. Those of verdicts are the report's; README.md has
// the table for users.
const (
	exitPass           = view.ExitPass // also: done
	exitUnexpected     = 1
	exitUsage          = 2 // a wrong command or file
	exitFail           = view.ExitFail
	exitInconclusive   = view.ExitInconclusive
	exitInvalid        = view.ExitInvalid // also UNDERPOWERED, a failed check of records, a tree that no revision fits
	exitInfrastructure = 13               // retry is safe
	exitStopped        = view.ExitUnfinished
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

// withCode gives an error its exit code; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code, err}
}

// exitWith is nil for 0 and a silent exit otherwise.
func exitWith(code int) error {
	if code == exitPass {
		return nil
	}
	return &exitError{code: code}
}

// usageError is for what the user can put right: a command, a file. nil stays nil.
func usageError(err error) error { return withCode(exitUsage, err) }

// infrastructureError is for what the machine is to blame for; nil stays nil.
func infrastructureError(err error) error { return withCode(exitInfrastructure, err) }

// usage gives a wrong number of arguments its exit code and the way to do it.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usagef("%w\nusage: %s\nexample: %s", err, c.UseLine(), c.Example)
		}
		return nil
	}
}

func usagef(format string, args ...any) error {
	return usageError(fmt.Errorf(format, args...))
}

func infrastructuref(format string, args ...any) error {
	return infrastructureError(fmt.Errorf(format, args...))
}

func invalidf(format string, args ...any) error {
	return withCode(exitInvalid, fmt.Errorf(format, args...))
}

func stoppedf(format string, args ...any) error {
	return withCode(exitStopped, fmt.Errorf(format, args...))
}

// reportError gives an error of report its exit code.
func reportError(err error) error {
	for _, e := range []struct {
		is   error
		code int
	}{
		{sizing.ErrNoEqualArms, exitUsage}, {revisions.ErrUnlike, exitUsage},
		{sizing.ErrUnusable, exitInvalid}, {sizing.ErrUnfinished, exitStopped},
		{publish.ErrDamaged, exitInvalid}, {publish.ErrUnfinished, exitStopped},
	} {
		if errors.Is(err, e.is) {
			return withCode(e.code, err)
		}
	}
	return err
}
