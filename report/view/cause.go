package view

import (
	"fmt"
	"strings"

	"github.com/aituner/opprof/results"
)

// Cause is why runs do not count, told once for all of them. What speaks against a
// run that counts is a finding of its comparison.
type Cause struct {
	Names []Reason `json:"names"` // the rules that it broke
	// Detail is in the words of the first run; other runs may have other numbers.
	Detail string   `json:"detail"`
	Runs   []string `json:"runs"` // block/arm or block.attempt/arm, in running order
	Arms   []string `json:"arms"`
	Differ bool     `json:"numbers_differ,omitempty"` // between the runs
	// Told: a finding of a comparison says it, so that no list repeats it.
	Told bool `json:"told,omitempty"`
}

// Line is the cause with its rules, what was seen, how often and where.
func (c *Cause) Line() string { return c.Rules() + ": " + c.Claim() }

// Rules names the rules that it broke.
func (c *Cause) Rules() string { return Names(c.Names) }

// Claim is what was seen, how often and where, shortened if it is long.
func (c *Cause) Claim() string {
	return strings.TrimSuffix(c.brief(), ".") + " (" + c.Place() + ")"
}

// listed reports whether a full list of causes has more to say than the finding
// that tells it.
func (c *Cause) listed() bool { return !c.Told || c.brief() != Clean(c.Detail) }

// ListedCauses are those for a full list.
func (v *View) ListedCauses() []*Cause {
	var list []*Cause
	for i := range v.Causes {
		if v.Causes[i].listed() {
			list = append(list, &v.Causes[i])
		}
	}
	return list
}

func (c *Cause) brief() string { return results.Cause{Message: Clean(c.Detail)}.Brief() }

// Place says how often and where: 6 attempts of 2 arms.
func (c *Cause) Place() string {
	if len(c.Runs) == 1 {
		return c.Runs[0]
	}
	of := fmt.Sprintf("%d arms", len(c.Arms))
	if len(c.Arms) == 1 {
		of = c.Arms[0]
	}
	place := fmt.Sprintf("%d attempts of %s", len(c.Runs), of)
	if c.Differ {
		return "first of " + place
	}
	return place
}

// Names lists reasons.
func Names(list []Reason) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
