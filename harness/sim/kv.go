package sim

import "container/list"

// block is one KV block. It lies in the free list iff nobody refers to it, and
// keeps its content there until it is handed out again.
type block struct {
	refs int
	hash uint64 // of the prompt up to this block's end, 0: not reusable
	free *list.Element
}

// kvCache is the block pool of vLLM's KV cache manager, prefix caching
// included. Simplification: only blocks full of prompt tokens are reusable.
type kvCache struct {
	size    int // tokens per block
	total   int
	caching bool
	unused  *list.List // of *block, front is handed out first
	byHash  map[uint64]*block
}

func newKVCache(cfg *Config) *kvCache {
	kv := &kvCache{
		size: cfg.BlockSize, total: cfg.KVBlocks, caching: cfg.EnablePrefixCaching,
		unused: list.New(), byHash: map[uint64]*block{},
	}
	for range cfg.KVBlocks {
		b := &block{}
		b.free = kv.unused.PushBack(b)
	}
	return kv
}

func (kv *kvCache) blocksFor(tokens int) int { return (tokens + kv.size - 1) / kv.size }

// hashes returns the chained hash of every full block of a prompt.
func (kv *kvCache) hashes(prompt []int) []uint64 {
	if !kv.caching {
		return nil
	}
	var out []uint64
	h := uint64(1)
	for i, token := range prompt {
		h = chain(h, token)
		if (i+1)%kv.size == 0 {
			out = append(out, h)
		}
	}
	return out
}

// lookup finds the longest cached beginning of a request. The last token is
// never taken from the cache: it has to be computed to get the next one.
func (kv *kvCache) lookup(hashes []uint64, tokens int) []*block {
	var hits []*block
	for i, h := range hashes {
		b := kv.byHash[h]
		if b == nil || (i+1)*kv.size > tokens-1 {
			break
		}
		hits = append(hits, b)
	}
	return hits
}

// grow makes room for a request's first tokens; hits are cached blocks that a
// request without blocks begins with. It changes nothing if the pool is short.
func (kv *kvCache) grow(r *request, hits []*block, tokens int) bool {
	fresh := kv.blocksFor(tokens) - len(r.blocks) - len(hits)
	idle := 0
	for _, b := range hits {
		if b.refs == 0 {
			idle++
		}
	}
	if fresh > kv.unused.Len()-idle {
		return false
	}
	for _, b := range hits {
		kv.take(b)
	}
	r.blocks = append(r.blocks, hits...)
	for range fresh {
		r.blocks = append(r.blocks, kv.handOut())
	}
	kv.remember(r, tokens)
	return true
}

func (kv *kvCache) take(b *block) {
	if b.free != nil {
		kv.unused.Remove(b.free)
		b.free = nil
	}
	b.refs++
}

func (kv *kvCache) handOut() *block {
	b := kv.unused.Front().Value.(*block)
	if b.hash != 0 {
		delete(kv.byHash, b.hash)
		b.hash = 0
	}
	kv.take(b)
	return b
}

// remember makes the request's full prompt blocks findable.
func (kv *kvCache) remember(r *request, tokens int) {
	for i := range min(len(r.hashes), tokens/kv.size) {
		if h := r.hashes[i]; r.blocks[i].hash == 0 && kv.byHash[h] == nil {
			r.blocks[i].hash = h
			kv.byHash[h] = r.blocks[i]
		}
	}
}

// release gives a request's blocks back, the last one first to be reused.
func (kv *kvCache) release(r *request) {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		b := r.blocks[i]
		if b.refs--; b.refs == 0 {
			b.free = kv.unused.PushBack(b)
		}
	}
	r.blocks = nil
}
