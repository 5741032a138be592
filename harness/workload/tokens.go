package workload

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// cacheBlock is vLLM's default KV cache block: two prompts that differ within
// one block share no cached block.
const cacheBlock = 16

// drawer fills prompts with token ids from [low, high).
type drawer struct {
	rng       *rand.Rand
	low, high int
}

// prompts fills all prompts: first the shared prefix, then ids that make every
// prompt differ from all earlier ones within one cache block.
func (d drawer) prompts(requests []Request, shared int) error {
	if d.low < 0 || d.high <= d.low {
		return fmt.Errorf("vocabulary [%d, %d) holds no token id", d.low, d.high)
	}
	prefix := make([]int, shared)
	d.fill(prefix)
	seen := make(map[string]bool, len(requests))
	for i := range requests {
		prompt := requests[i].Prompt
		copy(prompt, prefix)
		if !d.distinct(prompt[shared:], seen) {
			return fmt.Errorf("request %d: no unused prompt of %d tokens found in the vocabulary [%d, %d): use longer prompts",
				i, len(prompt)-shared, d.low, d.high)
		}
	}
	return nil
}

// distinct fills one prompt so that its first block was not seen before, and
// gives up after many tries.
func (d drawer) distinct(prompt []int, seen map[string]bool) bool {
	for range 1000 {
		d.fill(prompt)
		key := blockKey(prompt)
		if !seen[key] {
			seen[key] = true
			return true
		}
	}
	return false
}

func (d drawer) fill(ids []int) {
	for i := range ids {
		ids[i] = d.low + d.rng.IntN(d.high-d.low)
	}
}

func blockKey(prompt []int) string {
	var key []byte
	for _, id := range prompt[:min(len(prompt), cacheBlock)] {
		key = binary.AppendUvarint(key, uint64(id))
	}
	return string(key)
}
