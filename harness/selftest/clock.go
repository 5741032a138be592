package selftest

import (
	"time"

	"golang.org/x/sys/unix"
)

// HostTime reads the host's monotonic clock, in ns since some start that all
// processes of the host share (CLOCK_MONOTONIC). Times of a server and of a
// client on one host can be subtracted.
func HostTime() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0 // no Linux kernel refuses this clock; match would find the zeros
	}
	return ts.Nano()
}

// origin is one moment on two clocks: the one by which the client stamps, which
// counts from a time.Time, and the host's.
type origin struct {
	client time.Time
	host   int64
	// within bounds the error of the pair, in ns: the moment was between two
	// readings of the host's clock that are 2 within apart.
	within int64
}

// readOrigin takes the tightest of some tries: a preemption between the
// readings widens only its own.
func readOrigin() origin {
	var best origin
	for i := range 50 {
		before := HostTime()
		now := time.Now()
		after := HostTime()
		within := (after-before)/2 + 1
		if i == 0 || within < best.within {
			best = origin{client: now, host: before + (after-before)/2, within: within}
		}
	}
	return best
}

// cpuSeconds is the user and system time of this process so far.
func cpuSeconds() float64 {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0 // only a wrong argument makes it fail
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
