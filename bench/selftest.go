package bench

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness/selftest"
	"github.com/aituner/opprof/report/view"
)

// selftestModel is what the step server calls itself.
const selftestModel = "opbench-selftest"

// selftestFlags are those of opbench selftest.
type selftestFlags struct {
	series        selftest.Series
	attach        string // address of a step server that runs already
	noPin, asJSON bool
}

func (a *app) selftestCommand() *cobra.Command {
	var f selftestFlags
	c := &cobra.Command{
		Use: "selftest", Short: "Measure this client against a server whose write times are known",
		Long: `selftest starts a step server in a process of its own, which writes one chunk to
every live stream in one burst per step and remembers when, and prints how far
the client's TTFT and TPOT are from that truth, by number of streams. With two
cores or more each of the two processes gets one core. Exit code 12 if a request
failed. harness/selftest/README.md says how to read it.`,
		Example: "opbench selftest --streams 1,64,256", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return a.selftest(f) },
	}
	fl := c.Flags()
	fl.IntSliceVar(&f.series.Streams, "streams", []int{1, 64, 256, 1000, 2000}, "numbers of streams to measure")
	fl.DurationVar(&f.series.Trial.Step, "step", 10*time.Millisecond, "time from burst to burst")
	fl.IntVar(&f.series.Trial.PerStream, "requests-per-stream", 5, "timed requests of each stream; one more warms up")
	fl.IntVar(&f.series.Trial.Tokens, "tokens", 64, "output tokens of a request")
	fl.BoolVar(&f.series.Trial.Together, "together", false, "start all streams at once, so that they stay in step: the hardest case")
	fl.IntVar(&f.series.ServerCPU, "server-cpu", -1, "core of the step server (default: the first one allowed)")
	fl.IntVar(&f.series.ClientCPU, "client-cpu", -1, "core of the client (default: the second one allowed)")
	fl.BoolVar(&f.noPin, "no-pin", false, "let both use any core")
	fl.StringVar(&f.attach, "attach", "", "host:port of a step server that runs already, with the same step")
	fl.BoolVar(&f.asJSON, "json", false, "print the measurement as JSON")
	c.AddCommand(a.selftestServeCommand())
	return c
}

func (a *app) selftest(f selftestFlags) error {
	if err := f.series.Check(); err != nil {
		return usageError(err)
	}
	if f.noPin {
		f.series.ServerCPU, f.series.ClientCPU = -1, -1
	} else if err := f.series.ChooseCPUs(f.attach != ""); err != nil {
		return infrastructureError(err)
	}
	ctx, cancel := a.interruptible()
	defer cancel()
	address, stop, err := a.stepServer(f)
	if err != nil {
		return infrastructureError(err)
	}
	report, err := a.measure(ctx, address, f)
	stopped := stop()
	switch {
	case ctx.Err() != nil:
		return withCode(exitStopped, context.Cause(ctx))
	case err != nil:
		return infrastructureError(err)
	case stopped != nil:
		return infrastructureError(stopped)
	case report.Failed() > 0:
		return invalidf("%s failed: the numbers of their rows are not to be trusted", view.Plural(report.Failed(), "request", "requests"))
	}
	return nil
}

// stepServer starts the server, or takes the one that was named.
func (a *app) stepServer(f selftestFlags) (address string, stop func() error, err error) {
	if f.attach != "" {
		return f.attach, func() error { return nil }, nil
	}
	server, err := selftest.StartServer([]string{a.self, "selftest", "serve", "--port", "0",
		"--step", f.series.Trial.Step.String(), "--cpu", strconv.Itoa(f.series.ServerCPU)}, a.environ, a.stderr)
	if err != nil {
		return "", nil, err
	}
	return server.Address, server.Stop, nil
}

// measure prints a row as soon as it is there, or the JSON document at the end.
func (a *app) measure(ctx context.Context, address string, f selftestFlags) (*selftest.Report, error) {
	text := a.stdout
	if f.asJSON {
		text = io.Discard
	}
	r, err := f.series.Measure(ctx, address, selftestModel, a.build.Version, text)
	if err != nil || !f.asJSON {
		return r, err
	}
	return r, a.printJSON(r)
}
