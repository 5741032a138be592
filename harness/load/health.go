package load

import (
	"runtime/debug"
	"slices"
	"time"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/metrics"
)

// probePeriod is the period of the probe timer.
const probePeriod = 5 * time.Millisecond

// probe measures how late a timer fires in this process, as a sign of how late
// a ready socket read returns.
type probe struct {
	origin  time.Time
	samples []lateness
	quit    chan struct{}
	done    chan struct{}
}

// lateness of one tick: when it was due and by how much it was missed, ns.
type lateness struct{ due, late int64 }

func startProbe(origin time.Time) *probe {
	p := &probe{origin: origin, quit: make(chan struct{}), done: make(chan struct{})}
	go p.run()
	return p
}

func (p *probe) run() {
	defer close(p.done)
	timer := time.NewTimer(probePeriod)
	defer timer.Stop()
	for {
		timer.Reset(probePeriod)
		due := time.Since(p.origin) + probePeriod
		select {
		case <-p.quit:
			return
		case <-timer.C:
			late := time.Since(p.origin) - due
			p.samples = append(p.samples, lateness{int64(due), int64(late)})
		}
	}
}

// stop ends the probe and returns its samples.
func (p *probe) stop() []lateness {
	close(p.quit)
	<-p.done
	return p.samples
}

// probeHealth sums up the samples that were due within one of the bounds.
func probeHealth(samples []lateness, within []metrics.Window, health *results.ClientHealth) {
	var late []float64
	sum := 0.0
	for _, s := range samples {
		if slices.ContainsFunc(within, func(w metrics.Window) bool { return s.due >= w.First && s.due <= w.End }) {
			seconds := float64(s.late) / 1e9
			late = append(late, seconds)
			sum += seconds
		}
	}
	health.Probes = len(late)
	if len(late) == 0 {
		return
	}
	slices.Sort(late)
	health.ProbeLagMean = sum / float64(len(late))
	health.ProbeLagP99 = metrics.Quantile(late, 0.99)
	health.ProbeLagMax = late[len(late)-1]
}

// gcPauses are the collector's totals since the process started.
type gcPauses struct {
	cycles int64
	paused time.Duration
}

func readGC() gcPauses {
	var s debug.GCStats
	debug.ReadGCStats(&s)
	return gcPauses{cycles: s.NumGC, paused: s.PauseTotal}
}
