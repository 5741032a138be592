// Package words has the words of messages: hints, quotes, choices.
package words

import (
	"strconv"
	"strings"
)

// Suggest returns a hint: the closest of the options, or all of them.
func Suggest(word string, options []string) string {
	best, distance := "", 3
	for _, o := range options {
		if d := edits(Short(word), o); d < distance && d < len(o) {
			best, distance = o, d
		}
	}
	if best != "" {
		return "; did you mean " + best + "?"
	}
	return "; known: " + strings.Join(options, ", ")
}

// edits counts the single-letter changes between two words (Levenshtein).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Short cuts what a message repeats of the file.
func Short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Quote puts a shortened text in quotation marks.
func Quote(text string) string { return strconv.Quote(Short(text)) }

// OneOf writes a choice as a sentence does: a, b or c.
func OneOf[S ~string](options []S) string {
	texts := make([]string, len(options))
	for i, o := range options {
		texts[i] = string(o)
	}
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}
