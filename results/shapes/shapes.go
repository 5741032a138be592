// Package shapes says what the requests of a phase ask of a server, apart from what
// is in them.
package shapes

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/aituner/opprof/results"
)

// Shape is what a request asks of a server, without its content: two runs that send
// the same shapes give it the same work.
type Shape struct {
	Index  int // place in the phase's workload, warm-up included
	Warmup bool
	Prompt int // tokens
	Want   int // output tokens asked for
}

// Of gives the shapes of a run's requests to a phase, by index. The length of a
// prompt is what the server counted.
func Of(requests []results.Request, phase string) []Shape {
	var list []Shape
	for i := range requests {
		if r := &requests[i]; r.Phase == phase {
			list = append(list, Shape{r.Index, r.Warmup, r.PromptTokens, r.WantTokens})
		}
	}
	slices.SortFunc(list, compare)
	return list
}

func compare(x, y Shape) int {
	return cmp.Or(cmp.Compare(x.Index, y.Index), cmp.Compare(flag(x.Warmup), flag(y.Warmup)),
		cmp.Compare(x.Prompt, y.Prompt), cmp.Compare(x.Want, y.Want))
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// SHA256 is the SHA-256, in hex, of the shapes of a phase as a multiset. The
// canonical bytes are, with every integer as 8 bytes big endian: their number, then
// of each, by ascending index, the index, 1 for warm-up or 0, the tokens of the
// prompt, and the output tokens asked for.
func SHA256(shapes []Shape) string {
	b := binary.BigEndian.AppendUint64([]byte("opbench shape 1\x00"), uint64(len(shapes)))
	for _, s := range slices.SortedFunc(slices.Values(shapes), compare) {
		for _, n := range []int{s.Index, flag(s.Warmup), s.Prompt, s.Want} {
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
