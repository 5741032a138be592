package view

import (
	"encoding/json"
	"fmt"
	"io"
)

// VerdictSchema is the version of verdict.json. Version 2 has the reason of a
// result apart from its verdict, and the points of the plots; "earlier" in a report
// still reads version 1.
const VerdictSchema = 2

// WriteJSON writes a document, such as a View, as indented JSON.
func WriteJSON[T any](w io.Writer, document T) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

// Read reads a verdict.json of this version, as WriteJSON writes it: every
// rendering of the view is that of the campaign. Texts of results are made again.
func Read(r io.Reader) (*View, error) {
	v := &View{}
	dec := json.NewDecoder(r)
	if err := dec.Decode(v); err != nil {
		return nil, fmt.Errorf("read a verdict: %w", err)
	}
	if v.Kind != "verdict" || v.Schema != VerdictSchema {
		return nil, fmt.Errorf("read a verdict: kind %q of schema %d, want kind verdict of schema %d", Clean(v.Kind), v.Schema, VerdictSchema)
	}
	v.Text = v.Headline()
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		c.Text = c.Result.String()
		for j := range c.Phases {
			for k := range c.Phases[j].Metrics {
				m := &c.Phases[j].Metrics[k]
				m.Text = m.Result.String()
			}
		}
	}
	return v, nil
}
