# SPDX-License-Identifier: Apache-2.0
"""Write a small model with random weights: make_model.py CONFIG.json OUT_DIR.

The weights depend on the configuration and a fixed seed only. The wide
initializer_range of the configuration makes greedy outputs vary from token to
token; vLLM's own dummy weights would repeat one token.
"""

import os
import shutil
import sys
import tempfile

import torch
from transformers import AutoConfig, AutoModelForCausalLM

SEED = 20260711


def main(config_file: str, out: str) -> None:
    config = AutoConfig.from_pretrained(config_file)
    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    parent = os.path.dirname(os.path.abspath(out))
    with tempfile.TemporaryDirectory(dir=parent) as work:
        model.save_pretrained(os.path.join(work, "model"))
        shutil.rmtree(out, ignore_errors=True)
        os.rename(os.path.join(work, "model"), out)
    print(f"{sum(p.numel() for p in model.parameters())} parameters in {out}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_model.py CONFIG.json OUT_DIR")
    main(sys.argv[1], sys.argv[2])
