# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""`--load-format opprof_random`: random weights that make lively outputs.

A model directory needs only its config.json. vLLM's own dummy weights fill all
tensors from one seed and the norms with almost nothing: every layer is the
same and greedy outputs repeat one token. Here every tensor has a seed of its
own, made from its name, norms are 1, and matrices keep the scale of what goes
through them. The weights depend on names, shapes, the kind of device and the
tensor-parallel rank, so all servers of one configuration have the same.
"""

import hashlib
import time
from collections.abc import Iterator

import torch
from torch import nn

from vllm.config import ModelConfig
from vllm.config.load import LoadConfig
from vllm.distributed import get_tensor_model_parallel_rank
from vllm.logger import init_logger
from vllm.model_executor.layers.linear import ReplicatedLinear
from vllm.model_executor.layers.vocab_parallel_embedding import (
    ParallelLMHead,
    VocabParallelEmbedding,
)
from vllm.model_executor.model_loader import register_model_loader
from vllm.model_executor.model_loader.base_loader import BaseModelLoader

logger = init_logger("vllm.opprof_loader")

LOAD_FORMAT = "opprof_random"
# Part of every tensor's seed. Another value is another model.
SEED = 20260711


class RandomModelLoader(BaseModelLoader):
    """Fills every parameter on the device where it is, without a copy."""

    def __init__(self, load_config: LoadConfig) -> None:
        super().__init__(load_config)
        if load_config.model_loader_extra_config:
            raise ValueError(f"--load-format {LOAD_FORMAT} takes no extra config")

    def download_model(self, model_config: ModelConfig) -> None:
        pass  # there is nothing to download

    @torch.no_grad()
    def load_weights(self, model: nn.Module, model_config: ModelConfig) -> None:
        start = time.monotonic()
        rank = get_tensor_model_parallel_rank()
        elements = 0
        for name, module, parameter in own_parameters(model):
            if not is_supported(parameter):
                raise ValueError(
                    f"--load-format {LOAD_FORMAT}: {name} is {parameter.dtype} on "
                    f"{parameter.device}; quantized models are not supported"
                )
            fill(name, module, parameter, rank)
            elements += parameter.numel()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        logger.info(
            "Filled %d random weights in %.1f s", elements, time.monotonic() - start
        )


def own_parameters(
    model: nn.Module,
) -> Iterator[tuple[str, nn.Module, nn.Parameter]]:
    """Every parameter once, under its first name, with the module that owns it."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) not in seen:
                seen.add(id(parameter))
                yield f"{prefix}.{name}" if prefix else name, module, parameter


def is_supported(parameter: torch.Tensor) -> bool:
    if parameter.device.type == "meta" or not parameter.is_floating_point():
        return False
    return torch.finfo(parameter.dtype).bits >= 16


def fill(name: str, module: nn.Module, parameter: torch.Tensor, rank: int) -> None:
    """Norms 1, biases 0, embeddings of unit size, all else by its fan-in.

    Ranks hold different parts of a tensor, except of a replicated one: routing
    must come out the same everywhere.
    """
    if parameter.dim() < 2:
        parameter.fill_(0.0 if name.endswith("bias") else 1.0)
        return
    if isinstance(module, ReplicatedLinear):
        rank = 0
    generator = torch.Generator(device=parameter.device)
    generator.manual_seed(tensor_seed(name, rank))
    parameter.normal_(0.0, spread(module, parameter), generator=generator)


def spread(module: nn.Module, parameter: torch.Tensor) -> float:
    """The standard deviation that keeps the size of activations."""
    lookup = isinstance(module, (VocabParallelEmbedding, nn.Embedding))
    if lookup and not isinstance(module, ParallelLMHead):
        return 1.0
    return float(parameter.shape[-1] ** -0.5)


def tensor_seed(name: str, rank: int) -> int:
    digest = hashlib.blake2b(f"{SEED}/{rank}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def register() -> None:
    """Entry point of the group vllm.general_plugins; may be called repeatedly."""
    register_model_loader(LOAD_FORMAT)(RandomModelLoader)
