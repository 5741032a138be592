package scenarios

import (
	"strconv"
	"strings"
)

// suggest returns a hint: the closest of the options, or all of them.
func suggest(word string, options []string) string {
	best, distance := "", 3
	for _, o := range options {
		if d := edits(short(word), o); d < distance && d < len(o) {
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

// short cuts what a message repeats of the file.
func short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func quote(text string) string { return strconv.Quote(short(text)) }

// oneOf writes a choice as a sentence does: a, b or c.
func oneOf[S ~string](options []S) string {
	texts := each(options, func(o S) string { return string(o) })
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// each is what a function makes of every member of a list.
func each[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, x := range list {
		all[i] = of(x)
	}
	return all
}
