package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aituner/opprof/scenarios"
)

// visibleVariable names the GPUs that a process may use.
const visibleVariable = "CUDA_VISIBLE_DEVICES"

// NamedGPUs are the devices that a scenario's servers are confined to, over all
// arms: indices or UUIDs of CUDA_VISIBLE_DEVICES as the arm, the engine or the
// inherited environment has it. None if an arm is not confined.
func NamedGPUs(s *scenarios.Scenario, environ []string) []string {
	var all []string
	for _, a := range s.Arms {
		value := lookup(environ, visibleVariable)
		if v, set := s.ArmEnv(a)[visibleVariable]; set {
			value = v
		}
		names := devices(value)
		if len(names) == 0 {
			return nil
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// devices splits a list as CUDA does: what follows an invalid index is not
// visible.
func devices(list string) []string {
	var out []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.HasPrefix(name, "-") {
			break
		}
		out = append(out, name)
	}
	return out
}

// lookup is the last value of a variable in an environment, as the kernel's
// consumers read it.
func lookup(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if v, found := strings.CutPrefix(kv, name+"="); found {
			value = v
		}
	}
	return value
}

// wanted is one lock file and how it is taken (flock(2)).
type wanted struct {
	path string
	how  int
}

// locksFor: a campaign that names its GPUs shares the host with campaigns on
// others; one that does not has the host to itself.
func locksFor(dir string, gpus []string) []wanted {
	host := filepath.Join(dir, "lock")
	if len(gpus) == 0 {
		return []wanted{{host, syscall.LOCK_EX}}
	}
	out := []wanted{{host, syscall.LOCK_SH}}
	for _, g := range gpus { // sorted: two campaigns never wait for each other
		out = append(out, wanted{filepath.Join(dir, "lock-gpu-"+fileName(g)), syscall.LOCK_EX})
	}
	return out
}

// fileName keeps letters, digits and hyphens of a device's name.
func fileName(device string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-':
			return r
		}
		return '_'
	}, device)
}

// locks are held until they are closed or the process ends.
type locks []*os.File

// lockHost takes the locks of a campaign: two on one GPU, or on one host without
// named GPUs, would measure each other.
func lockHost(dir string, gpus []string) (locks, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("lock host: %w", err)
	}
	var held locks
	for _, w := range locksFor(dir, gpus) {
		f, err := os.OpenFile(w.path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock host: %w", err), held.Close())
		}
		held = append(held, f)
		got, err := take(f, w.how)
		if err == nil && !got {
			err = fmt.Errorf("another campaign runs here (%s): wait for it or end it", holderOf(f, w))
		}
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		sign(f, w)
	}
	return held, nil
}

// take tries for a tenth of a second: Holder takes each lock for a moment.
func take(f *os.File, how int) (bool, error) {
	var err error
	for range 5 {
		if err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err == nil {
			return true, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, nil
}

// sign tells others who holds a lock; it is only for messages. A shared lock has
// no one holder.
func sign(f *os.File, w wanted) {
	_ = f.Truncate(0)
	if w.how == syscall.LOCK_EX {
		_, _ = fmt.Fprintf(f, "process %d\n", os.Getpid())
	}
}

func holderOf(f *os.File, w wanted) string {
	buf := make([]byte, 64)
	n, _ := f.ReadAt(buf, 0)
	if who := strings.TrimSpace(string(buf[:n])); who != "" {
		return fmt.Sprintf("%s holds %s", who, w.path)
	}
	return "a campaign holds " + w.path
}

// Close lets go of the locks.
func (l locks) Close() error {
	var errs []error
	for _, f := range l {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Holder says who keeps a campaign on these GPUs from starting, or "".
func Holder(dir string, gpus []string) (string, error) {
	for _, w := range locksFor(dir, gpus) {
		f, err := os.Open(w.path)
		if errors.Is(err, os.ErrNotExist) {
			continue // nobody has ever locked it
		}
		if err != nil {
			return "", fmt.Errorf("look at the lock: %w", err)
		}
		free, err := take(f, w.how)
		who := holderOf(f, w)
		f.Close() // lets go of it
		if err != nil || !free {
			return who, err
		}
	}
	return "", nil
}

// confined is the folder of trees and the import path for a set of GPUs:
// campaigns at the same time must not switch each other's package.
func confined(dir string, gpus []string) string {
	if len(gpus) == 0 {
		return dir
	}
	return filepath.Join(dir, "gpu-"+fileName(strings.Join(gpus, "-")))
}
