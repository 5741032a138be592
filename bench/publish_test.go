package bench

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// What was left out is said, and that other neighbours gave another verdict: who
// publishes would otherwise commit what he has never seen.
func TestPublishSaysWhatChanged(t *testing.T) {
	var out, log bytes.Buffer
	a := &app{stdout: &out, stderr: &log}
	packed := &results.Packed{Files: 9, Size: 3 << 19, Thinned: []string{"0001/on/steps/a.jsonl.zst"}}
	target := filepath.Join("published", "x")
	pass := &view.View{Finished: true, Result: view.NewResult(stat.Pass, ""), Sentence: "s"}
	a.sayPublished(target, packed, pass, pass)
	assert.Equal(t, target+"  9 files, 1.5 MiB\nleft out  0001/on/steps/a.jsonl.zst\nPASS  s\n", out.String())
	assert.Empty(t, log.String())
	a.sayPublished(target, packed, pass, &view.View{Finished: true, Result: view.NewResult(stat.Inconclusive, "")})
	assert.Contains(t, log.String(), "beside the campaigns of published the verdict is INCONCLUSIVE, where it was measured it is PASS")
}
