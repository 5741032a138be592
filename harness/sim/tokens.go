package sim

// mix is the finaliser of splitmix64: every input bit moves every output bit.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// chain extends a running hash by one token id.
func chain(h uint64, token int) uint64 { return mix(h ^ mix(uint64(token))) }

func hashTokens(tokens []int) uint64 {
	h := uint64(len(tokens))
	for _, t := range tokens {
		h = chain(h, t)
	}
	return h
}

// voice turns a prompt into output tokens. They depend on the prompt and the
// position alone, so they are equal in every arm and run and under any load,
// like greedy decoding without numerical noise.
type voice struct {
	vocab  int
	faults *Faults
	salt   func() uint64 // one draw per request under nondeterministic-output
}

// open returns the hash that a request's tokens are drawn from.
func (v voice) open(prompt []int) uint64 {
	h := hashTokens(prompt)
	if v.faults.has(faultNondeterministic) {
		h ^= v.salt()
	}
	return h
}

func (v voice) token(hash uint64, position int) int {
	if v.faults.has(faultConstantOutput) {
		return 1
	}
	token := int(mix(hash+uint64(position)) % uint64(v.vocab))
	flip, on := v.faults.set[faultFlipToken]
	if on && int64(position) == flip.n && hash%2 == 0 {
		token = (token + 1) % v.vocab
	}
	return token
}
