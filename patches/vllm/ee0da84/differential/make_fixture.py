# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""The same steps as JSON Lines and packed, for the converter's tests:
make_fixture.py OUT. OPPROF_TREES names the folder that holds the trees."""

import json
import pathlib
import random
import shutil
import sys
import tempfile

import test_same_content as same

from vllm.compilation.cuda_graph import CUDAGraphStat
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import init_none_hash

FILES = {"r1-seed": "steps.jsonl", "r3-packed": "steps.packed"}


class GraphDriver(same.Driver):
    def result(self, output):
        result = super().result(output)
        tokens = output.total_num_scheduled_tokens
        if tokens and self.rng.random() < 0.5:
            mode = self.rng.choice(["NONE", "PIECEWISE", "FULL"])
            result.cudagraph_stats = CUDAGraphStat(tokens, tokens + 7, 7, mode)
        return result


def main(out: pathlib.Path) -> None:
    init_none_hash(sha256)
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work)
        (root / "config.json").write_text(json.dumps(same.MODEL))
        rng = random.Random("packed 5")
        scheduler = same.create_scheduler(work, rng, True)
        scheduler.recorders = []
        for revision in FILES:
            module = same.MODULES[revision]
            module.source_blobs = dict
            directory = str(root / revision)
            scheduler.recorders.append(module.StepRecorder(scheduler, directory))
        GraphDriver(scheduler, rng, True).run(60)
        out.mkdir(parents=True, exist_ok=True)
        for revision, name in FILES.items():
            (path,) = (root / revision).iterdir()
            shutil.copyfile(path, out / name)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
