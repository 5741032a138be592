#!/usr/bin/env bash
# Makes every export of every published campaign, reads it with other people's
# readers (pyarrow, duckdb, junitparser, llmd-benchmark-report, benchstat) and
# compares each number with verdict.json:
#
#   readers.sh [DEST]      the readers and the exports go to DEST/readers (default: .web)
#
# The golden exports of campaigns with other verdicts are read as well, and a
# changed number in each format must be found. Packages come from the index that
# pip is configured for. Anything that does not agree is an exit code other than 0.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
dest=${1:-.web}/readers
mkdir -p "$dest"
dest=$(cd "$dest" && pwd)

packages="pyarrow==26.0.1 duckdb==2.0.0 junitparser==5.0.3 llmd-benchmark-report==0.2.1"
if [ "$(cat "$dest/stamp" 2>/dev/null)" != "$packages" ]; then
	rm -rf "$dest/venv" "$dest/stamp"
	python3 -m venv "$dest/venv"
	# shellcheck disable=SC2086 # a list of packages
	"$dest/venv/bin/pip" install --quiet --disable-pip-version-check $packages
	echo "$packages" >"$dest/stamp"
fi

cd "$root"
CGO_ENABLED=0 go build -o "$dest/" ./bench/opbench golang.org/x/perf/cmd/benchstat
opbench=$dest/opbench

# read_exports NAME VERDICT: what lies in $dest/out/NAME, by its file names.
read_exports() {
	local out=$dest/out/$1 options=() name
	for name in junit benchfmt hud llmd parquet; do
		if [ -e "$out/$name" ]; then options+=("--$name" "$out/$name"); fi
	done
	if grep -q '^Benchmark' "$out/benchfmt"; then
		"$dest/benchstat" -format csv -col arm -ignore block "$out/benchfmt" >"$out/benchstat" 2>"$out/benchstat.log"
		options+=(--benchstat "$out/benchstat")
	fi
	"$dest/venv/bin/python" "$here/testdata/readers.py" "$2" "${options[@]}"
}

rm -rf "$dest/out"
for campaign in results/campaigns/*/; do
	[ -e "$campaign/campaign.tar.zst" ] || continue
	name=$(basename "$campaign")
	mkdir -p "$dest/out/$name"
	for format in junit benchfmt hud llmd parquet; do
		"$opbench" export --format "$format" -o "$dest/out/$name/$format" "$campaign" 2>>"$dest/out/$name/log"
	done
	read_exports "$name" "$campaign/verdict.json"
done

# Golden exports: all four verdicts.
for verdict in pass fail inconclusive invalid; do
	mkdir -p "$dest/out/$verdict"
	cp "$here/testdata/$verdict.junit.xml" "$dest/out/$verdict/junit"
	cp "$here/testdata/$verdict.bench.txt" "$dest/out/$verdict/benchfmt"
	if [ "$verdict" != invalid ]; then cp "$here/testdata/$verdict.hud.json" "$dest/out/$verdict/hud"; fi
	read_exports "$verdict" "report/page/testdata/$verdict.json"
done

# The comparison can fail: one digit is changed in each format.
broken() {
	if "$dest/venv/bin/python" "$here/testdata/readers.py" "report/page/testdata/pass.json" "--$1" "$2" 2>/dev/null; then
		echo "readers.sh: a changed number in $1 was not found" >&2
		exit 1
	fi
}
pass=$dest/out/pass
sed '0,/name="effect_pct" value="/s//&1/' "$pass/junit" >"$pass/junit.broken"
sed '0,/ sec$/s//1 sec/' "$pass/benchfmt" >"$pass/benchfmt.broken"
sed '0,/"target_value": 3/s//"target_value": 4/' "$pass/hud" >"$pass/hud.broken"
sed '0,/^Serve[^,]*,/s//&9/' "$pass/benchstat" >"$pass/benchstat.broken"
for format in junit benchfmt hud benchstat; do
	cmp -s "$pass/$format" "$pass/$format.broken" && { echo "readers.sh: nothing was changed in $format" >&2; exit 1; }
	broken "$format" "$pass/$format.broken"
done
# The tables and reports of one campaign are not those of another.
one=$dest/out/$(basename "$(ls -d results/campaigns/*/ | head -n 1)")
for format in parquet llmd; do broken "$format" "$one/$format"; done
echo "all exports say what verdict.json says"
