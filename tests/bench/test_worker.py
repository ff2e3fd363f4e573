"""The real worker, in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpugraph.bench import local_workers
from gpugraph.bench.local_workers import WorkerDied, WorkerProcess
from gpugraph.bench.messages import cell_from, cell_to_words
from gpugraph.bench.worker import SMALL, Worker
from gpugraph.measure.cell import Cell
from gpugraph.measure.run_cell import DeviceLost
from tests.cli.runner import refuse
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]
GREETING = {"do": "devices", "names": []}
"""A request that is answered at once: a worker that answers has started."""
QUICK = {"min_samples": 2, "max_samples": 2}


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerProcess]:
    with WorkerProcess() as process:
        yield process


def answers(worker: WorkerProcess, *cells: Cell, **more: Any) -> list[dict[str, Any]]:
    words = [cell_to_words(cell) for cell in cells]
    worker.ask({"do": "measure", "cells": words, "sampling": QUICK, **more})
    heard = []
    while True:
        event = worker.hear(300)
        assert event is not None
        heard.append(event)
        if event["event"] in ("done", "lost"):
            return heard


def found(heard: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in heard if event["event"] == kind]


def test_a_cell_survives_the_way_to_the_worker():
    cell = Cell("sssp", "rmat:8", "delta-stepping", "cpu", "random:2", ("renumber",), {"delta": "3"}, axes={"n": 1})
    assert cell_from(cell_to_words(cell)) == cell


class Noted:
    """A session that notes what it is to measure, and loses the device over the algorithms in ``fatal``."""

    def __init__(self, fatal: str = "") -> None:
        self.fatal, self.asked = fatal, list[list[tuple[str, str]]]()

    def identify(self, cell: Cell, *_: object) -> str:
        return cell.algorithm

    def failed_record(self, cell: Cell, error: Exception) -> Any:
        return SimpleNamespace(outcome="threw", data={"algorithm": cell.algorithm, "message": str(error)})

    def measure(self, cells: list[Cell], sampling: object, *, failed: Any, **_: object) -> None:
        self.asked.append([(cell.graph, cell.algorithm) for cell in cells])
        for at, cell in enumerate(cells):
            if cell.algorithm == self.fatal:
                failed(at, ValueError("boom"))
                raise DeviceLost("lost")


def served(session: Noted, *cells: Cell, times: int = 1) -> list[tuple[str, dict[str, Any]]]:
    sent: list[tuple[str, dict[str, Any]]] = []
    worker = Worker(lambda event, **content: sent.append((event, content)))
    worker._session = session
    for _ in range(times):
        worker.serve({"do": "measure", "cells": [cell_to_words(cell) for cell in cells], "sampling": {}})
    return sent


def test_the_first_cells_of_a_worker_run_once_untimed_on_a_small_graph() -> None:
    session = Noted()
    cells = [Cell("mst", "rmat:6", name, "cpu") for name in ("kruskal", "prim", "peer:scipy", "kruskal")]
    sent = served(session, *cells, Cell("mst", "rmat:6", "filter-boruvka", "emulated"), times=2)
    asked = [("rmat:6", name) for name in ("kruskal", "prim", "peer:scipy", "kruskal", "filter-boruvka")]
    assert session.asked == [[(SMALL, "kruskal"), (SMALL, "prim")], asked, asked]
    assert not [event for event, _ in sent if event == "finished"]


def test_a_device_lost_before_the_first_cell_is_that_cells_and_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ended(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", ended)
    sent: list[tuple[str, dict[str, Any]]] = []
    worker = Worker(lambda event, **content: sent.append((event, content)))
    worker._session = Noted(fatal="prim")
    cells = [cell_to_words(Cell("mst", "rmat:6", name, "cpu")) for name in ("kruskal", "prim")]
    with pytest.raises(SystemExit):
        worker.serve({"do": "measure", "cells": cells, "sampling": {}})
    (_, finished), (_, lost) = sent
    assert (finished["index"], finished["record"]["message"], lost["message"]) == (1, "boom", "lost")


def test_it_measures_what_competes_and_tells_ids_before_and_records_after(worker):
    heard = answers(worker, Cell("mst", "rmat:6", "kruskal", "cpu"), Cell("mst", "rmat:6", "prim", "cpu"))
    ids = [event["id"] for event in found(heard, "identified")]
    records = {event["index"]: event["record"] for event in found(heard, "finished")}
    assert [records[i]["outcome"] for i in (0, 1)] == ["ok", "ok"]
    assert [records[i]["cell"]["id"] for i in (0, 1)] == ids
    assert len(records[0]["samples_s"]["kernel"]) == 2


def test_what_is_finished_is_not_measured_again(worker):
    cell = Cell("mst", "rmat:6", "kruskal", "cpu")
    (told,) = found(answers(worker, cell), "identified")
    heard = answers(worker, cell, finished=[told["id"]])
    assert found(heard, "already") == [{"event": "already", "index": 0}]
    assert not found(heard, "finished")


def test_a_graph_at_fault_is_opened_once_and_told_for_every_cell(worker, tmp_path):
    (tmp_path / "bad.gr").write_text("p sp 2 1\na 1 9 4\n")
    heard = answers(worker, *(Cell("mst", str(tmp_path / "bad.gr"), a, "cpu") for a in ("kruskal", "prim")))
    records = [event["record"] for event in found(heard, "finished")]
    assert [r["outcome"] for r in records] == ["refused", "refused"]
    assert all("bad.gr line 2" in r["message"] for r in records)
    assert sum("loading" in event["what"] for event in found(heard, "progress")) == 1


def test_one_cell_that_cannot_be_leaves_the_others_alone(worker):
    heard = answers(
        worker, Cell("mst", "rmat:6", "kruskal", "cpu", options={"x": "1"}), Cell("mst", "rmat:6", "prim", "cpu")
    )
    outcomes = {event["index"]: event["record"]["outcome"] for event in found(heard, "finished")}
    assert outcomes == {0: "refused", 1: "ok"}


def test_a_peer_or_a_plugin_that_throws_is_reported_in_one_line_without_a_trace(tmp_path):
    (tmp_path / "mine.py").write_text("def driver(view, clock):\n    raise ValueError('a trouble of mine')\n")
    told = {"bad": {"command": f"{sys.executable} -c 1/0 {{graph.wel}}", "time": "(.)"}}
    with WorkerProcess() as worker:
        cells = Cell("mst", "path:5", "peer:bad", "cpu"), Cell("mst", "path:5", f"{tmp_path / 'mine.py'}:driver", "cpu")
        heard = answers(worker, *cells, peers=told)
        records = {event["index"]: event["record"] for event in found(heard, "finished")}
        worker.end()
        said = [*worker._tail]
    assert [records[i]["outcome"] for i in (0, 1)] == ["threw", "threw"]
    assert "ZeroDivisionError" in records[0]["message"]
    assert "mine.py line 2: ValueError: a trouble of mine" in records[1]["message"]
    assert said == []


def test_what_an_algorithm_prints_does_not_disturb_the_talk(worker, tmp_path):
    (tmp_path / "loud.py").write_text(
        "import os\n"
        "from gpugraph.problems.mst.cpu_kruskal import kruskal\n"
        "def driver(view, clock):\n"
        '    print(\'{"event": "done"}\', flush=True)\n'
        "    os.write(1, b'raw')\n"
        "    assert os.read(0, 1) == b''\n"
        "    return kruskal(view, clock)\n"
    )
    heard = answers(worker, Cell("mst", "rmat:6", f"{tmp_path / 'loud.py'}:driver", "cpu"))
    assert [event["record"]["outcome"] for event in found(heard, "finished")] == ["ok"]


def test_devices_are_described_or_it_is_said_why_not(worker):
    worker.ask({"do": "devices", "names": ["cpu", "cuda:99"]})
    event = worker.hear(300)
    assert event is not None
    assert event["devices"]["cpu"]["kind"] == "cpu"
    assert event["devices"]["cpu"]["description"]["memory_bytes"] > 0
    assert event["devices"]["cuda:99"]["unavailable"]


def test_a_worker_that_is_killed_is_noticed(monkeypatch):
    monkeypatch.setattr(local_workers, "GRACE_S", 300.0)
    with WorkerProcess() as worker:
        assert worker.answer(GREETING, "devices", 300)
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(WorkerDied, match="SIGKILL") as died:
            worker.hear(300)
    assert died.value.exit_code == 3  # memory may have run out


def test_a_worker_that_is_killed_while_it_plans_ends_the_bench_with_a_line_and_no_defect(tmp_path, monkeypatch):
    monkeypatch.setattr(local_workers, "GRACE_S", 300.0)
    monkeypatch.setattr(WorkerProcess, "ask", lambda self, request: os.kill(self.pid, signal.SIGKILL))
    said = refuse(3, "bench", "path:5", "--algo", "kruskal@cpu", "--save", str(tmp_path / "r.jsonl"))
    assert said.startswith("gpugraph: error: the worker that plans: its process was ended by SIGKILL")


PARENT = """
import sys, time
from gpugraph.bench.local_workers import WorkerProcess
worker = WorkerProcess()
assert worker.answer({"do": "devices", "names": []}, "devices", 300)
print(worker.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_dies_with_its_parent():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(6000):
        if not _runs(pid):
            break
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@extended
def test_a_worker_that_is_asked_to_end_tidies_up(tmp_path, monkeypatch):
    monkeypatch.setattr(local_workers, "GRACE_S", 300.0)
    program = f"""
import sys, tempfile, time
from gpugraph.bench import worker

def serve(self, request):
    with tempfile.TemporaryDirectory(dir={str(tmp_path)!r}):
        print("busy", file=sys.stderr, flush=True)
        time.sleep(1000)

worker.Worker.serve = serve
worker.main()
"""
    with WorkerProcess([sys.executable, "-c", program, str(os.getpid())]) as process:
        process.ask({"do": "wait"})
        while "busy" not in process._tail:
            time.sleep(0.02)
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
