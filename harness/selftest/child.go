package selftest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Child is a step server in a process of its own.
type Child struct {
	Address string // host:port
	cmd     *exec.Cmd
	stdin   io.Closer
}

// listening is what a step server prints first, followed by its address.
const listening = "step server on "

// Announce writes the line by which StartServer learns the address.
func Announce(w io.Writer, address string) error {
	_, err := fmt.Fprintf(w, "%s%s\n", listening, address)
	return err
}

// StartServer starts a command that serves and announces itself. The child must
// end when its standard input does: so it goes with this process, however that
// ends.
func StartServer(argv []string, environ []string, stderr io.Writer) (*Child, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = environ, stderr, stopTimeout
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start step server: %w", err)
	}
	c := &Child{cmd: cmd, stdin: stdin}
	kill := time.AfterFunc(startTimeout, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), listening)
	if err != nil || !found {
		return nil, errors.Join(fmt.Errorf("start step server: %s announced %q, no address", argv[0], line), c.Stop())
	}
	c.Address = address
	return c, nil
}

// How long a child may take to announce itself, and to end.
const (
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// Stop ends the child. The error says how it ended if that was not well.
func (c *Child) Stop() error {
	c.stdin.Close()
	kill := time.AfterFunc(stopTimeout, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("step server: %w", err)
	}
	return nil
}
