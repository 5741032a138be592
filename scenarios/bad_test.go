package scenarios

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// A badCase changes a good scenario in one place; want is the whole error.
type badCase struct{ name, from, to, want string }

func TestBad(t *testing.T) {
	for _, group := range []struct {
		text  string
		cases []badCase
	}{{good, badValues}, {good, badRules}, {served, badServed}, {attached, badAttached}} {
		s, err := Load("s", []byte(group.text), known)
		require.NoError(t, err)
		require.NotNil(t, s)
		for _, c := range group.cases {
			s, err := Load("s", []byte(replace(t, group.text, c.from, c.to)), known)
			assert.Nil(t, s, c.name)
			assert.EqualError(t, err, c.want, c.name)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "s:1:1: the file is empty: a scenario needs at least scenario, engine, arms, phases and design"},
		{"comment", "# nothing\n", "s:1:1: the file is empty: a scenario needs at least scenario, engine, arms, phases and design"},
		{"null document", "---\n", "s:2:1: want a mapping of keys such as scenario and engine"},
		{"text", "scenario", "s:1:1: want a mapping of keys such as scenario and engine"},
		{"not UTF-8", "scenario: x\nabout: \u00e9\xff", "s:2:9: not UTF-8: save the file in UTF-8"},
		{"UTF-16", "\xff\xfes\x00", "s:1:1: not UTF-8: save the file in UTF-8"},
		{"control character", "a: \x01", "s:1:1: not YAML: control characters are not allowed"},
		{"huge", strings.Repeat(" ", maxSize+1), "s:1:1: larger than 1 MiB: this is no scenario"},
		{"deep", strings.Repeat("[", maxSize), "s:1:1: not YAML: exceeded max depth of 10000"},
	} {
		s, err := Load("s", []byte(c.text), known)
		assert.Nil(t, s, c.name)
		assert.EqualError(t, err, c.want, c.name)
	}
}

func TestByteOrderMark(t *testing.T) {
	_, err := Load("s", []byte("\ufeff"+good), known)
	assert.NoError(t, err)
}

func TestTypedErrors(t *testing.T) {
	_, err := Load("s", []byte(replace(t, good, "streams: 2", "streams: two")), known)
	var problems Errors
	require.True(t, errors.As(err, &problems))
	assert.Equal(t, Errors{{
		File: "s", Line: 12, Column: 38, Path: "phases[0].arrival.streams",
		Message: `want a whole number from 1 to 100000, got text "two"`,
	}}, problems)
}

// Patches that nobody declared are unknown, even with an empty list.
func TestNoKnownPatches(t *testing.T) {
	_, err := Load("s", []byte(served), Known{})
	assert.ErrorContains(t, err, `unknown patch revision "r1-seed"; known: none`)
}

// A long text of the file is cut in messages.
func TestLongTextIsCut(t *testing.T) {
	_, err := Load("s", []byte(replace(t, good, "purpose: overhead", "purpose: "+strings.Repeat("ä", 5000))), known)
	assert.ErrorContains(t, err, `"`+strings.Repeat("ä", 60)+`…"`)
}

func FuzzLoad(f *testing.F) {
	for _, text := range []string{good, served, attached, "", "---\n...\n---\n", "{a: &x [*x]}", "? [a]\n: b"} {
		f.Add([]byte(text))
	}
	for _, name := range Bundled() {
		text, err := Open(name)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, c := range badValues {
		f.Add([]byte(strings.Replace(good, c.from, c.to, 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Load("s", text, known)
		if err != nil {
			checkProblems(t, s, err)
			return
		}
		require.GreaterOrEqual(t, len(s.Arms), 2)
		require.NotEmpty(t, s.Phases)
		decoder := yaml.NewDecoder(strings.NewReader(string(text)))
		require.NoError(t, decoder.Decode(new(yaml.Node)))
		require.Error(t, decoder.Decode(new(yaml.Node)), "a second document was accepted")
		_, err = Load("s", append(text[:len(text):len(text)], "\n---\na: 1\n"...), known)
		require.Error(t, err, "an added document was accepted")
	})
}

// checkProblems holds what is true of every refusal: a list, in the file's
// order, with positions inside a file.
func checkProblems(t *testing.T, s *Scenario, err error) {
	require.Nil(t, s)
	var problems Errors
	require.ErrorAs(t, err, &problems)
	require.NotEmpty(t, problems)
	line := 1
	for _, p := range problems {
		require.GreaterOrEqual(t, p.Line, line)
		require.GreaterOrEqual(t, p.Column, 1)
		require.NotEmpty(t, p.Message)
		line = p.Line
	}
}
