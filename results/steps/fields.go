package steps

import (
	"fmt"
	"slices"
	"strings"
)

// field reads one named field of T.
type field[T any] struct {
	name string
	read func(c *cursor, dst *T) error
}

// object lists the fields of T in the order in which the recorder writes them.
// All are required; at most 64.
type object[T any] []field[T]

func (o object[T]) read(c *cursor, dst *T) error {
	var seen uint64
	next := 0
	err := c.members(func(key []byte) error {
		i := o.find(key, next)
		if i < 0 {
			return c.unknown(key, 0)
		}
		if seen&(1<<i) != 0 {
			return c.wrong("duplicate field %q", o[i].name)
		}
		seen |= 1 << i
		next = i + 1
		if err := o[i].read(c, dst); err != nil {
			return fmt.Errorf("%s: %w", o[i].name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return o.missing(seen)
}

// find tries the expected place first: recorders keep the order.
func (o object[T]) find(key []byte, next int) int {
	if next < len(o) && string(key) == o[next].name {
		return next
	}
	return slices.IndexFunc(o, func(f field[T]) bool { return f.name == string(key) })
}

func (o object[T]) missing(seen uint64) error {
	for i, f := range o {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("field %q is missing", f.name)
		}
	}
	return nil
}

func integer[T any](name string, at func(*T) *int64) field[T] {
	return field[T]{name, func(c *cursor, dst *T) (err error) {
		*at(dst), err = c.integer()
		return err
	}}
}

// constant reads an integer that has only one value.
func constant[T any](name string, want int, at func(*T) *int) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		n, err := c.integer()
		if err == nil && n != int64(want) {
			err = fmt.Errorf("unknown %s %d; this reader knows %d", name, n, want)
		}
		*at(dst) = want
		return err
	}}
}

func float[T any](name string, at func(*T) *float64) field[T] {
	return field[T]{name, func(c *cursor, dst *T) (err error) {
		*at(dst), err = c.float()
		return err
	}}
}

func boolean[T any](name string, at func(*T) *bool) field[T] {
	return field[T]{name, func(c *cursor, dst *T) (err error) {
		*at(dst), err = c.boolean()
		return err
	}}
}

// text keeps the old string where it is equal, to save an allocation per record.
func text[T any](name string, at func(*T) *string) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		s, err := c.str()
		if p := at(dst); err == nil && *p != string(s) {
			*p = string(s)
		}
		return err
	}}
}

func nested[T, V any](name string, of object[V], at func(*T) *V) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error { return of.read(c, at(dst)) }}
}

// nullable reads an object or null.
func nullable[T, V any](name string, of object[V], at func(*T) **V) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		p := at(dst)
		if c.null() {
			*p = nil
			return nil
		}
		if *p == nil {
			*p = new(V)
		}
		return of.read(c, *p)
	}}
}

func onlyNull[T any](name string) field[T] {
	return field[T]{name, func(c *cursor, _ *T) error {
		if !c.null() {
			return c.wrong("must be null")
		}
		return nil
	}}
}

// histogram reads an array with exactly as many bins as there are edges, plus
// one.
func histogram[T any](name string, at func(*T) []int64) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		bins, n := at(dst), 0
		err := c.elements(func() error {
			x, err := c.integer()
			if n < len(bins) {
				bins[n] = x
			}
			n++
			return err
		})
		if err == nil && n != len(bins) {
			err = fmt.Errorf("%d bins, want %d", n, len(bins))
		}
		return err
	}}
}

// edges reads histogram edges; schema 1 fixes them.
func edges[T any](name string, want []int64, at func(*T) *[]int64) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		var got []int64
		err := c.elements(func() error {
			x, err := c.integer()
			got = append(got, x)
			return err
		})
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("edges %v, want %v", got, want)
		}
		*at(dst) = got
		return err
	}}
}

func texts[T any](name string, at func(*T) *map[string]string) field[T] {
	return field[T]{name, func(c *cursor, dst *T) error {
		m := map[string]string{}
		*at(dst) = m
		return c.members(func(key []byte) error {
			k := string(key)
			v, err := c.str()
			m[k] = string(v)
			return err
		})
	}}
}

// privateWords are parts of a field name that point at single requests.
var privateWords = []string{"id", "ids", "uuid", "lengths", "lens", "prompt", "prompts", "text", "texts"}

// looksPrivate reports whether an unknown field may carry request ids or raw
// lengths, which Layer 1 must never serialise: by its name, or because it is a
// list that is no histogram.
func looksPrivate(key string, list bool) bool {
	if list && !strings.HasSuffix(key, "_hist") {
		return true
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(key), "_"), func(word string) bool {
		return slices.Contains(privateWords, word)
	})
}
