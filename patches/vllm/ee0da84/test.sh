#!/usr/bin/env bash
# Runs the recorder's own tests against real vLLM:
#
#   test.sh [VLLM_CPU_DIR]      (default: .vllm-cpu, made by cpu/install.sh)
#
# For every revision that brings tests: build its tree of links and run them
# with the vLLM in it. Beside them all revisions against each other, the loader of
# random weights, start_spread, and ruff and mypy on all of it: one on each core,
# since half of their time is the import. Then, alone because they wait for disks
# and writers, the faults of disk and engine. Run it where bin/opbench is, or set
# OPBENCH.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vllm=$(cd "${1:-.vllm-cpu}" && pwd)
opbench=$(readlink -f "${OPBENCH:-bin/opbench}")
python="$vllm/venv/bin/python"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
. "$here/../../../.ci/step.sh"

work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT
mkdir "$work/trees"
export OPBENCH="$opbench" OPPROF_TREES="$work/trees"
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 TORCHDYNAMO_DISABLE=1 PYTHONDONTWRITEBYTECODE=1
unset VLLM_OPPROF_DIR

# run_tests FOLDER [VARIABLE=VALUE]...: the folder of the tests is named after its
# place in vLLM; pytest must import vllm from PYTHONPATH and nothing from there.
run_tests() {
	local folder=$1
	shift
	(cd "$work" && env "$@" "$python" -m pytest -q -p no:cacheprovider -W ignore --import-mode=importlib "$folder")
}

# beside NAME COMMAND... runs it in the background when a core is free, and shows
# what it says in one piece.
beside() {
	while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do
		wait -n || true
	done
	{
		"${@:2}" >"$work/$1.log" 2>&1 || echo "$1" >>"$work/failed"
		sed "1i -- $1" "$work/$1.log"
	} &
}

step "each revision's own tests, all against each other, the loader, start_spread, ruff and mypy"
for meta in "$here"/*/meta.json; do
	revision=$(basename "$(dirname "$meta")")
	"$opbench" patch tree "$site" --revision "$revision" --out "$work/trees/$revision"
done
beside differential run_tests "$here/differential" PYTHONPATH="$here/differential"
for tree in "$work"/trees/*/; do
	[ ! -d "$tree/tests" ] || beside "$(basename "$tree")" run_tests "$tree/tests" PYTHONPATH="$tree"
done
beside loader run_tests "$here/loader" PYTHONPATH="$here/loader" OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind
beside start_spread run_tests "$here/cpu" PYTHONPATH="$here/cpu"
beside lint "$here/lint.sh" "$vllm" "$work/trees"
wait
[ ! -f "$work/failed" ] || { echo "test.sh: failed:" $(cat "$work/failed") >&2; exit 1; }
step "faults of disk and engine"
run_tests "$here/faults" PYTHONPATH="$here/differential"
step
