package bench

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/harness/selftest"
)

func (a *app) selftestServeCommand() *cobra.Command {
	cfg := selftest.ServerConfig{Model: selftestModel}
	var port, cpu int
	c := &cobra.Command{
		Use: "serve", Short: "Serve bursts until standard input ends or a signal comes", Hidden: true,
		Example: "opbench selftest serve --port 8000 --cpu 0", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if cpu >= 0 {
				if err := selftest.Pin(cpu); err != nil {
					return infrastructureError(err)
				}
			}
			server, err := selftest.NewServer(cfg)
			if err != nil {
				return usageError(err)
			}
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				return infrastructuref("step server: %w", err)
			}
			return a.serveSteps(l, server, c.InOrStdin())
		},
	}
	c.Flags().DurationVar(&cfg.Step, "step", 10*time.Millisecond, "time from burst to burst")
	c.Flags().IntVar(&port, "port", 0, "port on 127.0.0.1, 0 for a free one")
	c.Flags().IntVar(&cpu, "cpu", -1, "core to run on alone, -1 for any")
	return c
}

// serveSteps serves until a signal comes or its parent, which holds the other
// end of its standard input, is gone.
func (a *app) serveSteps(l net.Listener, server *selftest.Server, stdin io.Reader) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-a.signals
		cancel()
	}()
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // its end is all that matters
		cancel()
	}()
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(srv, l)
	defer srv.Close()
	if err := selftest.Announce(a.stdout, l.Addr().String()); err != nil {
		return infrastructureError(err)
	}
	server.Run(ctx)
	return nil
}
