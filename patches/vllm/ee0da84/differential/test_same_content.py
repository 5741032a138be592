# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""All revisions record the same about the same steps.

The recorders of all trees watch one scheduler of the installed, unpatched vLLM
through random schedules (schedules.py). OPBENCH names the binary that converts
packed records.
"""

import inspect
import json
import random
from collections import Counter

import pytest
import schedules

REFERENCE = "r1-seed"
# What differs between two recorders of the same step.
TIMES = ("submit_wall_ns", "submit_mono_ns", "ready_mono_ns", "complete_mono_ns")
# What the random schedules went through, over all tests of this file.
seen: Counter[str] = Counter()


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return schedules.write_model(tmp_path_factory.mktemp("model"))


def read_content(directory):
    """The lines of a recorder's file, without what may differ."""
    (path,) = directory.iterdir()
    header, *records, footer = map(json.loads, schedules.read_lines(path))
    header.pop("total_blocks", None)
    for record in records:
        for name in TIMES:
            assert record.pop(name) > 0
        record.pop("backlog")
    footer.pop("backlog_max")
    return [set(header), *records, footer]


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("runner", ["v1", "v2"])
@pytest.mark.parametrize("is_async", [False, True])
def test_all_revisions_record_the_same(model_dir, tmp_path, is_async, runner, seed):
    rng = random.Random(f"{seed} {runner} {is_async}")
    scheduler = schedules.random_scheduler(model_dir, rng, is_async)
    scheduler.use_v2_model_runner = runner == "v2"
    schedules.watch(scheduler, tmp_path)
    driver = schedules.Driver(scheduler, rng, is_async)
    driver.run(150)
    seen.update(driver.seen)
    for recorder in scheduler.recorders:
        composer = getattr(recorder, "composer", None)
        # Unless there are drafts, lengths are followed and not read.
        assert composer is None or composer.steady or driver.speculate
    contents = {rev: read_content(tmp_path / rev) for rev in schedules.MODULES}
    reference = contents.pop(REFERENCE)
    schedules.count_what_was_seen(reference[1:-1], seen)
    assert contents
    for revision, content in contents.items():
        assert len(content) == len(reference), revision
        for line, wanted in zip(content, reference):
            assert line == wanted, revision


def test_the_schedules_went_through_everything():
    wanted = [
        *("aborts", "lost", "gaps", "preemptions", "resumed", "empty runs"),
        *("drafts", "hits", "first", "middle", "final", "unsplit", "resets"),
        *("sessions", "priorities", "two in flight", "long contexts"),
    ]
    assert seen["steps"] > 10_000
    assert not [name for name in wanted if seen[name] < 20], seen


def test_the_revisions_share_the_composer():
    """A change to one of them has to reach the others."""
    modules = [m for m in schedules.MODULES.values() if hasattr(m, "Composer")]
    assert len(modules) == 3
    for name in ("Composer", "DecodeLengths", "Batch", "bin_table", "histogram"):
        assert len({inspect.getsource(getattr(m, name)) for m in modules}) == 1, name
