#!/usr/bin/env bash
# The steps of the pull-request workflows, from the measurement to the comment, on
# real vLLM on CPU and against a fake GitHub: a pull request that makes r1-seed wait
# after every step must end as FAIL, in the exit codes, in one comment and in the
# check run; a second post must change nothing.
#
#   test-pr.sh [VLLM_CPU_DIR [whole]]
#
# VLLM_CPU_DIR is .vllm-cpu by default, made by cpu/install.sh. So large an effect
# needs few requests: the scenario is that of the workflow with smaller counts and
# without burn-in. About 12 minutes on two free cores, half of them for the starts
# of twelve servers. It needs them free: with a load average between 10 and 19 one
# campaign ended as INCONCLUSIVE. "whole" takes the workflow's own counts, and half
# an hour. Run it in the root of the repository after make build.
set -euo pipefail

vllm=$(cd "${1:-.vllm-cpu}" && pwd)
whole=${2:-}
site=$("$vllm/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
sha=$(printf '%040d' 7)

fail() {
	echo "test-pr: $*" >&2
	[ ! -f "$work/state" ] || head -c 4000 "$work/state" >&2
	exit 1
}

# exits CODE COMMAND... requires an exit code.
exits() {
	local want=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$want" ] || fail "$1 ended with $got, not with $want"
}

# shrunk SCENARIO prints it with smaller counts, everything else as it is.
shrunk() {
	python3 - "$1" <<-'PY'
	import sys

	text = open(sys.argv[1]).read()
	for old, new in (
	    ("requests: 48, prompt_tokens: 64, output_tokens: 96,", "requests: 16, prompt_tokens: 64, output_tokens: 64,"),
	    ("warmup: {requests: 10}", "warmup: {requests: 4}"),
	    ("requests: 192\n", "requests: 48\n"),
	    ("warmup: {requests: 24}", "warmup: {requests: 16}"),
	    ("burn_in_blocks: 1, cooldown: 5s", "burn_in_blocks: 0, cooldown: 1s"),
	    ("identity: {prompts: 16,", "identity: {prompts: 4,"),
	):
	    if text.count(old) != 1:
	        sys.exit(f"{sys.argv[1]}: {old!r} is not in it once")
	    text = text.replace(old, new)
	print(text, end="")
	PY
}

. .ci/step.sh

step "two checkouts: the base, and a pull request whose r1-seed waits 80 % of a step after each"
mkdir "$work/base" "$work/change" "$work/out"
cp -r patches "$work/base/"
cp -r patches "$work/change/"
bin/opbench patch tree "$site" --revision r1-seed --out "$work/edited"
python3 - "$work/edited" <<'PY'
import pathlib
import sys

recorder = pathlib.Path(sys.argv[1]) / "vllm/v1/opprof.py"
text = recorder.read_text()
before = '        record["ready_mono_ns"] = ready_mono_ns\n'
if text.count(before) != 1:
    sys.exit(f"{recorder}: the place to wait is gone")
wait = """        span = ready_mono_ns - record["submit_mono_ns"]
        end = time.monotonic_ns() + span * 8 // 10
        while not record["empty_steps"] and time.monotonic_ns() < end:
            pass
"""
recorder.write_text(text.replace(before, wait + before))
PY
"$work"/change/patches/vllm/*/make-patch.sh r1-seed "$work/edited" "$site"

step "a fake GitHub with pull request 7"
go build -o "$work/fakegithub" ./bench/internal/servegithub
"$work/fakegithub" -pull "7=$sha" -url "$work/url" -state "$work/state" &
server=$!
for _ in $(seq 50); do [ -f "$work/url" ] || sleep 0.1; done
[ -f "$work/url" ] || fail "the fake GitHub does not answer"

step "measure, as bench-pr does"
echo 7 > "$work/out/pr"
scenario=scenarios/ci-regress.yaml
if [ "$whole" != whole ]; then
	shrunk "$scenario" >"$work/ci-regress.yaml"
	scenario=$work/ci-regress.yaml
fi
verdict=0
.github/scripts/regress.sh "$work/base" "$work/change" "$work/out" "$scenario" || verdict=$?

python3 - "$work"/out/*/*/blocks <<'PY'
import datetime
import json
import pathlib
import sys

for block in sorted(pathlib.Path(sys.argv[1]).glob("*")):
    runs = [json.loads(path.read_text()) for path in block.glob("*/run.json")]
    if not runs:
        continue  # stopped before it was measured
    start, *_, end = sorted(datetime.datetime.fromisoformat(run[key][:19]) for run in runs for key in ("start", "end"))
    ready = " and ".join(f"{run['server']['ready_in_s']:.0f}" for run in runs)
    stop = max(run["server"]["stop"]["seconds"] for run in runs)
    print(f"block {block.name}: {(end - start).seconds} s, servers ready after {ready} s, stopped in {stop:.0f} s")
PY
[ "$verdict" = 10 ] || fail "regress.sh ended with $verdict, not with 10"

step "post, as bench-post does"
cat > "$work/event" <<JSON
{"workflow_run": {"id": 55, "run_attempt": 1, "head_sha": "$sha", "html_url": "https://github.example/o/r/actions/runs/55"}}
JSON
export GITHUB_TOKEN=bot GITHUB_REPOSITORY=o/r GITHUB_EVENT_PATH="$work/event" GITHUB_API_URL
GITHUB_API_URL=$(cat "$work/url")
export GITHUB_STEP_SUMMARY="$work/summary" GITHUB_OUTPUT="$work/output" GITHUB_ACTIONS=true
exits 10 .github/scripts/post.sh "$work/out" bench-pr --comment --check --summary --fail-on-post-error
exits 10 .github/scripts/post.sh "$work/out" bench-pr --comment --check --fail-on-post-error

python3 - "$work" "$sha" <<'PY'
import json
import pathlib
import sys

work, sha = pathlib.Path(sys.argv[1]), sys.argv[2]
state = json.loads((work / "state").read_text())
(comment,) = state["comments"]
(check,) = state["checks"]
body = comment["body"]
assert "> **FAIL** r1-seed" in body, body[:400]
assert "costs more than 15 %" in body, body[:400]
assert "measured at `" + sha[:12] in body, body[-400:]
assert '"key":"bench-pr/r1-seed"' in body.splitlines()[-1], body[-400:]
assert check["conclusion"] == "failure" and check["head_sha"] == sha, check
assert check["name"] == "opbench / bench-pr/r1-seed", check
assert "> **FAIL**" in (work / "summary").read_text()
assert "exit_code=10" in (work / "output").read_text()
print("one comment, one check run: FAIL")
PY

step "a number that does not belong to the commit gets no comment"
echo 8 > "$work/out/pr"
exits 13 .github/scripts/post.sh "$work/out" bench-pr --comment --fail-on-post-error
grep -q '"key' "$work/state" && [ "$(grep -c issuecomment "$work/state")" = 1 ] || fail "a second comment"
step
