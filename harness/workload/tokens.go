package workload

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/aituner/opprof/scenarios"
)

// cacheBlock is vLLM's default KV cache block: two prompts that differ within
// one block share no cached block.
const cacheBlock = 16

// drawer fills prompts with token ids from [low, high).
type drawer struct {
	rng       *rand.Rand
	low, high int
}

// sharing says which prompts begin with the same tokens.
type sharing struct {
	groups, tokens int
	group          []int // of each prompt; nil: all are in the first
	// repeats lets prompts below one cache block be equal: a trace may have more
	// of them than there are token ids, and no cached block comes of it.
	repeats bool
}

// share draws the groups of a phase's prompts. The warm-up meets each group;
// the timed groups do not depend on the number of warm-up requests.
func share(phase scenarios.Phase) sharing {
	s, warm := phase.Source, phase.Warmup.Requests
	if s.PrefixGroups.Count == 0 {
		return sharing{groups: 1, tokens: s.SharedPrefix}
	}
	rng := stream(s.Seed, phase.Name, "prefix groups")
	all := sharing{groups: s.PrefixGroups.Count, tokens: s.PrefixGroups.Tokens, group: make([]int, warm+s.Requests)}
	for i := range all.group {
		if i < warm {
			all.group[i] = i % all.groups
		} else {
			all.group[i] = rng.IntN(all.groups)
		}
	}
	return all
}

func (s sharing) of(prompt int) int {
	if s.group == nil {
		return 0
	}
	return s.group[prompt]
}

// fillAll fills all prompts: first the tokens that their group shares, then ids
// that make every prompt differ from all earlier ones within one cache block.
func (d drawer) fillAll(prompts [][]int, s sharing) error {
	if d.low < 0 || d.high <= d.low {
		return fmt.Errorf("vocabulary [%d, %d) holds no token id", d.low, d.high)
	}
	beginnings := make([][]int, s.groups)
	seen := make(map[string]bool, len(prompts))
	for i := range beginnings {
		beginnings[i] = make([]int, s.tokens)
		if !d.distinct(beginnings[i], seen) {
			return fmt.Errorf("prefix group %d: no unused beginning of %d tokens found in the vocabulary [%d, %d): use longer ones",
				i, s.tokens, d.low, d.high)
		}
	}
	clear(seen)
	for i, prompt := range prompts {
		copy(prompt, beginnings[s.of(i)])
		own := prompt[s.tokens:]
		if s.repeats && len(own) < cacheBlock {
			d.fill(own)
			continue
		}
		if !d.distinct(own, seen) {
			return fmt.Errorf("request %d: no unused prompt of %d tokens found in the vocabulary [%d, %d): use longer prompts",
				i, len(own), d.low, d.high)
		}
	}
	return nil
}

// distinct fills ids so that their first block was not seen before, and gives
// up after many tries.
func (d drawer) distinct(ids []int, seen map[string]bool) bool {
	for range 1000 {
		d.fill(ids)
		key := blockKey(ids)
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
