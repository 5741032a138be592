# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""Real schedulers of the installed, unpatched vLLM, watched by the recorders of
all trees, and random schedules for them: chunked prefill, preemption and
resumption, prefix caching, speculative tokens, sessions that go on, aborted
requests, pauses, cache resets, lost outputs, one or two steps in flight.

OPPROF_TREES names the folder that holds the trees.
"""

import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import time
from collections import Counter, deque
from types import ModuleType
from typing import Any

import torch

from vllm.config import CacheConfig, ModelConfig, SchedulerConfig, VllmConfig
from vllm.config.scheduler import SchedulerPolicy
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.interface import PauseState
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.core.single_type_kv_cache_manager import register_all_kvcache_specs
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.outputs import EMPTY_MODEL_RUNNER_OUTPUT, ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager

BLOCK_SIZE = 16
SPEC_TOKENS = 3
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
    "max_position_embeddings": 4096,
}


def load_recorders() -> dict[str, ModuleType]:
    """The recorder modules of all trees, by revision."""
    modules = {}
    for path in sorted(pathlib.Path(os.environ["OPPROF_TREES"]).glob("*")):
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
        modules[path.name] = module
    return modules


MODULES = load_recorders()


class Watched(Scheduler):
    """What the patches add to a scheduler, for several recorders at once."""

    recorders: list[Any] = []

    def schedule(self, *args, **kwargs):
        for recorder in self.recorders:
            recorder.before_schedule()
        return super().schedule(*args, **kwargs)

    def _update_after_schedule(self, output):
        for recorder in self.recorders:
            recorder.begin(output)
        super()._update_after_schedule(output)

    def update_from_output(self, output, result):
        ready = time.monotonic_ns()
        outputs = super().update_from_output(output, result)
        for recorder in self.recorders:
            recorder.finish(output, result.cudagraph_stats, ready)
        return outputs


class WatchedAsync(Watched, AsyncScheduler):
    pass


def watch(scheduler: Watched, folder: pathlib.Path, revisions=MODULES) -> None:
    """Let these revisions record the scheduler, each into its own folder."""
    scheduler.recorders = [
        MODULES[revision].StepRecorder(scheduler, str(folder / revision))
        for revision in revisions
    ]


def write_model(path: pathlib.Path) -> str:
    init_none_hash(sha256)
    (path / "config.json").write_text(json.dumps(MODEL))
    return str(path)


def create_scheduler(
    model_dir: str,
    is_async: bool = False,
    max_num_seqs: int = 16,
    max_num_batched_tokens: int = 512,
    num_blocks: int = 1000,
    caching: bool = False,
    policy: SchedulerPolicy = "fcfs",
    long_prefill: int = 0,
) -> Watched:
    model_config = ModelConfig(
        model=model_dir, skip_tokenizer_init=True, dtype="float16", seed=42
    )
    scheduler_config = SchedulerConfig(
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        max_model_len=1024,
        enable_chunked_prefill=True,
        is_encoder_decoder=False,
        async_scheduling=is_async,
        watermark=0.0,
        policy=policy,
        long_prefill_token_threshold=long_prefill,
    )
    cache_config = CacheConfig(block_size=BLOCK_SIZE, enable_prefix_caching=caching)
    vllm_config = VllmConfig(
        scheduler_config=scheduler_config,
        model_config=model_config,
        cache_config=cache_config,
    )
    spec = FullAttentionSpec(
        block_size=BLOCK_SIZE, num_kv_heads=1, head_size=1, dtype=torch.float32
    )
    cache_config.num_gpu_blocks = num_blocks
    register_all_kvcache_specs(vllm_config)
    return (WatchedAsync if is_async else Watched)(
        vllm_config=vllm_config,
        kv_cache_config=KVCacheConfig(
            num_blocks=num_blocks,
            kv_cache_tensors=[],
            kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)],
        ),
        structured_output_manager=StructuredOutputManager(vllm_config),
        block_size=BLOCK_SIZE,
        log_stats=True,
    )


def random_scheduler(model_dir: str, rng: random.Random, is_async: bool) -> Watched:
    policies: tuple[SchedulerPolicy, ...] = ("fcfs", "fcfs", "priority")
    scheduler = create_scheduler(
        model_dir,
        is_async,
        max_num_seqs=rng.choice([4, 16, 64]),
        max_num_batched_tokens=rng.choice([64, 96, 512]),
        num_blocks=rng.choice([45, 70, 1000]),
        caching=rng.random() < 0.5,
        policy=rng.choice(policies),
        long_prefill=rng.choice([0, 0, 20]),
    )
    scheduler.max_num_scheduled_tokens = rng.choice(
        [scheduler.max_num_scheduled_tokens, 16]
    )
    return scheduler


class Driver:
    """Plays the engine, the model runner and the clients, at random."""

    def __init__(self, scheduler: Watched, rng: random.Random, is_async: bool) -> None:
        self.scheduler = scheduler
        self.rng = rng
        self.is_async = is_async
        # A synchronous engine has two steps in flight with pipeline parallelism.
        self.depth = 2 if is_async else rng.choice([1, 1, 2])
        self.speculate = self.depth == 1 + is_async and rng.random() < 0.4
        if self.speculate:
            scheduler.num_spec_tokens = SPEC_TOKENS
        # Sessions that wait for input keep their blocks: there must be enough of
        # them, and nothing can be reset.
        roomy = scheduler.kv_cache_manager.block_pool.num_gpu_blocks == 1000
        self.keep_sessions = roomy and not self.speculate and rng.random() < 0.5
        # Only the async scheduler discards what was in flight at a reset.
        plain = not (self.speculate or self.keep_sessions)
        self.reset_cache = plain and self.depth == 1 + is_async
        self.priorities = scheduler.policy.value == "priority"
        self.in_flight: deque[tuple[Any, ModelRunnerOutput]] = deque()
        self.added = 0
        self.sessions: dict[str, int] = {}  # inputs to come
        self.seen: Counter[str] = Counter()

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.clients()
            self.step()
        self.scheduler.set_pause_state(PauseState.UNPAUSED)
        for req_id in self.open_sessions():
            self.scheduler.add_request(self.request(req_id, 1, resumable=False))
        left = 5000
        while self.scheduler.has_requests() or self.in_flight:
            self.step()
            left -= 1
            assert left, "the requests never end"
        for recorder in self.scheduler.recorders:
            recorder.close()

    def clients(self) -> None:
        rng = self.rng
        while len(self.scheduler.requests) < 40 and rng.random() < 0.45:
            self.add()
        if self.scheduler.requests and rng.random() < 0.03:
            self.abort([rng.choice(list(self.scheduler.requests))])
        for req_id, left in self.open_sessions().items():
            if left and rng.random() < 0.1:
                self.seen["sessions"] += 1
                self.sessions[req_id] -= 1
                prompt = rng.choice([1, 20, 70])
                self.scheduler.add_request(self.request(req_id, prompt, resumable=True))
        if self.reset_cache and rng.random() < 0.02:
            self.seen["resets"] += 1
            self.scheduler.reset_prefix_cache(reset_running_requests=True)
        if rng.random() < 0.04:
            self.scheduler.set_pause_state(
                rng.choice([PauseState.PAUSED_ALL, PauseState.UNPAUSED])
            )
        elif rng.random() < 0.2:
            self.scheduler.set_pause_state(PauseState.UNPAUSED)

    def add(self) -> None:
        resumable = self.keep_sessions and self.rng.random() < 0.2
        prompts = [1, 7, 16, 30, 64, 120, 129, 200, 250, 300, 505]
        prompt = self.rng.choice(prompts[: 6 if resumable else None])
        request = self.request(f"request-{self.added}", prompt, resumable)
        if resumable:
            self.sessions[request.request_id] = 2
        self.seen["priorities"] += self.priorities
        self.scheduler.add_request(request)
        self.added += 1

    def request(self, req_id: str, prompt: int, resumable: bool) -> Request:
        rng = self.rng
        params = SamplingParams(max_tokens=rng.randrange(1, 60), ignore_eos=True)
        params.update_from_generation_config({}, eos_token_id=2)
        first = rng.randrange(3)
        return Request(
            request_id=req_id,
            prompt_token_ids=[3 + (first + i) % 500 for i in range(prompt)],
            sampling_params=params,
            pooling_params=None,
            block_hasher=get_request_block_hasher(BLOCK_SIZE, sha256),
            priority=rng.randrange(3),
            resumable=resumable,
        )

    def open_sessions(self) -> dict[str, int]:
        for req_id in self.sessions.keys() - self.scheduler.requests.keys():
            del self.sessions[req_id]
        return self.sessions

    def abort(self, ids) -> None:
        self.seen["aborts"] += 1
        self.scheduler.finish_requests(ids, RequestStatus.FINISHED_ABORTED)

    def step(self) -> None:
        rng = self.rng
        if self.speculate and not self.is_async:
            for request in self.scheduler.running:
                if not request.is_prefill_chunk and rng.random() < 0.7:
                    request.spec_token_ids = [7] * rng.randrange(SPEC_TOKENS + 1)
        output = self.scheduler.schedule()
        self.in_flight.append((output, self.result(output)))
        self.seen["two in flight"] += len(self.in_flight) == 2
        if len(self.in_flight) < self.depth and rng.random() < 0.9:
            return
        while self.in_flight:
            self.update()
            if self.in_flight and rng.random() < 0.9:
                return

    def result(self, output) -> ModelRunnerOutput:
        ids = list(output.num_scheduled_tokens)
        if not ids:
            return EMPTY_MODEL_RUNNER_OUTPUT
        requests = self.scheduler.requests
        return ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={req_id: i for i, req_id in enumerate(ids)},
            sampled_token_ids=[
                []
                if requests[req_id].is_prefill_chunk
                else self.sampled(output.scheduled_spec_decode_tokens.get(req_id, ()))
                for req_id in ids
            ],
        )

    def sampled(self, drafts) -> list[int]:
        return [7] * (1 + self.rng.randrange(len(drafts) + 1))

    def update(self) -> None:
        output, result = self.in_flight.popleft()
        # An output gets lost where a step fails; its requests then end.
        if self.rng.random() < 0.01 and output.num_scheduled_tokens:
            self.seen["lost"] += 1
            self.abort(list(output.num_scheduled_tokens))
            return
        self.scheduler.update_from_output(output, result)


def read_lines(path: pathlib.Path) -> list[bytes]:
    """The lines of a recorder's file, packed or not."""
    if path.suffix == ".packed":
        command = [os.environ["OPBENCH"], "layer1", "convert", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        path = path.with_suffix(".jsonl")
    return path.read_bytes().splitlines(keepends=True)


def count_what_was_seen(records, seen: Counter[str]) -> None:
    for record in records:
        seen["steps"] += 1
        seen["preemptions"] += record["preemptions"]
        seen["resumed"] += record["resumed"]["requests"]
        seen["empty runs"] += record["empty_steps"] > 1
        seen["drafts"] += record["decode_tokens"] > record["decode_batch_size"]
        seen["hits"] += record["prefix"]["local"]["hits"]
        seen["gaps"] += record["dropped_records_before"]
        seen["long contexts"] += sum(record["context_length_hist"][3:])
        for name in ("first", "middle", "final", "unsplit"):
            seen[name] += record["chunked_prefill"][name]
