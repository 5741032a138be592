# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""The same steps as JSON Lines and packed, for the converter's tests:
make_fixture.py OUT. OPPROF_TREES names the folder that holds the trees. The
first random schedule that goes through everything is taken."""

import gzip
import itertools
import json
import pathlib
import random
import shutil
import sys
import tempfile
from collections import Counter

import schedules

from vllm.compilation.cuda_graph import CUDAGraphStat

WANTED = ("preemptions", "resumed", "empty runs", "first", "middle", "final", "unsplit")
REVISIONS = ("r1-seed", "r3-packed")


class GraphDriver(schedules.Driver):
    def result(self, output):
        result = super().result(output)
        tokens = output.total_num_scheduled_tokens
        if tokens and self.rng.random() < 0.5:
            mode = self.rng.choice(["NONE", "PIECEWISE", "FULL"])
            result.cudagraph_stats = CUDAGraphStat(tokens, tokens + 7, 7, mode)
        return result


def record(work: pathlib.Path, seed: int) -> dict[str, pathlib.Path]:
    """The files of one random schedule, by revision."""
    rng = random.Random(seed)
    scheduler = schedules.random_scheduler(str(work), rng, True)
    folder = work / str(seed)
    schedules.watch(scheduler, folder, REVISIONS)
    GraphDriver(scheduler, rng, True).run(60)
    return {revision: next((folder / revision).iterdir()) for revision in REVISIONS}


def main(out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        schedules.write_model(work)
        for seed in itertools.count():
            files = record(work, seed)
            _, *records, _ = map(json.loads, files["r1-seed"].open())
            seen: Counter[str] = Counter()
            schedules.count_what_was_seen(records, seen)
            if all(seen[what] > 2 for what in WANTED):
                break
        shutil.copyfile(files["r3-packed"], out / "steps.packed")
        seed_lines = gzip.compress(files["r1-seed"].read_bytes(), mtime=0)
        (out / "steps.jsonl.gz").write_bytes(seed_lines)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
