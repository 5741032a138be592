# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""All revisions record the same about the same steps.

The recorders of all trees watch one scheduler of the installed, unpatched vLLM
through random schedules: chunked prefill, preemption and resumption, prefix
caching, speculative tokens, aborted requests, pauses, lost outputs, one or two
steps in flight. OPPROF_TREES names the folder that holds the trees, OPBENCH the
binary that converts packed records.
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

import pytest
import torch

from vllm.config import CacheConfig, ModelConfig, SchedulerConfig, VllmConfig
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
REFERENCE = "r1-seed"
# What differs between two recorders of the same step.
TIMES = ("submit_wall_ns", "submit_mono_ns", "ready_mono_ns", "complete_mono_ns")
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
# What the random schedules went through, over all tests of this file.
seen: Counter[str] = Counter()


def load_recorders():
    """The recorder modules of all trees, by revision."""
    modules = {}
    for path in sorted(pathlib.Path(os.environ["OPPROF_TREES"]).glob("*")):
        source = path / "vllm" / "v1" / "opprof.py"
        if not source.exists():
            continue
        name = "opprof_" + path.name.replace("-", "_")
        spec = importlib.util.spec_from_file_location(name, source)
        modules[path.name] = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path.name])
    return modules


MODULES = load_recorders()


class Watched:
    """What the patches add to a scheduler, for several recorders at once."""

    recorders = ()

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


class WatchedScheduler(Watched, Scheduler):
    pass


class WatchedAsyncScheduler(Watched, AsyncScheduler):
    pass


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    init_none_hash(sha256)
    path = tmp_path_factory.mktemp("model")
    (path / "config.json").write_text(json.dumps(MODEL))
    return str(path)


def create_scheduler(model_dir, rng: random.Random, is_async: bool) -> Watched:
    model_config = ModelConfig(
        model=model_dir, skip_tokenizer_init=True, dtype="float16", seed=42
    )
    scheduler_config = SchedulerConfig(
        max_num_seqs=rng.choice([4, 16, 64]),
        max_num_batched_tokens=rng.choice([64, 96, 512]),
        max_model_len=1024,
        enable_chunked_prefill=True,
        is_encoder_decoder=False,
        async_scheduling=is_async,
        watermark=0.0,
    )
    blocks = rng.choice([45, 70, 1000])
    cache_config = CacheConfig(
        block_size=BLOCK_SIZE, enable_prefix_caching=rng.random() < 0.5
    )
    vllm_config = VllmConfig(
        scheduler_config=scheduler_config,
        model_config=model_config,
        cache_config=cache_config,
    )
    spec = FullAttentionSpec(
        block_size=BLOCK_SIZE, num_kv_heads=1, head_size=1, dtype=torch.float32
    )
    cache_config.num_gpu_blocks = blocks
    register_all_kvcache_specs(vllm_config)
    scheduler = (WatchedAsyncScheduler if is_async else WatchedScheduler)(
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
    scheduler.max_num_scheduled_tokens = rng.choice(
        [scheduler.max_num_scheduled_tokens, 16]
    )
    return scheduler


class Driver:
    """Plays the engine, the model runner and the clients, at random."""

    def __init__(self, scheduler, rng: random.Random, is_async: bool) -> None:
        self.scheduler = scheduler
        self.rng = rng
        self.is_async = is_async
        self.depth = 2 if is_async else 1
        self.speculate = rng.random() < 0.4
        if self.speculate:
            scheduler.num_spec_tokens = SPEC_TOKENS
        self.in_flight = deque()
        self.added = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.clients()
            self.step()
        self.scheduler.set_pause_state(PauseState.UNPAUSED)
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
        if rng.random() < 0.04:
            self.scheduler.set_pause_state(
                rng.choice([PauseState.PAUSED_ALL, PauseState.UNPAUSED])
            )
        elif rng.random() < 0.2:
            self.scheduler.set_pause_state(PauseState.UNPAUSED)

    def add(self) -> None:
        rng = self.rng
        prompt = rng.choice([1, 7, 16, 30, 64, 129, 200, 300])
        params = SamplingParams(max_tokens=rng.randrange(1, 60), ignore_eos=True)
        params.update_from_generation_config({}, eos_token_id=2)
        first = rng.randrange(3)
        self.scheduler.add_request(
            Request(
                request_id=f"request-{self.added}",
                prompt_token_ids=[3 + (first + i) % 500 for i in range(prompt)],
                sampling_params=params,
                pooling_params=None,
                block_hasher=get_request_block_hasher(BLOCK_SIZE, sha256),
            )
        )
        self.added += 1

    def abort(self, ids) -> None:
        seen["aborts"] += 1
        self.scheduler.finish_requests(ids, RequestStatus.FINISHED_ABORTED)

    def step(self) -> None:
        rng = self.rng
        if self.speculate and not self.is_async:
            for request in self.scheduler.running:
                if not request.is_prefill_chunk and rng.random() < 0.7:
                    request.spec_token_ids = [7] * rng.randrange(SPEC_TOKENS + 1)
        output = self.scheduler.schedule()
        self.in_flight.append((output, self.result(output)))
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
            seen["lost"] += 1
            self.abort(list(output.num_scheduled_tokens))
            return
        self.scheduler.update_from_output(output, result)


def read_content(directory):
    """The lines of a recorder's file, without what may differ."""
    (path,) = directory.iterdir()
    if path.suffix == ".packed":
        path = convert(path)
    header, *records, footer = map(json.loads, path.read_bytes().splitlines())
    header.pop("total_blocks", None)
    for record in records:
        for name in TIMES:
            assert record.pop(name) > 0
        record.pop("backlog")
    footer.pop("backlog_max")
    return [set(header), *records, footer]


def convert(path):
    subprocess.run(
        [os.environ["OPBENCH"], "layer1", "convert", str(path)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return path.with_suffix(".jsonl")


def count_what_was_seen(records) -> None:
    for record in records:
        seen["steps"] += 1
        seen["preemptions"] += record["preemptions"]
        seen["resumed"] += record["resumed"]["requests"]
        seen["empty runs"] += record["empty_steps"] > 1
        seen["drafts"] += record["decode_tokens"] > record["decode_batch_size"]
        seen["hits"] += record["prefix"]["local"]["hits"]
        seen["gaps"] += record["dropped_records_before"]
        for name in ("first", "middle", "final", "unsplit"):
            seen[name] += record["chunked_prefill"][name]


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("runner", ["v1", "v2"])
@pytest.mark.parametrize("is_async", [False, True])
def test_all_revisions_record_the_same(model_dir, tmp_path, is_async, runner, seed):
    rng = random.Random(f"{seed} {runner} {is_async}")
    scheduler = create_scheduler(model_dir, rng, is_async)
    scheduler.use_v2_model_runner = runner == "v2"
    scheduler.recorders = []
    for revision, module in MODULES.items():
        module.source_blobs = dict  # the patched files are not in this package
        directory = str(tmp_path / revision)
        scheduler.recorders.append(module.StepRecorder(scheduler, directory))
    Driver(scheduler, rng, is_async).run(150)
    contents = {revision: read_content(tmp_path / revision) for revision in MODULES}
    reference = contents.pop(REFERENCE)
    count_what_was_seen(reference[1:-1])
    assert contents
    for revision, content in contents.items():
        assert len(content) == len(reference), revision
        for line, wanted in zip(content, reference):
            assert line == wanted, revision


def test_the_schedules_went_through_everything():
    wanted = ("aborts", "lost", "gaps", "preemptions", "resumed", "empty runs")
    wanted += ("drafts", "hits", "first", "middle", "final", "unsplit")
    assert seen["steps"] > 10_000
    assert not [name for name in wanted if seen[name] < 20], seen
