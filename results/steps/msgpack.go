package steps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// unpacker reads the few msgpack types that a packed record is made of. Every
// length is checked against what is left, so damaged data cannot make it
// allocate or loop for long.
type unpacker struct {
	data []byte
	at   int
}

var errCut = errors.New("the data end inside a value")

// take returns the next n bytes.
func (u *unpacker) take(n int) ([]byte, error) {
	if n > len(u.data)-u.at {
		return nil, errCut
	}
	u.at += n
	return u.data[u.at-n : u.at], nil
}

func (u *unpacker) kind() (byte, error) {
	b, err := u.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// null reports whether the next value is nil, and skips it then.
func (u *unpacker) null() bool {
	if u.at < len(u.data) && u.data[u.at] == 0xc0 {
		u.at++
		return true
	}
	return false
}

// integer reads a number of any width.
func (u *unpacker) integer() (int64, error) {
	kind, err := u.kind()
	switch {
	case err != nil:
		return 0, err
	case kind < 0x80 || kind >= 0xe0:
		return int64(int8(kind)), nil
	case kind < 0xcc || kind > 0xd3:
		return 0, fmt.Errorf("byte %#x is no integer", kind)
	}
	b, err := u.take(1 << ((kind - 0xcc) % 4))
	if err != nil {
		return 0, err
	}
	return widen(b, kind >= 0xd0)
}

// widen is the value of a big-endian number of 1, 2, 4 or 8 bytes.
func widen(b []byte, signed bool) (int64, error) {
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	if signed {
		shift := 64 - 8*len(b)
		return int64(n<<shift) >> shift, nil
	}
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("%d is too large", n)
	}
	return int64(n), nil
}

func (u *unpacker) text() (string, error) {
	kind, err := u.kind()
	if err != nil {
		return "", err
	}
	length := int(kind & 0x1f)
	switch {
	case kind == 0xd9:
		b, err := u.take(1)
		if err != nil {
			return "", err
		}
		length = int(b[0])
	case kind&0xe0 != 0xa0:
		return "", fmt.Errorf("byte %#x is no short string", kind)
	}
	b, err := u.take(length)
	return string(b), err
}

// array reads the head of an array and returns how many elements follow.
func (u *unpacker) array() (int, error) {
	kind, err := u.kind()
	if err != nil {
		return 0, err
	}
	n := int64(kind & 0x0f)
	switch {
	case kind == 0xdc || kind == 0xdd:
		b, err := u.take(2 << (kind - 0xdc))
		if err != nil {
			return 0, err
		}
		n, _ = widen(append(make([]byte, 4-len(b), 4), b...), false)
	case kind&0xf0 != 0x90:
		return 0, fmt.Errorf("byte %#x is no array", kind)
	}
	if n > int64(len(u.data)-u.at) {
		return 0, errCut
	}
	return int(n), nil
}

// arrayOf reads the head of an array that must have n elements.
func (u *unpacker) arrayOf(n int) error {
	got, err := u.array()
	if err == nil && got != n {
		err = fmt.Errorf("an array of %d elements, want %d", got, n)
	}
	return err
}

// integers reads an array of as many numbers as there are destinations.
func (u *unpacker) integers(dst ...*int64) error {
	if err := u.arrayOf(len(dst)); err != nil {
		return err
	}
	return u.each(dst...)
}

// each reads one number into every destination.
func (u *unpacker) each(dst ...*int64) error {
	for _, d := range dst {
		n, err := u.integer()
		if err != nil {
			return err
		}
		*d = n
	}
	return nil
}

// histogram reads an array of as many numbers as there are bins.
func (u *unpacker) histogram(bins []int64) error {
	err := u.arrayOf(len(bins))
	for i := 0; i < len(bins) && err == nil; i++ {
		bins[i], err = u.integer()
	}
	return err
}

// pair is the two numbers in front of every packed record.
func pair(b []byte) (uint32, uint32) {
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
}
