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
	"strconv"
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
	sum, err := steps.Summarize(results.Folder(r.dir), r.stepOptions())
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

func (r *run) stepOptions() steps.Options {
	opt := steps.Options{TensorParallel: 1}
	for _, ph := range r.record.Phases {
		if ph.TimedStartNS > 0 {
			opt.Phases = append(opt.Phases, steps.Phase{Name: ph.Name, StartNS: ph.TimedStartNS, EndNS: ph.TimedEndNS})
		}
	}
	if n, err := strconv.Atoi(r.plan.Scenario.Engine.Args["tensor-parallel-size"]); err == nil {
		opt.TensorParallel = n
	}
	if r.record.Failure == "" {
		opt.Client = clientTokens(r.requests)
	}
	return opt
}

// clientTokens is what all requests sent to the server explain. Where the
// server did not say how many prompt tokens were cached, none were: with prefix
// caching on that is INVALID by a rule of its own.
func clientTokens(requests []results.Request) *steps.ClientTokens {
	var t steps.ClientTokens
	for i := range requests {
		q := &requests[i]
		if !q.OK() {
			return nil // a failed request leaves unknown work behind
		}
		t.Prefill += int64(q.PromptTokens - max(0, q.CachedTokens))
		t.Decode += int64(q.OutputTokens - 1)
	}
	return &t
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
