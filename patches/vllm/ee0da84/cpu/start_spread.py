# SPDX-License-Identifier: Apache-2.0
"""How much do equal servers differ? start_spread.py MODEL [options]

Starts N equal vLLM servers on this machine's CPU and measures them in turn, one
stream, in slices of a few seconds, so that a host that drifts slows all of them
alike. Prints the median TPOT of every slice, and what equal servers differ by for
their whole life (between) and from slice to slice (within), as standard
deviations of ln(TPOT) in per cent. The difference of a pair of servers has √2
times the first. Run it with python of the vLLM to look at, on a quiet machine.
"""

import argparse
import contextlib
import http.client
import json
import math
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass

PROMPT_TOKENS = 64
OUTPUT_TOKENS = 96
WARMUP_REQUESTS = 5  # of every slice: the other server busy-waits for 1 s
SETTLE_S = 1.6

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "TORCHDYNAMO_DISABLE": "1",
}


@dataclass
class Server:
    process: subprocess.Popen
    port: int


def main() -> None:
    args = arguments()
    with tempfile.TemporaryDirectory() as logs, started(args, logs) as servers:
        slices = measure(servers, args.rounds, args.requests)
    report(slices)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", help="model directory")
    parser.add_argument("--servers", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--requests", type=int, default=20, help="of a slice")
    parser.add_argument(
        "--fixed-layout",
        action="store_true",
        help="PYTHONHASHSEED=0 and no address space randomisation (setarch -R)",
    )
    parser.add_argument(
        "--pin", action="store_true", help="the worker on processor 1, the rest on 0"
    )
    return parser.parse_args()


@contextlib.contextmanager
def started(args: argparse.Namespace, logs: str) -> Iterator[list[Server]]:
    """The servers, ready; ended whatever happens."""
    servers: list[Server] = []
    try:
        for i in range(args.servers):
            servers.append(start(args, os.path.join(logs, f"{i}.log")))
            wait_ready(servers[-1], os.path.join(logs, f"{i}.log"), args.pin)
        yield servers
    finally:
        for s in servers:
            s.process.send_signal(signal.SIGINT)
        for s in servers:
            s.process.wait(timeout=60)


def start(args: argparse.Namespace, log: str) -> Server:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", args.model]
    command += ["--served-model-name", "m", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--skip-tokenizer-init", "--max-model-len", "2048"]
    command += ["--max-num-seqs", "32", "--enforce-eager", "--no-enable-prefix-caching"]
    environment = os.environ | ENVIRONMENT
    if args.fixed_layout:
        command = ["setarch", "-R", *command]
        environment["PYTHONHASHSEED"] = "0"
    with open(log, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    return Server(process, port)


def wait_ready(server: Server, log: str, pin: bool) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
            link.request("GET", "/health")
            if link.getresponse().status == 200:
                place(server.process.pid, pin)
                return
        time.sleep(0.5)
    with open(log) as text:
        sys.exit(f"a server did not start; the end of its log:\n{text.read()[-2000:]}")


def place(pid: int, pin: bool) -> None:
    """SCHED_IDLE for engine core and worker, as the scenarios do; pinned, the
    worker has the second processor and all others the first."""
    if pin:
        set_affinity(pid, {0})
    for child in descendants(pid):
        with open(f"/proc/{child}/cmdline") as f:
            title = f.read()
        if title.startswith("VLLM::"):
            for thread in threads(child):
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
        if pin:
            set_affinity(child, {1} if title.startswith("VLLM::Worker") else {0})


def set_affinity(pid: int, processors: set[int]) -> None:
    for thread in threads(pid):
        os.sched_setaffinity(thread, processors)


def threads(pid: int) -> list[int]:
    return [int(thread) for thread in os.listdir(f"/proc/{pid}/task")]


def descendants(pid: int) -> Iterator[int]:
    for thread in threads(pid):
        with open(f"/proc/{pid}/task/{thread}/children") as f:
            children = [int(c) for c in f.read().split()]
        for child in children:
            yield child
            yield from descendants(child)


def measure(servers: list[Server], rounds: int, requests: int) -> list[list[float]]:
    """Median TPOT in ms, of each server in each round; a random order each round."""
    order = list(range(len(servers)))
    dice = random.Random(20260711)
    slices: list[list[float]] = [[] for _ in servers]
    for r in range(rounds):
        dice.shuffle(order)
        for i in order:
            time.sleep(SETTLE_S)
            prompts = random.Random(r)  # equal for all servers
            for _ in range(WARMUP_REQUESTS):
                tpot(servers[i], prompts)
            times = [tpot(servers[i], prompts) for _ in range(requests)]
            slices[i].append(1e3 * statistics.median(times))
            print(
                f"round {r + 1} server {i + 1}: {slices[i][-1]:.3f} ms", file=sys.stderr
            )
    return slices


def tpot(server: Server, dice: random.Random) -> float:
    """Seconds per output token after the first, of one streamed request."""
    body = {
        "model": "m",
        "prompt": [dice.randrange(10, 512) for _ in range(PROMPT_TOKENS)],
        "max_tokens": OUTPUT_TOKENS,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
    }
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Content-Type": "application/json"}
    link.request("POST", "/v1/completions", json.dumps(body), headers)
    answer = link.getresponse()
    stamps = [time.perf_counter() for line in answer if line.startswith(b"data: {")]
    link.close()
    if answer.status != 200 or len(stamps) < 2:
        sys.exit(f"HTTP {answer.status}, {len(stamps)} chunks: expected a stream")
    return (stamps[-1] - stamps[0]) / (OUTPUT_TOKENS - 1)


def report(slices: list[list[float]]) -> None:
    for i, row in enumerate(slices):
        print(f"server {i + 1}: " + " ".join(f"{t:7.3f}" for t in row))
    between, within = spread([[math.log(t) for t in row] for row in slices])
    print(
        f"between servers {100 * between:.1f} %, within a server {100 * within:.1f} %"
    )


def spread(logs: list[list[float]]) -> tuple[float, float]:
    """Standard deviations between and within rows, after taking out each round's
    mean: what all servers had in common. The first is of the servers themselves,
    without what the slices add."""
    rounds = len(logs[0])
    common = [statistics.fmean(row[r] for row in logs) for r in range(rounds)]
    rest = [[row[r] - common[r] for r in range(rounds)] for row in logs]
    freedom = (len(logs) - 1) * (rounds - 1)
    means = [statistics.fmean(row) for row in rest]
    square = sum((t - m) ** 2 for row, m in zip(rest, means) for t in row) / freedom
    between = statistics.variance(means) - square / rounds
    return math.sqrt(max(0.0, between)), math.sqrt(square)


if __name__ == "__main__":
    main()
