# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""What the recorders cost per step:
bench_recorder.py TREES [--sizes N,N...] [--output FILE.md]

TREES holds one tree per revision. The recorders of all trees watch the real
scheduler of the installed vLLM, one at a time, in rounds: revision after
revision, again and again, on the same scheduler and the same requests. Only
the recorder's own calls are timed. As in an async engine two steps are in flight,
and the thread sleeps for half a millisecond before it takes a result: a writer
thread can go back to waiting, and waking it costs what it costs there.

  decode   every request generates one token
  mixed    1 in 128 requests reaches its last token per step (at least one in
           eight steps) and another begins, with a prompt of 512 tokens; steps
           have just enough room for that, so some prompts are computed in chunks
  loop     one decode step again and again, without a scheduler in between: what
           is left when all caches are warm; the best round's mean
"""

import argparse
import gc
import importlib.util
import json
import logging
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import torch

from vllm.config import CacheConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

SIZES = (1, 8, 37, 128, 256, 512, 1024)
ROUNDS = 5
WARMUP_STEPS = 5
STEPS = 50
LOOP_STEPS = 500
BLOCK_SIZE = 16
WAIT_SECONDS = 0.0005
REFERENCE = "r1-seed"
MODEL = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 64,
    "head_dim": 32,
    "intermediate_size": 64,
    "moe_intermediate_size": 32,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "num_hidden_layers": 1,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "vocab_size": 512,
    "max_position_embeddings": 8192,
}


@dataclass
class Cost:
    """Of one revision, workload and size; one entry per step unless it says
    otherwise."""

    schedule_us: list[float] = field(default_factory=list)  # before the launch
    total_us: list[float] = field(default_factory=list)
    thread_us: list[float] = field(default_factory=list)  # per round, per step
    file_bytes: list[float] = field(default_factory=list)  # per round, per step


def load_recorders(trees: pathlib.Path):
    modules = {}
    for path in sorted(trees.iterdir()):
        source = path / "vllm" / "v1" / "opprof.py"
        if not source.exists():
            continue
        name = "opprof_" + path.name.replace("-", "_")
        spec = importlib.util.spec_from_file_location(name, source)
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        # The patched files are not in this package.
        module.__dict__["source_blobs"] = dict
        if hasattr(module, "StepWriter"):
            module.StepWriter._run = timed(module.StepWriter._run)
        modules[path.name] = module
    return modules


def timed(run):
    """The writer thread's function, which leaves its CPU time behind."""

    def timed_run(writer):
        run(writer)
        writer.thread_ns = time.thread_time_ns()

    return timed_run


def create_scheduler(model_dir: str, requests: int) -> AsyncScheduler:
    model_config = ModelConfig(
        model=model_dir, skip_tokenizer_init=True, dtype="float16", seed=42
    )
    scheduler_config = SchedulerConfig(
        max_num_seqs=max(SIZES),
        max_num_batched_tokens=16384,
        max_model_len=8192,
        enable_chunked_prefill=True,
        is_encoder_decoder=False,
        async_scheduling=True,
        watermark=0.0,
    )
    cache_config = CacheConfig(block_size=BLOCK_SIZE, enable_prefix_caching=False)
    vllm_config = VllmConfig(
        scheduler_config=scheduler_config,
        model_config=model_config,
        cache_config=cache_config,
    )
    blocks = requests * 5000 // BLOCK_SIZE + 1000
    spec = FullAttentionSpec(
        block_size=BLOCK_SIZE, num_kv_heads=1, head_size=1, dtype=torch.float32
    )
    cache_config.num_gpu_blocks = blocks
    register_all_kvcache_specs(vllm_config)
    return AsyncScheduler(
        vllm_config=vllm_config,
        kv_cache_config=KVCacheConfig(
            num_blocks=blocks,
            kv_cache_tensors=[],
            kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)],
        ),
        structured_output_manager=StructuredOutputManager(vllm_config),
        block_size=BLOCK_SIZE,
        log_stats=True,
    )


class Workload:
    """A scheduler with `requests` requests, and what the model would return."""

    def __init__(self, model_dir: str, requests: int) -> None:
        self.scheduler = create_scheduler(model_dir, requests)
        self.requests = requests
        self.added = 0
        self.due = 0.0
        self.ending: set[str] = set()
        self.in_flight: deque[tuple[Any, ModelRunnerOutput]] = deque()
        for i in range(requests):
            self.add(64 + i * 7919 % 3000)
        while not self.all_decode():
            self.step(None)
        self.drain(None)
        self.scheduler.max_num_scheduled_tokens = max(384, 5 * requests + 64)

    def all_decode(self) -> bool:
        running = self.scheduler.running
        return len(running) == self.requests and not any(
            request.is_prefill_chunk for request in running
        )

    def add(self, prompt: int) -> None:
        params = SamplingParams(max_tokens=8192 - prompt - 1, ignore_eos=True)
        params.update_from_generation_config({}, eos_token_id=2)
        self.scheduler.add_request(
            Request(
                request_id=f"cmpl-{self.added:032x}-0",
                prompt_token_ids=[3 + i % 500 for i in range(prompt)],
                sampling_params=params,
                pooling_params=None,
                block_hasher=get_request_block_hasher(BLOCK_SIZE, sha256),
            )
        )
        self.added += 1

    def turn_over(self) -> None:
        """Let the oldest requests end with their next token, and others begin."""
        self.due += max(self.requests / 128, 0.125)
        while self.due >= 1:
            self.due -= 1
            oldest = next(
                request
                for request in self.scheduler.running
                if request.request_id not in self.ending
            )
            outputs = oldest.num_output_tokens + oldest.num_output_placeholders
            oldest.max_tokens = outputs + 1
            self.ending.add(oldest.request_id)
            self.add(512)

    def step(self, recorder) -> tuple[int, int]:
        """Nanoseconds that the recorder took inside schedule(), and in all."""
        scheduler = self.scheduler
        spent = 0

        def begin(output) -> None:
            nonlocal spent
            start = time.perf_counter_ns()
            recorder.begin(output)
            spent += time.perf_counter_ns() - start
            type(scheduler)._update_after_schedule(scheduler, output)

        if recorder is not None:
            scheduler._update_after_schedule = begin
            start = time.perf_counter_ns()
            recorder.before_schedule()
            spent = time.perf_counter_ns() - start
        output = scheduler.schedule()
        if recorder is not None:
            del scheduler._update_after_schedule
        self.in_flight.append((output, self.result(output)))
        time.sleep(WAIT_SECONDS)
        in_finish = self.update(recorder) if len(self.in_flight) == 2 else 0
        return spent, spent + in_finish

    def update(self, recorder) -> int:
        """Take the oldest result. Nanoseconds that the recorder took."""
        output, result = self.in_flight.popleft()
        ready = time.monotonic_ns()
        self.scheduler.update_from_output(output, result)
        if recorder is None:
            return 0
        start = time.perf_counter_ns()
        recorder.finish(output, result.cudagraph_stats, ready)
        return time.perf_counter_ns() - start

    def drain(self, recorder) -> None:
        while self.in_flight:
            self.update(recorder)

    def result(self, output) -> ModelRunnerOutput:
        ids = list(output.num_scheduled_tokens)
        requests = self.scheduler.requests
        return ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={req_id: i for i, req_id in enumerate(ids)},
            sampled_token_ids=[
                [] if requests[req_id].is_prefill_chunk else [7] for req_id in ids
            ],
        )


def measure_round(workload: Workload, module, mixed: bool, cost: Cost) -> None:
    with tempfile.TemporaryDirectory() as directory:
        recorder = module.StepRecorder(workload.scheduler, directory)
        # A recorder sees requests from their beginning; this one joins late.
        adopt(recorder, workload.scheduler)
        for _ in range(WARMUP_STEPS):
            workload.step(recorder)
        for _ in range(STEPS):
            if mixed:
                workload.turn_over()
            in_schedule, total = workload.step(recorder)
            cost.schedule_us.append(in_schedule / 1e3)
            cost.total_us.append(total / 1e3)
        workload.drain(recorder)
        check_that_lengths_are_followed(recorder)
        recorder.close()
        steps = WARMUP_STEPS + STEPS
        cost.thread_us.append(getattr(recorder.writer, "thread_ns", 0) / 1e3 / steps)
        (file,) = os.scandir(directory)
        cost.file_bytes.append(file.stat().st_size / steps)


def measure_loop(workload: Workload, module, cost: Cost) -> None:
    scheduler = workload.scheduler
    with tempfile.TemporaryDirectory() as directory:
        recorder = module.StepRecorder(scheduler, directory)
        adopt(recorder, scheduler)
        kept = []
        update = scheduler._update_after_schedule
        scheduler._update_after_schedule = lambda output: kept.append(output)
        output = scheduler.schedule()  # its requests stay as they are
        scheduler._update_after_schedule = update
        assert kept == [output]
        start = time.perf_counter_ns()
        for _ in range(LOOP_STEPS):
            recorder.before_schedule()
            recorder.begin(output)
            recorder.finish(output, None, 1)
        spent = time.perf_counter_ns() - start
        cost.total_us.append(spent / 1e3 / LOOP_STEPS)
        check_that_lengths_are_followed(recorder)
        recorder.close()
    # What schedule() had begun is finished in the usual way.
    scheduler._update_after_schedule(output)
    scheduler.update_from_output(output, workload.result(output))
    del scheduler._update_after_schedule


def adopt(recorder, scheduler) -> None:
    composer = getattr(recorder, "composer", None)
    if composer is None:
        return
    for request in scheduler.running:
        req_id, computed = request.request_id, request.num_computed_tokens
        composer.prompts[req_id] = request.num_prompt_tokens
        if request.is_prefill_chunk:
            composer.reached[req_id] = computed
        else:
            composer.decoding.add(req_id, computed)


def check_that_lengths_are_followed(recorder) -> None:
    composer = getattr(recorder, "composer", None)
    assert composer is None or composer.steady


def measure_memory(workload: Workload, module) -> float:
    """KiB of a recorder that was just made."""
    with tempfile.TemporaryDirectory() as directory:
        gc.collect()
        tracemalloc.start()
        recorder = module.StepRecorder(workload.scheduler, directory)
        made = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        recorder.close()
    return made / 1024


def measure(modules, model_dir: str, sizes: list[int]):
    costs: dict[tuple[str, str, int], Cost] = {}
    memory = {}
    for requests in sizes:
        workload = Workload(model_dir, requests)
        gc.collect()
        gc.freeze()  # as the engine does after its start
        for _ in range(ROUNDS):
            for revision, module in modules.items():
                cost = costs.setdefault(("loop", revision, requests), Cost())
                measure_loop(workload, module, cost)
        for mixed in (False, True):
            name = "mixed" if mixed else "decode"
            for _ in range(ROUNDS):
                for revision, module in modules.items():
                    key = (name, revision, requests)
                    cost = costs.setdefault(key, Cost())
                    measure_round(workload, module, mixed, cost)
            print(f"{requests} requests, {name}: done", file=sys.stderr)
        if requests == 256:
            memory = {r: measure_memory(workload, m) for r, m in modules.items()}
        gc.unfreeze()
    return costs, memory


def quantile(values: list[float], q: float) -> float:
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def render(costs, memory, revisions: list[str], sizes: list[int]) -> str:
    lines = [
        f"CPython {platform.python_version()}, {cpu_model()}, {os.cpu_count()} CPUs.",
        f"Microseconds per step, medians over {ROUNDS} rounds of {STEPS} steps; in",
        "brackets the part inside schedule().",
    ]
    for name in ("decode", "mixed", "loop"):
        lines += ["", f"**{name}**", "", "| requests |" + header(revisions)]
        lines.append("|---|" + "---|" * (2 * len(revisions) - 1))
        for requests in sizes:
            row = [costs[name, r, requests] for r in revisions]
            times = [typical(name, cost) for cost in row]
            base = times[revisions.index(REFERENCE)]
            cells = [f"{value:.1f}{in_schedule(c)}" for value, c in zip(times, row)]
            cells += [
                f"{value / base:.3f}"
                for value, revision in zip(times, revisions)
                if revision != REFERENCE
            ]
            lines.append(f"| {requests} | " + " | ".join(cells) + " |")
    if memory:
        lines += ["", *render_details(costs, memory, revisions)]
    return "\n".join(lines) + "\n"


def typical(name: str, cost: Cost) -> float:
    """Disturbances only add to a loop's time; single steps vary by themselves."""
    return min(cost.total_us) if name == "loop" else statistics.median(cost.total_us)


def in_schedule(cost: Cost) -> str:
    if not cost.schedule_us:
        return ""
    return f" ({statistics.median(cost.schedule_us):.1f})"


def header(revisions: list[str]) -> str:
    ratios = [f" {r} / {REFERENCE} " for r in revisions if r != REFERENCE]
    return "|".join([f" {r} " for r in revisions] + ratios) + "|"


def render_details(costs, memory, revisions: list[str]) -> list[str]:
    columns = (
        *("revision", "mean µs", "p95 µs", "writer thread, CPU µs per step"),
        *("file, bytes per step", "recorder at start, KiB"),
    )
    lines = [
        "**At 256 requests, mixed**",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
    ]
    for revision in revisions:
        cost = costs["mixed", revision, 256]
        lines.append(
            f"| {revision} | {statistics.mean(cost.total_us):.1f} | "
            f"{quantile(cost.total_us, 0.95):.1f} | "
            f"{statistics.median(cost.thread_us):.1f} | "
            f"{statistics.mean(cost.file_bytes):.0f} | {memory[revision]:.0f} |"
        )
    return lines


def cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description="What the recorders cost per step.")
    parser.add_argument("trees", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--sizes", type=numbers, default=list(SIZES))
    args = parser.parse_args()
    logging.disable(logging.INFO)
    init_none_hash(sha256)
    modules = load_recorders(args.trees)
    with tempfile.TemporaryDirectory() as model_dir:
        (pathlib.Path(model_dir) / "config.json").write_text(json.dumps(MODEL))
        costs, memory = measure(modules, model_dir, args.sizes)
    text = render(costs, memory, list(modules), args.sizes)
    print(text)
    if args.output:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
