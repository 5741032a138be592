package post

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// A comment of ours ends in one hidden line that says whose it is and how new.
const (
	markBegin = "<!-- opprof-bench:v1 "
	markEnd   = " -->"
	// markRoom is what a comment keeps free for its mark, in bytes.
	markRoom = 2_000
)

// mark is the content of the hidden line. JSON as Go writes it holds no < and >,
// so it can't end the line early.
type mark struct {
	Key   string `json:"key"`
	Order Order  `json:"order"`
	SHA   string `json:"sha,omitempty"`
	Plan  string `json:"plan,omitempty"`
	Body  string `json:"body,omitempty"` // digest of everything before the mark
}

// seal is the hidden line for a body.
func (m mark) seal(body string) string {
	sum := sha256.Sum256([]byte(body))
	m.Body = hex.EncodeToString(sum[:8])
	m.Order.End = m.Order.End.UTC().Truncate(1e9)
	text, _ := json.Marshal(m) // strings, numbers and a time: it can't fail
	return "\n" + markBegin + string(text) + markEnd + "\n"
}

// readMark finds the mark of a comment: its last line and nothing else, because
// a report may quote anything before it.
func readMark(comment string) (m mark, ok bool) {
	comment = strings.TrimRight(comment, " \r\n\t")
	last := comment[strings.LastIndexByte(comment, '\n')+1:]
	text, begins := strings.CutPrefix(last, markBegin)
	text, ends := strings.CutSuffix(text, markEnd)
	if !begins || !ends || json.Unmarshal([]byte(text), &m) != nil {
		return mark{}, false
	}
	return m, m.Key != "" && m.Body != ""
}
