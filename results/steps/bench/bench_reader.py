# SPDX-License-Identifier: Apache-2.0
"""Time the Go reader of step records beside Python loops over the same file.

Every reading is a process of its own on one core, and what counts is its CPU
time, so that other work on the machine matters little. The readers take turns,
round by round, so that a machine that gets slower does so for all. run.sh makes
the venv, the Go benchmark's binary and the file.
"""

import argparse
import gc
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BLOCK = 1 << 20
MARK = "<!-- measured -->\n"

# Name, what it does beside parsing, and the process: a benchmark of Go or a
# function of this file.
READERS = {
    "Go, records": ("all fields required, integers exact", "go:scan"),
    "Go, all checks": ("the same, and every check of a file", "go:checks"),
    "Go, `opbench layer1 check`": ("the same, and SHA-256 of the file", "go:checks+sha256"),
    "msgspec, blocks": ("all fields required, integers exact", "msgspec_blocks"),
    "msgspec, lines": ("the same", "msgspec_lines"),
    "orjson, blocks": ("nothing", "orjson_blocks"),
    "orjson, lines": ("nothing", "orjson_lines"),
}
BEST_PYTHON = "msgspec, blocks"


def blocks(path: str) -> Iterator[bytes]:
    """Whole record lines, about 1 MiB at a time, without header and footer."""
    size = os.path.getsize(path)
    with open(path, "rb", buffering=0) as file:
        file.seek(max(0, size - 4096))
        tail = file.read()
        left = size - len(tail) + tail.rindex(b'{"footer"')
        file.seek(0)
        head = file.read(65536)
        start = head.index(b"\n") + 1
        file.seek(start)
        left -= start
        rest = b""
        while left > 0:
            block = file.read(min(BLOCK, left))
            left -= len(block)
            block = rest + block
            end = block.rindex(b"\n") + 1
            yield block[:end]
            rest = block[end:]


def record_decoder() -> Any:
    """The decoder of a record with its types: the fastest that msgspec has."""
    import msgspec

    def struct(name: str, **fields: Any) -> Any:
        return msgspec.defstruct(name, list(fields.items()), gc=False)

    integers = dict.fromkeys
    resumed = struct("Resumed", **integers(("requests", "tokens"), int))
    chunked = struct(
        "Chunked",
        **integers(("first", "middle", "final", "unsplit", "tokens"), int),
        chunk_size_hist=list[int],
    )
    queues = struct("Queues", **integers(("running", "waiting", "deferred"), int))
    kv = struct("KV", **integers(("total_blocks", "free_blocks", "used_blocks"), int), usage=float)
    names = ("requests", "queries", "hits")
    lookups = struct("Lookups", **integers((*names, *("preempted_" + n for n in names)), int))
    prefix = struct("Prefix", local=lookups | None, external=lookups | None)
    graph = struct(
        "CUDAGraph",
        hit=bool,
        runtime_mode=str,
        **integers(("unpadded_tokens", "bucket_tokens", "padding_tokens"), int),
    )
    times = ("submit_wall_ns", "submit_mono_ns", "ready_mono_ns", "complete_mono_ns")
    record = struct(
        "Record",
        schema=int,
        engine_id=str,
        **integers(("step_index", "empty_steps", *times), int),
        model_executed=bool,
        **integers(("scheduled_requests", "scheduled_tokens", "decode_batch_size"), int),
        **integers(("prefill_requests", "prefill_tokens", "decode_tokens"), int),
        resumed=resumed,
        chunked_prefill=chunked,
        context_length_hist=list[int],
        preemptions=int,
        queues=queues,
        kv=kv,
        prefix=prefix,
        cudagraph=graph | None,
        moe_expert_load=type(None),
        backlog=int,
        dropped_records_before=int,
    )
    return msgspec.json.Decoder(record)


def msgspec_blocks(path: str) -> int:
    decode = record_decoder().decode_lines
    return sum(len(decode(block)) for block in blocks(path))


def msgspec_lines(path: str) -> int:
    decode = record_decoder().decode
    count = 0
    for block in blocks(path):
        for line in block.splitlines():
            decode(line)
            count += 1
    return count


def orjson_blocks(path: str) -> int:
    from orjson import loads

    count = 0
    for block in blocks(path):
        count += len(loads(b"[" + block[:-1].replace(b"\n", b",") + b"]"))
    return count


def orjson_lines(path: str) -> int:
    from orjson import loads

    count = 0
    for block in blocks(path):
        for line in block.splitlines():
            loads(line)
            count += 1
    return count


LOOPS: dict[str, Callable[[str], int]] = {
    loop.__name__: loop for loop in (msgspec_blocks, msgspec_lines, orjson_blocks, orjson_lines)
}


def run_loop(name: str, path: str) -> None:
    """What a child process does: one loop, without the cyclic collector, which
    has nothing to find here and would only cost time."""
    gc.disable()
    print(f"{LOOPS[name](path)} records")


class Reading:
    """One reading of the file: CPU seconds of the whole process, records, peak
    memory in MB."""

    def __init__(self, what: str, opts: argparse.Namespace) -> None:
        if what.startswith("go:"):
            bench = f"^BenchmarkFile$/^{re.escape(what[3:])}$"
            argv = [opts.go, "-test.run", "^$", "-test.bench", bench, "-test.benchtime", "1x"]
            argv += ["-test.cpu", "1", "-file", opts.file]
        else:
            argv = [sys.executable, __file__, "--loop", what, "--file", opts.file]
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        count = re.search(r"(\d+) records", out)
        if child.returncode != 0 or not count:
            sys.exit(f"bench_reader: {what} failed with {child.returncode}: {out.strip()}")
        self.seconds = usage.ru_utime + usage.ru_stime
        self.records = int(count[1])
        self.peak = usage.ru_maxrss / 1000


def measure(opts: argparse.Namespace) -> dict[str, list[Reading]]:
    readings: dict[str, list[Reading]] = {name: [] for name in READERS}
    for number in range(opts.rounds):
        print(f"round {number + 1} of {opts.rounds}", file=sys.stderr)
        for name, (_, what) in READERS.items():
            readings[name].append(Reading(what, opts))
    counts = {reading.records for each in readings.values() for reading in each}
    if len(counts) != 1:
        sys.exit(f"bench_reader: the readers do not agree on the number of records: {counts}")
    return readings


def table(readings: dict[str, list[Reading]], opts: argparse.Namespace) -> str:
    size = os.path.getsize(opts.file)
    base = readings[BEST_PYTHON]
    lines = [
        "| reader | what it checks | MB/s | times msgspec | lowest to highest | peak memory |",
        "|---|---|---|---|---|---|",
    ]
    for name, (checks, _) in READERS.items():
        each = readings[name]
        speed = size / 1e6 / statistics.median(r.seconds for r in each)
        ratios = [b.seconds / r.seconds for r, b in zip(each, base, strict=True)]
        lines.append(
            f"| {name} | {checks} | {speed:.0f} | {statistics.median(ratios):.2f} "
            f"| {min(ratios):.2f} to {max(ratios):.2f} | {max(r.peak for r in each):.0f} MB |"
        )
    return "\n".join(lines) + "\n"


def machine() -> str:
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} CPUs"


def report(opts: argparse.Namespace) -> str:
    import msgspec
    import orjson

    readings = measure(opts)
    records = readings[BEST_PYTHON][0].records
    go = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return (
        f"Measured {time.strftime('%Y-%m-%d', time.gmtime())} on one core of {machine()}: "
        f"{records} records of {os.path.getsize(opts.file) / records:.0f} bytes,\n"
        f"medians of {opts.rounds} rounds, MB per second of CPU time. {go}, CPython {platform.python_version()}, "
        f"msgspec {msgspec.__version__}, orjson {orjson.__version__}.\n\n"
    ) + table(readings, opts)


def save(text: str, path: Path) -> None:
    """Replace what is below the mark."""
    head, mark, _ = path.read_text().partition(MARK)
    if not mark:
        sys.exit(f"bench_reader: {path} has no line {MARK.strip()}; what is below it would be replaced")
    path.write_text(head + MARK + text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", required=True, help="step file to read")
    parser.add_argument("--go", help="binary made by go test -c ./results/steps")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="Markdown file whose measured part is replaced")
    parser.add_argument("--loop", choices=LOOPS, help="run this loop only and print how many records it saw")
    opts = parser.parse_args()
    if opts.loop:
        run_loop(opts.loop, opts.file)
        return
    if not opts.go:
        parser.error("--go is needed")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    text = report(opts)
    print(text)
    if opts.output:
        save(text, opts.output)


if __name__ == "__main__":
    main()
