package results

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// Cause is why a run does not count, as the ledger keeps it.
type Cause struct {
	Rule string `json:"rule,omitempty"` // of package validity, in kebab-case
	// Arm is that of the run; in the entry of a run, which has it, it is empty.
	Arm     string `json:"arm,omitempty"`
	Message string `json:"message"`
}

// String is the rule and the message.
func (c Cause) String() string {
	if c.Rule == "" {
		return c.Message
	}
	return c.Rule + ": " + c.Message
}

// UnmarshalJSON also reads the text "rule: message" of the first ledgers.
func (c *Cause) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = Cause{Message: text}
		if rule, message, found := strings.Cut(text, ": "); found {
			c.Rule, c.Message = rule, message
		}
		return nil
	}
	type plain Cause // without this method
	return json.Unmarshal(data, (*plain)(c))
}

// Lengths of a message that was shortened: what it is about stands at its
// beginning, what a log or a server said last at its end.
const (
	briefHead = 160
	briefTail = 240
)

// Brief is the message in one printable line, without its middle if it is long.
func (c Cause) Brief() string {
	line := []rune(strings.Join(strings.Fields(strings.Map(printable, c.Message)), " "))
	if len(line) <= briefHead+briefTail {
		return string(line)
	}
	return strings.TrimSpace(string(line[:briefHead])) + " … " + strings.TrimSpace(string(line[len(line)-briefTail:]))
}

// printable keeps line ends, which become spaces, and drops what moves a cursor.
func printable(r rune) rune {
	if unicode.IsControl(r) && !unicode.IsSpace(r) {
		return unicode.ReplacementChar
	}
	return r
}

// numbered is a word with a digit in it, or the number of a status, which is part of
// the reason: status 503 is not status 500.
var numbered = regexp.MustCompile(`(?i)\b(status|code|errno)\W{0,3}\d+|\w*\d\w*`)

// Kin is what messages of one cause have in common: not the numbers of a run, such
// as ports, process ids, names of servers and counts, and of several lines, which are
// the end of a log, only the first and the last.
func (c Cause) Kin() string {
	lines := strings.Split(strings.TrimSpace(c.Message), "\n")
	ends := lines[0]
	if last := len(lines) - 1; last > 0 {
		ends += "\n" + lines[last]
	}
	return numbered.ReplaceAllStringFunc(ends, func(s string) string {
		if numbered.FindStringSubmatch(s)[1] != "" {
			return s
		}
		return "#"
	})
}
