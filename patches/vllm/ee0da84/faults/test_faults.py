# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the vLLM project
"""What recorders do when the disk fails or the engine dies, and whether the
reader explains what that leaves.

For every revision: serving goes on, each lost step is counted, and `opbench
layer1 check` (OPBENCH) names exactly what is missing from the file.
"""

import fcntl
import json
import multiprocessing
import os
import pathlib
import pickle
import random
import resource
import shutil
import signal
import subprocess
import termios
import threading
import time
from array import array
from typing import Any

import pytest
import schedules

from vllm.v1.outputs import ModelRunnerOutput

REVISIONS = list(schedules.MODULES)
PACKED = "r3-packed"
BUFFERED = [revision for revision in REVISIONS if revision != PACKED]
SECONDS = 60  # until a test gives up waiting


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return schedules.write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def engine(model_dir, tmp_path, monkeypatch):
    """Engines by revision, which are closed after the test."""
    made = []

    def create(revision: str) -> Engine:
        module = schedules.MODULES[revision]
        for name, value in (("RESERVE_BYTES", 4096), ("FLUSH_SECONDS", 0.01)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
        made.append(Engine(model_dir, revision, tmp_path / "steps"))
        return made[-1]

    yield create
    for engine in made:
        engine.recorder.close()


class Engine:
    """A real scheduler that always has something to decode, with a recorder."""

    def __init__(self, model_dir: str, revision: str, folder: pathlib.Path) -> None:
        self.module = schedules.MODULES[revision]
        self.scheduler = schedules.create_scheduler(model_dir)
        schedules.watch(self.scheduler, folder, [revision])
        (self.recorder,) = self.scheduler.recorders
        self.path = pathlib.Path(self.recorder.writer.path)
        self.driver = schedules.Driver(self.scheduler, random.Random(0), False)
        self.added = 0

    def step(self):
        while len(self.scheduler.requests) < 3:
            request = self.driver.request(f"request-{self.added}", 20, False)
            self.scheduler.add_request(request)
            self.added += 1
        output = self.scheduler.schedule()
        ids = list(output.num_scheduled_tokens)
        result = ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={req_id: i for i, req_id in enumerate(ids)},
            sampled_token_ids=[[7] for _ in ids],
        )
        assert self.scheduler.update_from_output(output, result)  # serving goes on
        return output

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.step()

    def repeat_first_step(self, count: int) -> None:
        """As far as the recorder can see: thousands of steps in no time."""
        assert not self.added
        output = self.step()
        for _ in range(count - 1):
            self.recorder.before_schedule()
            self.recorder.begin(output)
            self.recorder.finish(output, None, time.monotonic_ns())

    def wait_for_writer(self) -> None:
        wait_for(lambda: not self.recorder.writer.backlog())

    def wait_for_lines(self, count: int) -> None:
        wait_for(lambda: self.path.read_bytes().count(b"\n") >= count)


def wait_for(condition) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def explain(path: pathlib.Path) -> tuple[dict[str, str], dict[str, Any]]:
    """What the reader finds wrong, by check, and the numbers that it gives."""
    if path.suffix == ".packed":
        schedules.read_lines(path)  # converts it
        path = path.with_suffix(".jsonl")
    command = [os.environ["OPBENCH"], "layer1", "check", "--json", str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    wrong = {c["id"]: c["first"] for c in found["checks"] if c["failed"]}
    assert done.returncode == (12 if wrong else 0)
    return wrong, found


def split(path: pathlib.Path):
    """Header, records and footer, None for a footer that is not there."""
    header, *records = map(json.loads, schedules.read_lines(path))
    footer = records.pop() if records and "footer" in records[-1] else None
    return header, records, footer


def run_and_die(target, *args) -> int | None:
    """Run a function in a forked process, as engines are; its exit code."""
    process = multiprocessing.get_context("fork").Process(target=target, args=args)
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
    return process.exitcode


def limit_file_size(engine: Engine, room: int) -> None:
    """The kernel refuses to write beyond; Python ignores the signal."""
    size = engine.path.stat().st_size + room
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def serve_on_a_full_disk(create, revision: str, room_again: bool) -> None:
    engine = create(revision)
    limit_file_size(engine, 5000)
    engine.steps(20)
    if revision != PACKED:
        engine.wait_for_writer()
    engine.steps(80)
    if revision != PACKED:
        engine.wait_for_writer()
    if room_again:
        limit_file_size(engine, 1 << 20)
    engine.recorder.close()
    assert engine.recorder.next_index == 100


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("room_again", [False, True])
def test_a_full_disk(engine, tmp_path, revision, room_again):
    assert run_and_die(serve_on_a_full_disk, engine, revision, room_again) == 0
    (path,) = (tmp_path / "steps" / revision).iterdir()
    wrong, found = explain(path)
    _, records, footer = split(path.with_suffix(".jsonl"))
    assert [r["step_index"] for r in records] == list(range(len(records)))
    assert len(records) < 100
    if footer is None:
        # r3-packed stops at the first failure, and writes a footer if it fits.
        assert not room_again or revision == PACKED
        assert list(wrong) == ["footer"]
    else:
        assert not wrong
        assert footer["written"] == len(records)
        assert footer["dropped"] == found["dropped"] == 100 - len(records)


@pytest.mark.parametrize("revision", BUFFERED)
def test_a_device_without_room(engine, revision):
    """Where not even the cut after a failed write works."""
    served = engine(revision)
    writer = served.recorder.writer
    writer.file.close()
    writer.file = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
    served.steps(10)
    served.wait_for_writer()
    assert (writer.written, writer.lost_steps) == (0, 10)
    served.recorder.close()
    assert list(explain(served.path)[0]) == ["footer"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_removed_directory(engine, revision):
    served = engine(revision)
    served.steps(5)
    shutil.rmtree(served.path.parent)
    served.steps(100)
    served.recorder.close()
    recorder = served.recorder
    assert (recorder.encoded, recorder.dropped) == (105, 0)
    assert not served.path.parent.exists()


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_unwritable_directory_stops_the_start(model_dir, tmp_path, revision):
    """And leaves neither a file nor a thread."""
    folder = tmp_path / "steps"
    folder.mkdir()
    folder.chmod(0o555)
    scheduler = schedules.create_scheduler(model_dir)
    threads = threading.active_count()
    user = os.geteuid()
    if user == 0:  # to whom the mode means nothing
        for parent in tmp_path, *tmp_path.parents:
            if not parent.stat().st_mode & 1:
                parent.chmod(0o711)
        os.seteuid(65534)
    try:
        with pytest.raises(ValueError, match="VLLM_OPPROF_DIR=.*Permission denied"):
            schedules.watch(scheduler, folder, [revision])
    finally:
        os.seteuid(user)
    assert threading.active_count() == threads
    assert not list(folder.iterdir())


class StalledDisk:
    """A pipe that nobody reads instead of the file behind its header."""

    def __init__(self, engine: Engine, path: pathlib.Path) -> None:
        os.mkfifo(path)
        self.reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.header = engine.path.read_bytes()
        self.path = engine.path
        writer = engine.recorder.writer
        writer.file.close()
        writer.file = open(path, "wb", buffering=0)  # noqa: SIM115
        self.thread = threading.Thread(target=self._drain)

    def _drain(self) -> None:
        os.set_blocking(self.reading, True)
        with open(self.reading, "rb") as pipe, self.path.open("ab") as file:
            shutil.copyfileobj(pipe, file)

    def is_full(self) -> bool:
        unread = array("i", [0])
        fcntl.ioctl(self.reading, termios.FIONREAD, unread)
        return unread[0] > fcntl.fcntl(self.reading, fcntl.F_GETPIPE_SZ) // 2

    def go_on(self) -> None:
        self.thread.start()

    def wait_for_the_end(self) -> None:
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()


@pytest.mark.parametrize("revision", BUFFERED)
@pytest.mark.parametrize("bound", ["records", "bytes"])
def test_a_stalled_disk(engine, tmp_path, revision, bound):
    """Serving goes on, and what waits is bounded in records and in bytes."""
    served = engine(revision)
    recorder, writer = served.recorder, served.recorder.writer
    disk = StalledDisk(served, tmp_path / "fifo")
    name = recorder.engine_id
    if bound == "bytes":
        recorder.engine_id = name + "x" * 5000  # makes records long
    served.repeat_first_step(12_000)
    waiting = writer.put_bytes - writer.handed_bytes
    dropped = recorder.dropped
    assert dropped == 12_000 - writer.put_records > 1000
    if bound == "records":
        # r1-seed holds what its thread has taken out of the queue besides.
        assert writer.backlog() == 8192 or revision == "r1-seed"
        assert 8192 <= writer.backlog() < 9500
    else:
        assert (16 << 20) - 7000 < waiting <= 16 << 20
    recorder.engine_id = name
    disk.go_on()
    served.wait_for_writer()
    served.steps(5)
    recorder.close()
    disk.wait_for_the_end()
    if bound == "records":
        wrong, found = explain(served.path)
        assert not wrong
        assert found["dropped"] == dropped
        assert found["steps"] == 12_005
        _, records, footer = split(served.path)
        gaps = [r["dropped_records_before"] for r in records[-5:]]
        assert gaps == [dropped, 0, 0, 0, 0]
        assert footer["written"] == len(records) == 12_005 - dropped


@pytest.mark.parametrize("revision", BUFFERED)
def test_a_disk_that_stalls_until_the_end(engine, tmp_path, monkeypatch, revision):
    """The engine ends without waiting for it."""
    served = engine(revision)
    monkeypatch.setattr(served.module, "CLOSE_SECONDS", 0.05)
    disk = StalledDisk(served, tmp_path / "fifo")
    served.repeat_first_step(500)
    wait_for(disk.is_full)
    served.recorder.close()
    # What is in the pipe when the process ends is all that the disk got.
    got = os.read(disk.reading, 1 << 20)
    torn = served.path.with_name("torn.jsonl")
    torn.write_bytes(disk.header + got)
    wrong, found = explain(torn)
    assert list(wrong) == ["torn-tail", "footer"]
    assert found["records"] == got.count(b"\n")
    disk.go_on()
    disk.wait_for_the_end()


def serve_and_die(create, revision: str, torn: bool) -> None:
    engine = create(revision)
    engine.steps(10)
    if revision == PACKED:
        if torn:
            tear_packed(engine)
        os.kill(os.getpid(), signal.SIGKILL)
    engine.wait_for_lines(11)
    if torn:
        tear(engine)
    os.kill(os.getpid(), signal.SIGKILL)


def tear(engine: Engine) -> None:
    """Die in the middle of the next write."""
    file = engine.recorder.writer.file

    class Torn:
        def write(self, data) -> int:
            file.write(data[: len(data) - 100])
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

    engine.recorder.writer.file = Torn()
    engine.steps(1)
    time.sleep(SECONDS)


def tear_packed(engine: Engine) -> None:
    """Die when the body of a record is there and its number is not."""

    class NoNumber:
        size = engine.module.HEAD.size

        def pack_into(self, *_) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

    engine.module.__dict__["HEAD"] = NoNumber()
    engine.steps(1)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("torn", [False, True])
def test_a_killed_engine(engine, tmp_path, revision, torn):
    code = run_and_die(serve_and_die, engine, revision, torn)
    assert code == -signal.SIGKILL
    (path,) = (tmp_path / "steps" / revision).iterdir()
    wrong, found = explain(path)
    # The converter leaves a record without its number out.
    tail = ["torn-tail"] if torn and revision != PACKED else []
    assert list(wrong) == [*tail, "footer"]
    assert found["records"] == found["steps"] == 10


def serve_until_told(create, revision: str, ready, worker) -> None:
    """An engine core: it ends its workers first, then its scheduler."""

    def stop(*_) -> None:
        raise SystemExit

    signal.signal(signal.SIGTERM, stop)
    engine = create(revision)
    engine.steps(10)
    try:
        ready.set()
        time.sleep(SECONDS)
    finally:
        worker.wait(SECONDS)
        engine.recorder.close()


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("slow", [False, True])
def test_a_stop_with_a_slow_worker(engine, tmp_path, revision, slow):
    """vLLM kills an engine that takes too long. What was recorded is on the
    disk by then; only the footer is lost."""
    context = multiprocessing.get_context("fork")
    ready, worker = context.Event(), context.Event()
    process = context.Process(
        target=serve_until_told, args=(engine, revision, ready, worker)
    )
    process.start()
    assert ready.wait(SECONDS)
    (path,) = (tmp_path / "steps" / revision).iterdir()
    process.terminate()
    if not slow:
        worker.set()
    elif revision != PACKED:
        wait_for(lambda: path.read_bytes().count(b"\n") == 11)
    if slow:
        process.kill()
    process.join(SECONDS)
    assert process.exitcode == (-signal.SIGKILL if slow else 0)
    wrong, found = explain(path)
    assert list(wrong) == (["footer"] if slow else [])
    assert found["records"] == found["steps"] == 10


@pytest.mark.parametrize("revision", REVISIONS)
def test_nothing_more_is_pickled(engine, model_dir, revision):
    """Workers get what they get without a recorder, also afterwards."""
    plain = engine(revision)
    plain.scheduler.recorders = []
    recorded = engine(revision)
    for _ in range(100):
        outputs = [served.step() for served in (plain, recorded)]
        sizes = [len(pickle.dumps(output)) for output in outputs]
        assert sizes[0] == sizes[1]
        assert vars(outputs[0]).keys() == vars(outputs[1]).keys()
