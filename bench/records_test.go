package bench

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/aituner/opprof/results/steps"
)

// writeRecords leaves step files for scripts: good.jsonl and damaged copies.
func writeRecords(dir string) error {
	var b bytes.Buffer
	w, err := steps.NewWriter(&b, steps.Header{Revision: "r1-seed", VLLM: "0.24.0", Commit: "ee0da84", Runner: "v1",
		Blobs: map[string]string{"vllm/envs.py": "ab"}, MaxNumSeqs: 8, MaxNumBatchedTokens: 256, BlockSize: 16,
		EngineID: "dp0-pid7", PID: 7, StartWallNS: 1000, StartMonoNS: 50,
		ContextEdges: steps.ContextEdges, ChunkEdges: steps.ChunkEdges})
	if err != nil {
		return err
	}
	if err := w.Write(prefillStep()); err != nil {
		return err
	}
	if err := w.Write(decodeStep()); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	good := b.Bytes()
	// The footer and half of the last record are gone.
	torn := good[:bytes.LastIndex(good, []byte(`"dropped_records_before"`))]
	wrong := bytes.Replace(good, []byte(`"context_length_hist":[1,`), []byte(`"context_length_hist":[2,`), 1)
	for name, data := range map[string][]byte{"good.jsonl": good, "torn.jsonl": torn, "wrong.jsonl": wrong} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func baseStep(index int64) steps.Record {
	r := steps.Record{StepIndex: index, SubmitWallNS: 2000 + 1000*index, SubmitMonoNS: 100 + 1000*index,
		ReadyMonoNS: 400 + 1000*index, CompleteMonoNS: 500 + 1000*index, ModelExecuted: true, ScheduledRequests: 1}
	r.Queues.Running = 1
	r.KV.TotalBlocks, r.KV.FreeBlocks, r.KV.UsedBlocks, r.KV.Usage = 100, 98, 2, 0.02
	r.Prefix.Local = &steps.Lookups{}
	r.ContextLengthHist[0] = 1
	return r
}

// prefillStep computes a prompt of 20 tokens at once.
func prefillStep() steps.Record {
	r := baseStep(0)
	r.ScheduledTokens, r.PrefillRequests, r.PrefillTokens = 20, 1, 20
	r.ChunkedPrefill.Unsplit, r.ChunkedPrefill.Tokens = 1, 20
	r.ChunkedPrefill.SizeHist[steps.ChunkBin(20)] = 1
	return r
}

// decodeStep computes one token of it.
func decodeStep() steps.Record {
	r := baseStep(1)
	r.ScheduledTokens, r.DecodeBatchSize, r.DecodeTokens = 1, 1, 1
	return r
}
