package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Handler speaks vLLM's HTTP interface: POST /v1/completions, GET /health,
// /version, /v1/models and /metrics. Run must be running for completions.
func (e *Engine) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", e.serveCompletions)
	mux.HandleFunc("GET /health", e.serveHealth)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": "simulated"})
	})
	mux.HandleFunc("GET /v1/models", e.serveModels)
	mux.HandleFunc("GET /metrics", e.serveMetrics)
	return mux
}

func (e *Engine) serveHealth(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-e.stopped:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

func (e *Engine) serveModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data": []map[string]any{{
			"id": e.cfg.Model, "object": "model", "created": e.born.Unix(),
			"owned_by": "simulated engine", "root": e.cfg.Model, "parent": nil,
			"max_model_len": e.cfg.MaxModelLen,
		}},
	})
}

// serveMetrics gives the counters and gauges that the harness reads, under
// vLLM's names.
func (e *Engine) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if e.faults.has(faultSilentMetrics) {
		e.hang(r)
	}
	e.mu.Lock()
	t, running, waiting := e.totals, len(e.sched.running), len(e.sched.waiting)
	used := e.cfg.KVBlocks - e.sched.kv.unused.Len()
	e.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	put := func(kind, name, about, labels string, v float64) {
		fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s %[3]s\n%[1]s{engine=\"0\",model_name=%[4]q%[5]s} %[6]v\n",
			name, about, kind, e.cfg.Model, labels, v)
	}
	put("gauge", "vllm:num_requests_running", "Simulated engine: requests in the batch.", "", float64(running))
	put("gauge", "vllm:num_requests_waiting", "Simulated engine: requests in the queue.", "", float64(waiting))
	put("gauge", "vllm:kv_cache_usage_perc", "Simulated engine: share of KV blocks in use.", "", float64(used)/float64(e.cfg.KVBlocks))
	put("gauge", "vllm:cache_config_info", "Simulated engine: size of the KV cache.", fmt.Sprintf(`,num_gpu_blocks="%d"`, e.cfg.KVBlocks), 1)
	put("counter", "vllm:num_preemptions_total", "Simulated engine: evicted requests.", "", float64(t.preemptions))
	put("counter", "vllm:prefix_cache_queries_total", "Simulated engine: tokens looked up.", "", float64(t.queries))
	put("counter", "vllm:prefix_cache_hits_total", "Simulated engine: tokens found.", "", float64(t.hits))
	put("counter", "vllm:prompt_tokens_total", "Simulated engine: prompt tokens of finished requests.", "", float64(t.prompt))
	put("counter", "vllm:generation_tokens_total", "Simulated engine: output tokens.", "", float64(t.output))
	put("counter", "vllm:request_success_total", "Simulated engine: finished requests.", `,finished_reason="length"`, float64(t.finished))
}

// apiError is an error as vLLM answers it.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

func (e *apiError) body() map[string]*apiError { return map[string]*apiError{"error": e} }

func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Param = &param
	}
	return e
}

func internalError(message string) *apiError {
	return &apiError{Message: message, Type: "InternalServerError", Code: http.StatusInternalServerError}
}

// writeJSON answers with v. An error here is a client that has gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
