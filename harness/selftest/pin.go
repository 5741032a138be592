package selftest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// CPUs lists the CPUs that this process may use, in rising order.
func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read the CPUs of this process: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// Pin binds every thread of this process, those to come included, to one CPU,
// and lets one of them at a time run Go code: the case of one core.
func Pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if set.Count() != 1 {
		return fmt.Errorf("pin to CPU %d: there is no such CPU", cpu)
	}
	if err := bind(set); err != nil {
		cpus, _ := CPUs()
		return fmt.Errorf("pin to CPU %d: %w (this process may use %v)", cpu, err, cpus)
	}
	runtime.GOMAXPROCS(1)
	return nil
}

// bind sets the CPUs of all threads. A thread that was born of an unbound one
// meanwhile is found in the next round; one that is born of a bound one
// inherits its CPUs.
func bind(set unix.CPUSet) error {
	for range 100 {
		changed, err := bindOnce(set)
		if err != nil || !changed {
			return err
		}
	}
	return errors.New("threads keep leaving it")
}

func bindOnce(set unix.CPUSet) (changed bool, err error) {
	threads, err := threadIDs()
	if err != nil {
		return false, err
	}
	for _, id := range threads {
		var now unix.CPUSet
		err := unix.SchedGetaffinity(id, &now)
		if err == nil && now != set {
			changed = true
			err = unix.SchedSetaffinity(id, &set)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // a thread may have ended
			return false, err
		}
	}
	return changed, nil
}

func threadIDs() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	ids := make([]int, 0, len(entries))
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			return nil, fmt.Errorf("/proc/self/task/%s is not a thread id", e.Name())
		}
		ids = append(ids, id)
	}
	return ids, nil
}
