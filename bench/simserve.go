package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness/sim"
	"github.com/aituner/opprof/scenarios"
)

func (a *app) simServeCommand() *cobra.Command {
	cfg := sim.DefaultConfig()
	var faults sim.Faults
	var host string
	var port int
	c := &cobra.Command{
		Use: "serve", Short: "Serve vLLM's completions API from a simulated engine",
		Example: "opbench sim serve --port 8000 --step-base 12ms --fault stall=2s@100", Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
			if err != nil {
				return infrastructuref("simulated engine: %w", err)
			}
			cfg.RecordDir = a.variable(scenarios.RecorderVariable)
			cfg.Log, cfg.Exit = a.stderr, a.quit
			return a.serveSim(l, cfg, faults)
		},
	}
	c.Flags().StringVar(&host, "host", "127.0.0.1", "address to listen on")
	c.Flags().IntVar(&port, "port", 8000, "port to listen on, 0 for a free one")
	cfg.Flags(c.Flags())
	faults.Flags(c.Flags())
	return c
}

// serveSim serves until the first signal, then ends the open streams and
// flushes the step records, as vLLM does.
func (a *app) serveSim(l net.Listener, cfg sim.Config, faults sim.Faults) error {
	eng, err := sim.New(cfg, faults)
	if err != nil {
		l.Close()
		return usageError(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for range a.signals {
			if !faults.IgnoreSIGINT() {
				cancel()
			}
		}
	}()
	srv := &http.Server{Handler: eng.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: faults.IdleTimeout()}
	go srv.Serve(l)
	fmt.Fprintf(a.stderr, "simulated engine on %s\n", l.Addr())
	err = eng.Run(ctx)
	shutdown, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if srv.Shutdown(shutdown) != nil {
		srv.Close()
	}
	if err = errors.Join(err, eng.Close()); errors.Is(err, os.ErrClosed) {
		return nil
	}
	return infrastructureError(err)
}
