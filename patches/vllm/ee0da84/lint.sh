#!/usr/bin/env bash
# Checks all Python of this folder with ruff and mypy, in the versions and with
# the rules of vLLM's own pre-commit hooks.
#
#   lint.sh VLLM_CPU_DIR TREES
#
# VLLM_CPU_DIR is made by cpu/install.sh; TREES holds one tree per revision, as
# test.sh makes them. uv fetches the two tools once.
set -euo pipefail

ruff=0.14.0 mypy=1.20.2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
vllm=$(cd "$1" && pwd) trees=$(cd "$2" && pwd)
python="$vllm/venv/bin/python"
uv=$(command -v uv || echo "$vllm/tools/bin/uv")

run_ruff() {
	"$uv" tool run --quiet --from "ruff==$ruff" ruff "$@"
}

check_style() {
	local bad=0
	run_ruff check --isolated --no-cache --target-version py310 \
		--select E,F,UP,B,ISC,SIM,I,G --ignore F405,F403,E731,B905,B007,UP032 \
		--config 'lint.isort.known-first-party=["vllm"]' "$@" || bad=1
	run_ruff format --isolated --no-cache --target-version py310 --diff "$@" || bad=1
	return $bad
}

# Only what is in these files is checked: to follow the imports into torch takes
# minutes and gigabytes.
check_types() {
	"$uv" tool run --quiet --python "$python" --from "mypy==$mypy" mypy \
		--python-executable "$python" --cache-dir /dev/null --config-file= \
		--follow-imports skip --ignore-missing-imports --check-untyped-defs "$@"
}

# The files that a revision adds.
added() {
	"$python" - "$1" <<-'PY'
	import json, sys
	for file in json.load(open(sys.argv[1] + "/meta.json"))["files"]:
	    if set(file["pre"]) == {"0"}:
	        print(file["path"])
	PY
}

failed=0
for folder in "$here"/*/; do
	folder=${folder%/}
	name=$(basename "$folder")
	[ -f "$folder/meta.json" ] || continue
	echo "-- $name"
	mapfile -t files < <(added "$folder")
	cd "$trees/$name"
	check_style "${files[@]}" || failed=1
	check_types "${files[@]}" || failed=1
done

cd "$here"
for folder in bench cpu differential faults loader; do
	echo "-- $folder"
	check_style "$folder"/*.py || failed=1
	MYPYPATH="$here/differential" check_types "$folder"/*.py || failed=1
done
exit $failed
