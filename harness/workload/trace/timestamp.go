package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"time"
)

// number is a JSON number that is not negative, short enough for exact
// arithmetic: an exponent of any size would be a number of any size.
var number = regexp.MustCompile(`^[0-9]{1,19}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$`)

// timestamp turns a JSON number into a time, exactly: as a float a time since
// the epoch would be off by 100 ns and more. Parts of a nanosecond are cut off.
func timestamp(raw json.RawMessage, unit time.Duration) (time.Duration, error) {
	if raw == nil {
		return 0, errors.New("timestamp is missing")
	}
	if unit <= 0 {
		return 0, errors.New("timestamp: what it counts is not declared")
	}
	if !number.Match(raw) {
		return 0, fmt.Errorf("timestamp: want a number of at least 0, got %.40q", raw)
	}
	// The pattern is a subset of what SetString takes.
	exact, _ := new(big.Rat).SetString(string(raw))
	exact.Mul(exact, new(big.Rat).SetInt64(int64(unit)))
	whole := new(big.Int).Quo(exact.Num(), exact.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("timestamp: %s times %v is beyond 292 years", raw, unit)
	}
	return time.Duration(whole.Int64()), nil
}
