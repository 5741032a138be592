package steps

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// maxDepth bounds nested values in unknown fields.
const maxDepth = 32

// cursor reads one line of JSON from left to right, strictly and without
// building a tree. encoding/json can neither report missing fields nor keep
// its allocations per record small.
type cursor struct {
	line    []byte
	at      int
	private string // first unknown key that looks like an id or raw lengths
}

func (c *cursor) wrong(format string, args ...any) error {
	return fmt.Errorf("column %d: %s", c.at+1, fmt.Sprintf(format, args...))
}

// peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.at < len(c.line); c.at++ {
		switch b := c.line[c.at]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// done reports whether only white space is left.
func (c *cursor) done() bool {
	c.peek()
	return c.at == len(c.line)
}

func (c *cursor) accept(b byte) bool {
	if c.peek() != b || c.at == len(c.line) {
		return false
	}
	c.at++
	return true
}

func (c *cursor) expect(b byte) error {
	if c.accept(b) {
		return nil
	}
	if c.at == len(c.line) {
		return c.wrong("the line ends where %q is expected", b)
	}
	return c.wrong("%q where %q is expected", c.line[c.at], b)
}

// members visits the keys of an object; visit consumes the value.
func (c *cursor) members(visit func(key []byte) error) error {
	if err := c.expect('{'); err != nil {
		return err
	}
	if c.accept('}') {
		return nil
	}
	for {
		key, err := c.str()
		if err == nil {
			err = c.expect(':')
		}
		if err == nil {
			err = visit(key)
		}
		if err != nil || c.accept('}') {
			return err
		}
		if err := c.expect(','); err != nil {
			return err
		}
	}
}

// elements visits the elements of an array; visit consumes the value.
func (c *cursor) elements(visit func() error) error {
	if err := c.expect('['); err != nil {
		return err
	}
	if c.accept(']') {
		return nil
	}
	for {
		if err := visit(); err != nil || c.accept(']') {
			return err
		}
		if err := c.expect(','); err != nil {
			return err
		}
	}
}

// str returns the bytes of a string: a part of the line unless it has escapes.
func (c *cursor) str() ([]byte, error) {
	if err := c.expect('"'); err != nil {
		return nil, err
	}
	start, escaped := c.at, false
	for ; c.at < len(c.line); c.at++ {
		switch b := c.line[c.at]; {
		case b == '"':
			c.at++
			if escaped {
				return c.unescape(start - 1)
			}
			return c.line[start : c.at-1], nil
		case b == '\\':
			escaped = true
			c.at++ // what follows is part of the escape, even a quote
		case b < ' ':
			return nil, c.wrong("control character in a string")
		}
	}
	c.at = len(c.line)
	return nil, c.wrong("the line ends inside a string")
}

func (c *cursor) unescape(start int) ([]byte, error) {
	var s string
	if err := json.Unmarshal(c.line[start:c.at], &s); err != nil {
		return nil, c.wrong("bad string: %v", err)
	}
	return []byte(s), nil
}

// number returns the text of a JSON number.
func (c *cursor) number() ([]byte, error) {
	c.peek()
	start := c.at
	c.literal('-')
	if !c.literal('0') && c.digits() == 0 {
		return nil, c.wrong("a number is expected")
	}
	if c.literal('.') && c.digits() == 0 {
		return nil, c.wrong("digits are expected after the point")
	}
	if c.literal('e') || c.literal('E') {
		if !c.literal('+') {
			c.literal('-')
		}
		if c.digits() == 0 {
			return nil, c.wrong("digits are expected in the exponent")
		}
	}
	return c.line[start:c.at], nil
}

func (c *cursor) literal(b byte) bool {
	if c.at < len(c.line) && c.line[c.at] == b {
		c.at++
		return true
	}
	return false
}

func (c *cursor) digits() int {
	start := c.at
	for c.at < len(c.line) && c.line[c.at]-'0' <= 9 {
		c.at++
	}
	return c.at - start
}

// integer reads an int64 exactly: nanoseconds since the epoch do not fit into
// a float64.
func (c *cursor) integer() (int64, error) {
	if n, ok := c.plain(); ok {
		return n, nil
	}
	text, err := c.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, c.wrong("%s is not a 64-bit integer", text)
	}
	return n, nil
}

// plain reads what nearly all integers are: digits without a sign, a point or
// an exponent behind them. Else it consumes nothing.
func (c *cursor) plain() (int64, bool) {
	c.peek()
	n, end := unsigned(c.line, c.at)
	if end == c.at || end < len(c.line) && (c.line[end] == '.' || c.line[end] == 'e' || c.line[end] == 'E') {
		return 0, false
	}
	c.at = end
	return n, true
}

// unsigned reads an int64 without a sign and without leading zeros at
// line[at:] and returns where it ends: at, if there is none.
func unsigned(line []byte, at int) (n int64, end int) {
	sum := uint64(0)
	for end = at; end < len(line) && line[end]-'0' <= 9; end++ {
		sum = sum*10 + uint64(line[end]-'0')
	}
	// 19 digits can't overflow the sum.
	if digits := end - at; digits > 19 || sum > math.MaxInt64 || digits > 1 && line[at] == '0' {
		return 0, at
	}
	return int64(sum), end
}

func (c *cursor) float() (float64, error) {
	text, err := c.number()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, c.wrong("%s is not a 64-bit float", text)
	}
	return x, nil
}

func (c *cursor) boolean() (bool, error) {
	switch {
	case c.word("true"):
		return true, nil
	case c.word("false"):
		return false, nil
	}
	return false, c.wrong("true or false is expected")
}

func (c *cursor) null() bool { return c.word("null") }

func (c *cursor) word(w string) bool {
	c.peek()
	if len(c.line)-c.at < len(w) || string(c.line[c.at:c.at+len(w)]) != w {
		return false
	}
	c.at += len(w)
	return true
}

// unknown consumes the value of a field that schema 1 does not name.
func (c *cursor) unknown(key []byte, depth int) error {
	if c.private == "" && looksPrivate(string(key), c.peek() == '[') {
		c.private = string(key)
	}
	return c.skip(depth)
}

func (c *cursor) skip(depth int) error {
	if depth > maxDepth {
		return c.wrong("more than %d nested values", maxDepth)
	}
	var err error
	switch c.peek() {
	case '{':
		err = c.members(func(key []byte) error { return c.unknown(key, depth+1) })
	case '[':
		err = c.elements(func() error { return c.skip(depth + 1) })
	case '"':
		_, err = c.str()
	case 't', 'f':
		_, err = c.boolean()
	case 'n':
		if !c.null() {
			err = c.wrong("null is expected")
		}
	default:
		_, err = c.number()
	}
	return err
}
