package engine

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aituner/opprof/scenarios"
)

// modeVariable makes this test binary a server under test.
const modeVariable = "ENGINE_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveForTest(mode)
		return
	}
	os.Exit(m.Run())
}

func argument(name string) string {
	if i := slices.Index(os.Args, name); i >= 0 && i+1 < len(os.Args) {
		return os.Args[i+1]
	}
	return ""
}

// serveForTest is the smallest server that the harness accepts, with faults.
func serveForTest(mode string) {
	switch mode {
	case "die":
		fmt.Println("ERROR no such model")
		os.Exit(3)
	case "silent":
		time.Sleep(time.Minute)
		return
	case "stubborn":
		signal.Ignore(syscall.SIGINT)
	case "stubborn-child":
		signal.Ignore(syscall.SIGINT)
		child := exec.Command("/proc/self/exe")
		child.Env = append(os.Environ(), modeVariable+"=silent")
		if child.Start() != nil {
			os.Exit(4)
		}
		signal.Reset(syscall.SIGINT)
	case "busy":
		go func() {
			for sum := 0; ; sum++ {
				if sum < 0 {
					return
				}
			}
		}()
	}
	fmt.Println("server starts")
	nonce := argument("--served-model-name")
	http.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[{"id":%q}]}`, nonce)
	})
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total{engine=\"0\"} 2\nvllm:num_preemptions_total{engine=\"1\"} 3\n")
	})
	l, err := reuseportListener("127.0.0.1:" + argument("--port"))
	if err != nil {
		fmt.Println(err)
		os.Exit(5)
	}
	_ = http.Serve(l, nil)
}

// reuseportListener listens as vLLM does: another process may share the port.
func reuseportListener(addr string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		ctlErr := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if ctlErr != nil {
			return ctlErr
		}
		return err
	}}
	return lc.Listen(context.Background(), "tcp", addr)
}

// testEngine starts this binary as the server.
func testEngine(t *testing.T, mode string) *simEngine {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return &simEngine{Config{Self: self, Environ: append(os.Environ(), modeVariable+"="+mode),
		ReadyTimeout: 20 * time.Second, StopTimeout: 5 * time.Second}}
}

func testSpec(t *testing.T) Spec {
	t.Helper()
	return Spec{RunDir: t.TempDir(), Nonce: "opbench-" + t.Name(), Arm: scenarios.Arm{Name: "off", Patch: "none"}}
}

// start starts a server and ends it with the test.
func start(t *testing.T, e *simEngine, spec Spec) *process {
	t.Helper()
	s, err := e.Start(context.Background(), spec)
	require.NoError(t, err)
	p := s.(*process)
	t.Cleanup(func() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) })
	return p
}
