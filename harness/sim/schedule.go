package sim

import (
	"slices"
	"time"
)

// request is one completion inside the engine. Everything but the events
// belongs to the engine's lock.
type request struct {
	id      string
	prompt  []int
	hash    uint64   // its output tokens
	hashes  []uint64 // its full prompt blocks
	arrived time.Time
	limit   int // output tokens it will get
	output  int // output tokens so far
	done    int // tokens whose KV is computed
	peak    int // the most that were computed before an eviction
	failAt  int // fault: ends with an error after so many tokens, 0: does not
	cached  int // prompt tokens taken from the cache at first admission
	blocks  []*block
	evicted bool // preempted and not yet admitted again
	chunked bool // the last step that it was in left its prefill incomplete
	seen    bool // admitted before
	gone    bool // finished or aborted
	events  chan event
}

// event is what a step tells the handler of a request.
type event struct {
	token  int
	last   bool
	cached int
	failed bool // no token: the request ends with an error
}

// tokens is how many tokens have to be computed before the next one comes.
func (r *request) tokens() int { return len(r.prompt) + r.output }

// share is the part of a step that one request gets.
type share struct {
	req     *request
	before  int // tokens computed before
	tokens  int // tokens computed in this step
	prefill bool
	begun   bool // prefill: an earlier chunk precedes this one
	ends    bool // reaches the end of what is known: a token follows
	resumed bool // admitted again, or still computing what an eviction lost
	again   int  // tokens that had been computed before an eviction
}

// prefixDelta counts what the prefix cache was asked in one step.
type prefixDelta struct {
	requests, queries, hits                      int64
	preemptedRequests, preemptedQueries, preHits int64
}

// step is one scheduler iteration.
type step struct {
	index       int64
	submit      time.Time
	ready       time.Time
	shares      []share
	preemptions int
	running     int
	waiting     int
	freeBlocks  int
	prefix      prefixDelta
}

// scheduler follows vLLM's: running requests first, in order of admission, then
// waiting ones while the budget, the slots and the KV blocks last. A running
// request that finds no block evicts the one admitted last.
type scheduler struct {
	maxSeqs   int
	maxTokens int
	kv        *kvCache
	running   []*request
	waiting   []*request
	evictOne  bool // fault: the next step evicts the request admitted last
}

// enqueue keeps the order of arrival. Requests of the same instant, which only a
// virtual clock has, are ordered by content, not by which goroutine ran first.
func (s *scheduler) enqueue(r *request) {
	i := len(s.waiting)
	for i > 0 && s.waiting[i-1].arrived.Equal(r.arrived) && s.waiting[i-1].hash > r.hash {
		i--
	}
	s.waiting = slices.Insert(s.waiting, i, r)
}

func (s *scheduler) schedule() *step {
	st := &step{}
	if s.evictOne && len(s.running) > 0 {
		s.evict(st)
	}
	budget := s.scheduleRunning(st, s.maxTokens)
	if st.preemptions == 0 {
		s.admit(st, budget)
	}
	st.running, st.waiting = len(s.running), len(s.waiting)
	st.freeBlocks = s.kv.unused.Len()
	return st
}

func (s *scheduler) scheduleRunning(st *step, budget int) int {
	for i := 0; i < len(s.running) && budget > 0; i++ {
		r := s.running[i]
		n := min(r.tokens()-r.done, budget)
		if !s.makeRoom(st, r, n) {
			break
		}
		budget -= s.give(st, r, n, false)
	}
	return budget
}

// makeRoom evicts from the end of the batch until r fits; false: r itself had
// to go. The evicted ones come after r, so none has a share in this step yet.
func (s *scheduler) makeRoom(st *step, r *request, n int) bool {
	for !s.kv.grow(r, nil, r.done+n) {
		if s.evict(st) == r {
			return false
		}
	}
	return true
}

// evict puts the request that was admitted last back to the head of the queue.
func (s *scheduler) evict(st *step) *request {
	last := s.running[len(s.running)-1]
	s.running = s.running[:len(s.running)-1]
	s.kv.release(last)
	last.peak = max(last.peak, last.done)
	last.done, last.chunked, last.evicted = 0, false, true
	s.waiting = slices.Insert(s.waiting, 0, last)
	st.preemptions++
	return last
}

func (s *scheduler) admit(st *step, budget int) {
	for len(s.waiting) > 0 && budget > 0 && len(s.running) < s.maxSeqs {
		r := s.waiting[0]
		hits := s.kv.lookup(r.hashes, r.tokens())
		found := len(hits) * s.kv.size
		s.countLookup(st, r, found)
		n := min(r.tokens()-found, budget)
		if !s.kv.grow(r, hits, found+n) {
			return
		}
		s.waiting = s.waiting[1:]
		s.running = append(s.running, r)
		r.done = found
		if !r.seen {
			r.seen, r.cached = true, found
		}
		budget -= s.give(st, r, n, r.evicted)
		r.evicted = false
	}
}

// countLookup counts every look, also one that is not followed by admission,
// as the pinned vLLM does.
func (s *scheduler) countLookup(st *step, r *request, found int) {
	switch p := &st.prefix; {
	case !s.kv.caching:
	case r.evicted:
		p.preemptedRequests++
		p.preemptedQueries += int64(r.tokens())
		p.preHits += int64(found)
	default:
		p.requests++
		p.queries += int64(r.tokens())
		p.hits += int64(found)
	}
}

func (s *scheduler) give(st *step, r *request, n int, resumed bool) int {
	sh := share{
		req: r, before: r.done, tokens: n, again: max(0, min(n, r.peak-r.done)),
		// vLLM counts a request with output as decoding, even one that
		// computes its whole beginning again.
		prefill: r.output == 0, begun: r.chunked, ends: r.done+n == r.tokens(),
	}
	sh.resumed = resumed || sh.again > 0
	r.done += n
	r.chunked = !sh.ends
	st.shares = append(st.shares, sh)
	return n
}

// remove takes a request out, wherever it is.
func (s *scheduler) remove(r *request) {
	same := func(other *request) bool { return other == r }
	s.running = slices.DeleteFunc(s.running, same)
	s.waiting = slices.DeleteFunc(s.waiting, same)
	s.kv.release(r)
}
