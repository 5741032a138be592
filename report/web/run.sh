#!/usr/bin/env bash
# Looks at every HTML report in a real browser:
#
#   run.sh [DEST]      browser driver, axe-core, pages and screenshots go to DEST (default: .web)
#
# Needs bin/opbench. Chromium and node come from the system; where they are
# missing, and this is Debian and root, from its packages. First the checker is
# tried on pages that are broken on purpose.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
dest=${1:-.web}
mkdir -p "$dest"

# need COMMAND PACKAGE...: what has the command, unless it is there.
need() {
	local command=$1
	shift
	command -v "$command" >/dev/null && return
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "run.sh: $command is missing: install it (Debian: apt-get install $*), then run this again" >&2
		return 1
	fi
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Fonts too: without any a page has no text that could be looked at.
[ -n "${CHROMIUM:-}" ] || need chromium chromium fonts-liberation fonts-dejavu-core
need node nodejs npm
need npm npm

stamp=$(cat "$here/package.json" "$here/package-lock.json" | sha256sum)
if [ "$(cat "$dest/stamp" 2>/dev/null)" != "$stamp" ]; then
	cp "$here/package.json" "$here/package-lock.json" "$dest/"
	npm ci --prefix "$dest" --ignore-scripts --no-audit --no-fund --silent
	echo "$stamp" >"$dest/stamp"
fi

node "$here/check.mjs" --modules "$dest" --self-check
bin/opbench power results/campaigns/vllm-cpu-second-aa --html "$dest/power.html" >/dev/null || [ $? = 12 ] # UNDERPOWERED
rm -rf "$dest/shots" "$dest/pages"
mkdir "$dest/pages"
for campaign in results/campaigns/*/; do
	bin/opbench report --format html -o "$dest/pages/$(basename "$campaign").html" "$campaign"
done
node "$here/check.mjs" --modules "$dest" --shots "$dest/shots" \
	report/page/testdata/*.html "$dest"/pages/*.html "$dest/power.html"

# What reads the other forms of a report.
if [ -e report/export/readers.sh ]; then
	report/export/readers.sh "$dest"
fi
