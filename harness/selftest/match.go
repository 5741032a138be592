package selftest

import (
	"errors"
	"fmt"

	"github.com/aituner/opprof/results"
)

// pair is one request as both sides saw it: times in ns on the host's clock,
// from the origin.
type pair struct {
	request  *results.Request
	received int64
	first    int64 // write of the first and of the last chunk
	last     int64
}

// match finds the truth of every request that succeeded, and checks that the
// two can be true together: a wrong pairing, a clock that is not shared or a
// server that tells tales breaks one of the rules. A request that failed needs
// no truth.
func match(sent []results.Request, truth []Served, o origin) ([]pair, error) {
	served, err := byTag(truth)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for i := range sent {
		r := &sent[i]
		t, found := served[r.Index]
		delete(served, r.Index)
		switch {
		case !r.OK():
			continue
		case !found:
			return nil, fmt.Errorf("request %d: the server has no truth for it", r.Index)
		}
		if err := plausible(r, t, o); err != nil {
			return nil, fmt.Errorf("request %d: %w", r.Index, err)
		}
		pairs = append(pairs, pair{r, t.ReceivedNS - o.host, t.WriteNS[0] - o.host, t.WriteNS[len(t.WriteNS)-1] - o.host})
	}
	for tag := range served {
		return nil, fmt.Errorf("the server tells of request %d, which was not sent", tag)
	}
	return pairs, nil
}

func byTag(truth []Served) (map[int]*Served, error) {
	served := make(map[int]*Served, len(truth))
	for i := range truth {
		t := &truth[i]
		switch {
		case t.Tag < 0:
			return nil, errors.New("the server tells of a request without tag: another client uses it")
		case served[t.Tag] != nil:
			return nil, fmt.Errorf("request %d: the server has two truths for it", t.Tag)
		}
		served[t.Tag] = t
	}
	return served, nil
}

// plausible checks one request against its truth. What happened later must not
// have the earlier time, beyond the error of the origin.
func plausible(r *results.Request, t *Served, o origin) error {
	switch {
	case t.Aborted:
		return errors.New("the client has all of it, the server says that it was cut")
	case len(t.WriteNS) != r.Chunks || len(t.WriteNS) == 0:
		return fmt.Errorf("the server wrote %d chunks, the client read %d", len(t.WriteNS), r.Chunks)
	}
	if early := o.host + r.SentNS - t.ReceivedNS; early > o.within {
		return fmt.Errorf("it was received %d ns before it was sent", early)
	}
	before := t.ReceivedNS
	for i, at := range t.WriteNS {
		if at < before {
			return fmt.Errorf("the server's times run backwards by %d ns at chunk %d", before-at, i)
		}
		before = at
	}
	return readAfterWritten(r, t, o)
}

func readAfterWritten(r *results.Request, t *Served, o origin) error {
	for _, chunk := range []struct {
		name    string
		read    int64
		written int64
	}{{"first", r.FirstNS, t.WriteNS[0]}, {"last", r.LastNS, t.WriteNS[len(t.WriteNS)-1]}} {
		if early := chunk.written - (o.host + chunk.read); early > o.within {
			return fmt.Errorf("the %s chunk was read %d ns before it was written", chunk.name, early)
		}
	}
	return nil
}
