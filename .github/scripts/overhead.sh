#!/usr/bin/env bash
# Measures what turning a recorder on costs, with a scenario for this machine:
#
#   overhead.sh CHECKOUT REVISION SCENARIO OUT
#
# Both arms run the revision of the checkout, into OUT/REVISION/. Run it in the
# root of the repository after make build. The exit code is the verdict.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for folder in "$1"/patches/vllm/*/"$2"; do
	[ -f "$folder/meta.json" ] || { echo "overhead.sh: $1 has no revision $2" >&2; exit 2; }
	exec bin/opbench run "$3" --patch "off=$folder" --patch "on=$folder" -o "$4/$2"
done
