#!/usr/bin/env bash
# Writes a revision's patches, series and the computed half of its meta.json:
#
#   make-patch.sh REVISION EDITED PRISTINE
#
# EDITED and PRISTINE hold vllm/ (and EDITED tests/): trees or checkouts. The
# files are those that meta.json lists, one patch each; id, parent, status,
# schema, expected_cost, measured_cost, changes and the paths in it are written by hand.
# Needs git and python3.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
rev="$here/$1" edited=$(cd "$2" && pwd) pristine=$(cd "$3" && pwd)

exec python3 - "$rev" "$edited" "$pristine" "$here/UPSTREAM.json" <<'PY'
import hashlib, json, pathlib, re, subprocess, sys

rev, edited, pristine = map(pathlib.Path, sys.argv[1:4])
upstream = json.loads(pathlib.Path(sys.argv[4]).read_text())
ABSENT = "0" * 40


def blob(path):
    if not path.exists():
        return ABSENT
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def diff(name):
    """Zero-context diff with full blob ids and without upstream's lines."""
    old = pristine / name if (pristine / name).exists() else "/dev/null"
    out = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--full-index",
         "--diff-algorithm=myers", "-U0", str(old), str(edited / name)],
        stdout=subprocess.PIPE, text=True,
    ).stdout
    body = out[out.index("\n@@ ") + 1 :]
    body = re.sub(r"^(@@ [^@]+ @@).*$", r"\1", body, flags=re.M)
    pre, post = blob(pristine / name), blob(edited / name)
    head = [f"diff --git a/{name} b/{name}"]
    if pre == ABSENT:
        head += ["new file mode 100644", f"index {pre}..{post}", "--- /dev/null"]
    else:
        head += [f"index {pre}..{post} 100644", f"--- a/{name}"]
    return "\n".join([*head, f"+++ b/{name}"]) + "\n" + body


meta = json.loads((rev / "meta.json").read_text())
for old in rev.glob("*.patch"):
    old.unlink()
patches, files, whole = [], [], b""
for number, name in enumerate((f["path"] for f in meta["files"]), 1):
    pre, post = blob(pristine / name), blob(edited / name)
    if name in upstream["required"] and pre != upstream["required"][name]:
        sys.exit(f"{pristine / name} is not upstream's: {pre}")
    if post in (pre, ABSENT):
        sys.exit(f"{edited / name} is missing or unchanged")
    patch = f"{number:04}-{name.removesuffix('.py').replace('/', '-')}.patch"
    data = diff(name).encode()
    (rev / patch).write_bytes(data)
    whole += data
    files.append({"path": name, "pre": pre, "post": post})
    patches.append({"name": patch, "sha256": hashlib.sha256(data).hexdigest()})
meta.update(commit=upstream["commit"], files=files, patches=patches,
            series_sha256=hashlib.sha256(whole).hexdigest())
(rev / "series").write_text("".join(p["name"] + "\n" for p in patches))
(rev / "meta.json").write_text(json.dumps(meta, indent=2) + "\n")
print(f"{meta['id']}: {len(files)} files, series {meta['series_sha256']}")
PY
