"""Plans of cells that a fake worker takes, and the means to run them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gpugraph.bench.estimate import Prices
from gpugraph.bench.local_workers import Limits, LocalWorker, WorkerProcess
from gpugraph.bench.plan import Plan, Planned
from gpugraph.bench.run import Runner, Totals
from gpugraph.bench.store import Store
from gpugraph.bench.sweep import Sweep
from gpugraph.bench.sweep_file import read_sweep
from gpugraph.measure.cell import Cell
from gpugraph.measure.sampling import Sampling
from gpugraph.problems.on_graphs import series_of, size_of
from gpugraph.records.record import Record
from tests.report.canned import mst_record

DEVICES = {"cpu": {"kind": "cpu", "description": {"kind": "cpu", "name": "a processor", "threads": 2}}}


def planned(algorithm: str, graph: str = "path:9", **limits: Any) -> Planned:
    """Return a cell that the fake worker treats as the name of its algorithm says."""
    series = f"{algorithm} {series_of(graph)}"
    axes = {"graph": graph, "algorithm": algorithm}
    cell = Cell("mst", graph, algorithm, "cpu", axes=axes, series=series, sweep="t")
    return Planned(cell, "cpu", size_of(graph), Limits(**limits))


class Bench:
    """Runs plans through fake workers in a folder.

    Attributes:
        told: how each cell ended, in order.
        requests: the algorithms of each request.
    """

    def __init__(self, folder: Path, budget_s: float = 600.0, workers: int = 1):
        self.folder, self.budget_s, self.workers = folder, budget_s, workers
        self.path, self._log, self._template = folder / "r.jsonl", folder / "log", folder / "template.json"
        (folder / "s.toml").write_text('[axes]\ngraph = "path:9"\n')
        record = mst_record(outcome="ok", device=DEVICES["cpu"]["description"])
        self._template.write_text(json.dumps(record))
        self.told: list[str] = []
        self.by_clock = False

    @property
    def requests(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def sweep(self) -> Sweep:
        given = {"budget" if self.by_clock else "default_budget": self.budget_s}
        return read_sweep(str(self.folder / "s.toml"), **given)

    def start(self) -> WorkerProcess:
        program = str(Path(__file__).with_name("fake_worker.py"))
        return WorkerProcess([sys.executable, "-S", program, str(self._template), str(self._log)])

    def run(self, *cells: Planned, resume: bool = False, retry: bool = False) -> Totals:
        with Store(self.path, resume=resume or retry) as store:
            prices = Prices(Sampling())
            workers = [LocalWorker(self.start) for _ in range(self.workers)]
            runner = Runner(self.sweep(), Plan(list(cells)), store, DEVICES, prices, self, retry=retry, workers=workers)
            return runner.run()

    def doing(self, planned: Planned, what: str) -> None:
        pass

    def ended(self, planned: Planned, record: Record, done: int, left_s: float) -> None:
        self.told.append(f"{planned.cell.algorithm} {planned.cell.graph} {record.outcome}")
        print(f"{planned.cell.algorithm} {planned.cell.graph}", flush=True)
