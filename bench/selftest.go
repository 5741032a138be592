package bench

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/aituner/opprof/harness/selftest"
	"github.com/aituner/opprof/results"
	"github.com/spf13/cobra"
)

// selftestModel is what the step server calls itself.
const selftestModel = "opbench-selftest"

// selftestFlags are those of opbench selftest.
type selftestFlags struct {
	trial                selftest.Trial // without streams
	streams              []int
	serverCPU, clientCPU int
	attach               string // address of a step server that runs already
	noPin, asJSON        bool
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
	fl.IntSliceVar(&f.streams, "streams", []int{1, 64, 256, 1000, 2000}, "numbers of streams to measure")
	fl.DurationVar(&f.trial.Step, "step", 10*time.Millisecond, "time from burst to burst")
	fl.IntVar(&f.trial.PerStream, "requests-per-stream", 5, "timed requests of each stream; one more warms up")
	fl.IntVar(&f.trial.Tokens, "tokens", 64, "output tokens of a request")
	fl.BoolVar(&f.trial.Together, "together", false, "start all streams at once, so that they stay in step: the hardest case")
	fl.IntVar(&f.serverCPU, "server-cpu", -1, "core of the step server (default: the first one allowed)")
	fl.IntVar(&f.clientCPU, "client-cpu", -1, "core of the client (default: the second one allowed)")
	fl.BoolVar(&f.noPin, "no-pin", false, "let both use any core")
	fl.StringVar(&f.attach, "attach", "", "host:port of a step server that runs already, with the same step")
	fl.BoolVar(&f.asJSON, "json", false, "print the measurement as JSON")
	c.AddCommand(a.selftestServeCommand())
	return c
}

// cores chooses those that were not named. A machine with one core binds
// nothing.
func (f *selftestFlags) cores() error {
	if f.noPin {
		f.serverCPU, f.clientCPU = -1, -1
		return nil
	}
	cpus, err := selftest.CPUs()
	if err != nil || len(cpus) < 2 {
		return err
	}
	if f.serverCPU < 0 && f.attach == "" {
		f.serverCPU = cpus[0]
	}
	if f.clientCPU < 0 {
		f.clientCPU = cpus[1]
	}
	return nil
}

// check finds wrong numbers before anything is started.
func (f *selftestFlags) check() error {
	for _, n := range f.streams {
		f.trial.Streams = n
		if err := f.trial.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) selftest(f selftestFlags) error {
	if err := f.check(); err != nil {
		return usageError(err)
	}
	if err := f.cores(); err != nil {
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
		return invalidf("%d requests failed: the numbers of their rows are not to be trusted", report.Failed())
	}
	return nil
}

// stepServer starts the server, or takes the one that was named.
func (a *app) stepServer(f selftestFlags) (address string, stop func() error, err error) {
	if f.attach != "" {
		return f.attach, func() error { return nil }, nil
	}
	server, err := selftest.StartServer([]string{a.self, "selftest", "serve", "--port", "0",
		"--step", f.trial.Step.String(), "--cpu", strconv.Itoa(f.serverCPU)}, a.environ, a.stderr)
	if err != nil {
		return "", nil, err
	}
	return server.Address, server.Stop, nil
}

// measure goes through the numbers of streams. A row is printed as soon as it is
// there, the JSON document at the end.
func (a *app) measure(ctx context.Context, address string, f selftestFlags) (*selftest.Report, error) {
	r := &selftest.Report{Schema: results.Schema, Kind: "selftest", Version: a.build.Version, StepSeconds: f.trial.Step.Seconds(),
		PromptTokens: selftest.PromptTokens, Tokens: f.trial.Tokens, PerStream: f.trial.PerStream, Together: f.trial.Together,
		ServerCPU: f.serverCPU, ClientCPU: f.clientCPU}
	if f.clientCPU >= 0 {
		if err := selftest.Pin(f.clientCPU); err != nil {
			return r, err
		}
	}
	text := a.stdout
	if f.asJSON {
		text = io.Discard
	}
	if err := r.WriteHead(text); err != nil {
		return r, err
	}
	for _, n := range f.streams {
		f.trial.Streams = n
		p, err := selftest.Measure(ctx, address, selftestModel, f.trial)
		if err != nil {
			return r, err
		}
		r.Points = append(r.Points, p)
		if err := r.WriteRow(text, p); err != nil {
			return r, err
		}
	}
	if !f.asJSON {
		return r, nil
	}
	return r, a.printJSON(r)
}
