// Package sim is a simulated engine: it behaves like vLLM's continuous batching
// and speaks the part of vLLM's HTTP interface that the harness uses. It is the
// default engine of the embedded scenarios, a positive control and the fault
// bench. It proves nothing about vLLM, and whatever shows its numbers says
// "simulated engine".
//
// A step is scheduled, lasts base + per-decode·requests + per-prefill·tokens,
// and ends with one burst: every request that reached the end of what it has to
// compute gets one token, in one server-sent event of its own.
//
// Only the standard time functions are used, so the same engine runs in real
// time and, inside testing/synctest with connections in memory, on a virtual clock.
package sim
