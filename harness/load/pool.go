package load

import "sync"

// pool holds the connections of a run. The one used last is taken first, so
// that the server keeps it alive; a new one is made when none is idle.
type pool struct {
	target Target
	mu     sync.Mutex
	idle   []*link
	all    []*link
}

// open makes a connection that is not dialled yet and is not idle.
func (p *pool) open() *link {
	l := newLink(p.target)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, l)
	return l
}

func (p *pool) take() *link {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		l := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return l
	}
	p.mu.Unlock()
	return p.open()
}

func (p *pool) put(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, l)
}

// stamped is the share of reads whose time is the kernel's, 0 to 1.
func (p *pool) stamped() float64 {
	reads, stamped := 0, 0
	for _, l := range p.all {
		reads, stamped = reads+l.stamp.reads, stamped+l.stamp.stamped
	}
	return float64(stamped) / float64(max(1, reads))
}

// dials counts connections opened, and of these the replacements.
func (p *pool) dials() (all, again int) {
	for _, l := range p.all {
		all, again = all+l.dials, again+l.redial
	}
	return all, again
}
