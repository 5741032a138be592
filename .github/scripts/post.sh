#!/usr/bin/env bash
# Posts all campaigns below a folder, each with a key of its own:
#
#   post.sh OUT PREFIX [ARG]...
#
# OUT holds NAME/RUN_DIRECTORY, as regress.sh leaves it; the key is PREFIX/NAME;
# ARGs are for opbench post. The number of the pull request is read from OUT/pr if
# that file is there: opbench does not believe it where it does not fit the commit.
# The exit code is the worst of all.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
out=$1 prefix=$2
shift 2
. "$here/worst.sh"

if [ -f "$out/pr" ]; then
	number=$(head -c 20 "$out/pr")
	[[ $number =~ ^[1-9][0-9]{0,8}$ ]] || { echo "post.sh: $out/pr holds no number" >&2; exit 2; }
	set -- --pr "$number" "$@"
fi

code=0
for plan in "$out"/*/*/plan.json; do
	[ -f "$plan" ] || continue
	dir=$(dirname "$plan") name=$(basename "$(dirname "$(dirname "$plan")")")
	[[ $name =~ ^[a-z0-9][a-z0-9.-]{0,47}$ ]] || { echo "post.sh: a folder of $out is named like no revision" >&2; exit 2; }
	one=0
	bin/opbench post --key "$prefix/$name" "$@" "$dir" || one=$?
	code=$(worst "$code" "$one")
done
exit "$code"
