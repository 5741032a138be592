package bench

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// leniency is what a caller such as CI makes of INCONCLUSIVE: fail keeps its exit
// code, pass makes it 0. No other verdict is touched.
type leniency string

const (
	inconclusiveFails  leniency = "fail"
	inconclusivePasses leniency = "pass"
)

func (l *leniency) bind(c *cobra.Command) {
	*l = inconclusiveFails
	c.Flags().Var(l, "inconclusive", "exit code of INCONCLUSIVE: fail (11) or pass (0)")
}

func (l *leniency) String() string { return string(*l) }

func (l *leniency) Type() string { return "fail|pass" }

// Set takes the value of the flag.
func (l *leniency) Set(text string) error {
	switch v := leniency(text); v {
	case inconclusiveFails, inconclusivePasses:
		*l = v
		return nil
	}
	return errors.New("use fail or pass")
}

// lenient turns the exit of an INCONCLUSIVE into none, and says so.
func (a *app) lenient(l leniency, verdict error) error {
	var exit *exitError
	if l != inconclusivePasses || !errors.As(verdict, &exit) || exit.code != exitInconclusive {
		return verdict
	}
	fmt.Fprintln(a.stderr, "opbench: INCONCLUSIVE counts as passed (--inconclusive=pass): exit code 0 in place of 11; the data decided nothing")
	return nil
}
