package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aituner/opprof/results"
	"github.com/aituner/opprof/results/steps"
)

// readSteps compresses the step records of the run and checks them against
// themselves and against what the client sent.
func (r *run) readSteps() error {
	entries, err := os.ReadDir(filepath.Join(r.dir, steps.Folder))
	if os.IsNotExist(err) && !r.arm.Records() {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(r.dir, steps.Folder, e.Name())
		if strings.HasSuffix(path, steps.PackedExt) {
			if path, err = unpack(path); err != nil {
				return err
			}
		}
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		if _, err := results.CompressFile(path); err != nil {
			return fmt.Errorf("compress step records: %w", err)
		}
	}
	sum, err := steps.Summarize(results.Folder(r.dir), steps.OptionsOf(&r.plan.Scenario, &r.record, r.requests))
	if err != nil {
		return err
	}
	r.record.Steps = sum
	return nil
}

// unpack replaces a packed step file by its JSON Lines. A damaged one stays as
// it is and fails the check of its format.
func unpack(path string) (string, error) {
	target, _, err := steps.ConvertFile(path, "")
	if damage := (*steps.DamageError)(nil); errors.As(err, &damage) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	return target, os.Remove(path)
}

// summarize digests the token ids of the identity pass.
func summarize(tokens [][]int) *results.Outputs {
	out := &results.Outputs{Prompts: len(tokens)}
	h := sha256.New()
	distinct := map[int]bool{}
	for _, ids := range tokens {
		var b []byte
		for _, id := range append([]int{len(ids)}, ids...) {
			b = binary.BigEndian.AppendUint64(b, uint64(id))
		}
		h.Write(b)
		for _, id := range ids {
			distinct[id] = true
		}
		out.Unequal = out.Unequal || !slices.Equal(ids, tokens[0])
	}
	out.Distinct, out.SHA256 = len(distinct), hex.EncodeToString(h.Sum(nil))
	return out
}
