package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// Hash is the SHA-256, in hex, of all that the phases and the identity pass
// send. The canonical bytes are, with every integer as 8 bytes big endian and
// every string as its length and its bytes:
//
//	string  "opbench workload 1"
//	string  Sampling
//	integer number of lists: the phases in order, then the identity pass
//	per list:
//	  string  phase name ("identity" for the identity pass)
//	  integer 1 if the list has intended times, else 0
//	  integer number of requests
//	  per request:
//	    integer 1 for warm-up, else 0
//	    integer output tokens asked for
//	    integer intended time in ns
//	    integer number of prompt tokens, then each token id; for a text -1,
//	      integer 1 if it is a chat, else 0, and string the JSON
//
// Server, model name, clock and host are not part of it.
func Hash(phases []Workload, identity []Request) string {
	d := digest{sha256.New()}
	d.text("opbench workload 1")
	d.text(Sampling)
	d.number(int64(len(phases) + 1))
	for _, p := range phases {
		d.list(p)
	}
	d.list(Workload{Phase: IdentityPhase, Requests: identity})
	return hex.EncodeToString(d.Sum(nil))
}

type digest struct{ hash.Hash }

func (d digest) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digest) text(s string) {
	d.number(int64(len(s)))
	d.Write([]byte(s))
}

func (d digest) flag(set bool) {
	if set {
		d.number(1)
		return
	}
	d.number(0)
}

func (d digest) list(w Workload) {
	d.text(w.Phase)
	d.flag(w.Open)
	d.number(int64(len(w.Requests)))
	for _, r := range w.Requests {
		d.flag(r.Warmup)
		d.number(int64(r.MaxTokens))
		d.number(int64(r.Offset))
		d.prompt(r)
	}
}

func (d digest) prompt(r Request) {
	if r.Text != "" {
		d.number(-1)
		d.flag(r.Chat)
		d.text(r.Text)
		return
	}
	d.number(int64(len(r.Prompt)))
	for _, id := range r.Prompt {
		d.number(int64(id))
	}
}
