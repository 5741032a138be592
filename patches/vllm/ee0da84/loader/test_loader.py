# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""The random weights by themselves, and the outputs of a model that has them.

Run with this folder on PYTHONPATH, as a server is: nothing is installed.
"""

import json
import os
import pathlib

import opprof_loader
import pytest
import torch
from torch import nn

from vllm.config.load import LoadConfig
from vllm.model_executor.model_loader import get_model_loader
from vllm.plugins import load_general_plugins

CONFIG = pathlib.Path(__file__).parent.parent / "cpu" / "tiny-qwen3-moe" / "config.json"


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(64)
        self.proj = nn.Linear(64, 256)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(500, 64)
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.head = nn.Linear(64, 500, bias=False)
        self.same_head = self.head


def filled(rank: int = 0, seed: int = 1) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    model = Model().to(torch.bfloat16)
    with torch.no_grad():
        for name, module, parameter in opprof_loader.own_parameters(model):
            opprof_loader.fill(name, module, parameter, rank)
    return {name: p.float() for name, p in model.named_parameters()}


def test_every_tensor_has_its_own_seed():
    weights = filled()
    assert torch.equal(weights["layers.0.norm.weight"], torch.ones(64))
    assert torch.equal(weights["layers.0.proj.bias"], torch.zeros(256))
    first, second = weights["layers.0.proj.weight"], weights["layers.1.proj.weight"]
    assert not torch.equal(first, second)
    assert first.std().item() == pytest.approx(64**-0.5, rel=0.02)
    assert weights["embed.weight"].std().item() == pytest.approx(1, rel=0.02)


def test_weights_depend_on_name_and_rank_only():
    one, two, other = filled(seed=1), filled(seed=2), filled(rank=1)
    for name, weight in one.items():
        assert torch.equal(weight, two[name]), name
    assert not torch.equal(one["head.weight"], other["head.weight"])


def test_parameters_with_two_names_are_filled_once():
    names = [name for name, _, _ in opprof_loader.own_parameters(Model())]
    assert len(names) == len(set(names)) == 10
    assert "same_head.weight" not in names


@pytest.mark.parametrize("tensor, supported", [
    (torch.zeros(2, dtype=torch.bfloat16), True),
    (torch.zeros(2, dtype=torch.float32), True),
    (torch.zeros(2, dtype=torch.float8_e4m3fn), False),
    (torch.zeros(2, dtype=torch.int32), False),
    (torch.zeros(2, device="meta"), False),
])  # fmt: skip
def test_quantized_weights_are_refused(tensor, supported):
    assert opprof_loader.is_supported(tensor) == supported


def test_the_folder_alone_registers_the_format():
    load_general_plugins()
    config = LoadConfig(load_format=opprof_loader.LOAD_FORMAT)
    loader = get_model_loader(config)
    assert type(loader).__name__ == "RandomModelLoader"
    config.model_loader_extra_config = {"seed": 1}
    with pytest.raises(ValueError, match="no extra config"):
        get_model_loader(config)


def test_outputs_are_lively(tmp_path, monkeypatch):
    """Greedy outputs: many tokens, other ones per prompt, the same every time."""
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    from vllm import LLM, SamplingParams

    (tmp_path / "config.json").write_text(CONFIG.read_text())
    vocabulary = json.loads(CONFIG.read_text())["vocab_size"]
    llm = LLM(
        model=str(tmp_path),
        load_format=opprof_loader.LOAD_FORMAT,
        skip_tokenizer_init=True,
        enforce_eager=True,
        max_model_len=512,
        enable_prefix_caching=False,
    )
    prompts = [
        {"prompt_token_ids": [(7 * p + 13 * i) % vocabulary for i in range(64)]}
        for p in range(16)
    ]
    # The same last tokens: what came before must matter, too.
    prompts[1]["prompt_token_ids"][32:] = prompts[0]["prompt_token_ids"][32:]
    params = SamplingParams(
        temperature=0.0, max_tokens=64, ignore_eos=True, detokenize=False
    )

    def outputs() -> list[tuple[int, ...]]:
        return [
            tuple(llm.generate([p], params, use_tqdm=False)[0].outputs[0].token_ids)
            for p in prompts
        ]

    first = outputs()
    assert len(set(first)) == len(prompts)
    assert min(len(set(tokens)) for tokens in first) >= 4
    assert outputs() == first
    assert os.listdir(tmp_path) == ["config.json"]
