package bench

import (
	"errors"
	"fmt"

	"github.com/aituner/opprof/report"
)

// The exit codes of opbench. Those of verdicts are the report's; README.md has
// the table for users.
const (
	exitPass           = report.ExitPass // also: done
	exitUnexpected     = 1
	exitUsage          = 2 // a wrong command or file
	exitFail           = report.ExitFail
	exitInconclusive   = report.ExitInconclusive
	exitInvalid        = report.ExitInvalid // also UNDERPOWERED, a failed check of records, a tree that no revision fits
	exitInfrastructure = 13                 // retry is safe
	exitStopped        = report.ExitUnfinished
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
		{report.ErrNoEqualArms, exitUsage}, {report.ErrUnlike, exitUsage},
		{report.ErrUnusable, exitInvalid}, {report.ErrUnfinished, exitStopped},
	} {
		if errors.Is(err, e.is) {
			return withCode(e.code, err)
		}
	}
	return err
}
