#!/usr/bin/env bash
# Times the Go reader and Python loops over one generated step file:
#
#   run.sh [DIR [bench_reader.py options...]]     (default: .bench-reader)
#
# DIR gets a venv, the benchmark's binary and the file, 1 GB; it can be deleted
# at any time. Packages come from the index that pip or uv are configured for.
# Run it from the top of the repository, on a machine that does nothing else.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${1:-.bench-reader}
shift $(($# < 1 ? $# : 1))
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

packages="msgspec==0.23.0 orjson==3.13.0"

if [ "$(cat "$dir/stamp" 2>/dev/null)" != "$packages" ]; then
	rm -rf "$dir/venv"
	python3 -m venv "$dir/venv"
	# shellcheck disable=SC2086 # one word per package
	"$dir/venv/bin/python" -m pip install --quiet --disable-pip-version-check $packages
	echo "$packages" >"$dir/stamp"
fi

go test -c -o "$dir/steps.test" ./results/steps
# The version of the file is that of the code that writes it.
version=$(sha256sum results/steps/bench_test.go | cut -c1-12)
file=$dir/steps-$version.jsonl
if [ ! -e "$file" ]; then
	rm -f "$dir"/steps-*.jsonl
	"$dir/steps.test" -test.run '^$' -test.bench '^BenchmarkFile$/^scan$' -test.benchtime 1x \
		-file "$file.new" -mb 1000 >/dev/null
	mv "$file.new" "$file"
fi

exec "$dir/venv/bin/python" "$here/bench_reader.py" --go "$dir/steps.test" --file "$file" "$@"
