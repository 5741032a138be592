// Command plain is the reference among the peers: what anyone would write with
// net/http, a goroutine per stream, a buffered scanner and encoding/json. It
// prints its own TTFT and TPOT quantiles in ms as JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	url     = flag.String("url", "http://127.0.0.1:8000", "server")
	model   = flag.String("model", "opbench-selftest", "model name")
	streams = flag.Int("streams", 64, "requests in flight")
	total   = flag.Int("requests", 320, "requests in all")
	tokens  = flag.Int("tokens", 64, "output tokens of a request")
)

type sample struct{ ttft, tpot float64 } // ms

func main() {
	flag.Parse()
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = *streams
	var next, failed atomic.Int64
	samples := make([]*sample, *total)
	var work sync.WaitGroup
	for range *streams {
		work.Go(func() {
			for k := next.Add(1) - 1; k < int64(*total); k = next.Add(1) - 1 {
				s, err := ask(int(k))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed.Add(1)
					continue
				}
				samples[k] = s
			}
		})
	}
	work.Wait()
	samples = slices.DeleteFunc(samples, func(s *sample) bool { return s == nil })
	out := map[string]any{"version": runtime.Version(), "completed": len(samples), "failed": failed.Load()}
	out["ttft"] = quantiles(samples, func(s *sample) float64 { return s.ttft })
	out["tpot"] = quantiles(samples, func(s *sample) float64 { return s.tpot })
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		os.Exit(1)
	}
}

// ask sends one request and times its chunks.
func ask(k int) (*sample, error) {
	prompt := make([]int, 32)
	prompt[0], prompt[1], prompt[2] = k>>16, k>>8&255, k&255
	body, err := json.Marshal(map[string]any{
		"model": *model, "prompt": prompt, "max_tokens": *tokens, "temperature": 0, "ignore_eos": true, "return_token_ids": true,
		"stream": true, "stream_options": map[string]any{"include_usage": true},
	})
	if err != nil {
		return nil, err
	}
	sent := time.Now()
	resp, err := http.Post(*url+"/v1/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	var first, last time.Time
	got := 0
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		now := time.Now()
		var chunk struct {
			Choices []struct {
				TokenIDs []int `json:"token_ids"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return nil, err
		}
		for _, c := range chunk.Choices {
			if got == 0 {
				first = now
			}
			got, last = got+len(c.TokenIDs), now
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if got != *tokens {
		return nil, fmt.Errorf("%d tokens, not %d", got, *tokens)
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	return &sample{ttft: ms(first.Sub(sent)), tpot: ms(last.Sub(first)) / float64(got-1)}, nil
}

// quantiles interpolates p50 and p95 as numpy does by default.
func quantiles(samples []*sample, of func(*sample) float64) [2]float64 {
	if len(samples) == 0 {
		return [2]float64{}
	}
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	at := func(p float64) float64 {
		h := p * float64(len(values)-1)
		low := int(h)
		high := min(low+1, len(values)-1)
		return values[low] + (h-float64(low))*(values[high]-values[low])
	}
	return [2]float64{at(0.5), at(0.95)}
}
