"""From which size on a GPU is faster: one number, in advice and on a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gpugraph.ext.charts.template import fill
from gpugraph.ext.graph_files.figures import advice_lines
from gpugraph.ext.machine import advice
from gpugraph.ext.machine.break_even import ANSWER, ARC_BYTES, BUS_BYTES_PER_S, CALL_S, START_S, break_even, edges_text
from gpugraph.ext.machine.data_sheets import RATES, parse_gpus
from gpugraph.records.record import Record
from tests.report.canned import mst_record

ARCS = 10**6


def timed(device: str, answer_s: float, kernel_s: float, **more: Any) -> Record:
    """Return a record of a million arcs whose answer takes so long, its kernel included."""
    record = mst_record(outcome="ok", device={"kind": device, "name": device, "threads": 2}, **more)
    record["graph"] |= {"name": "rmat:15", "source": "rmat:15", "arcs": ARCS, "edges": ARCS // 2}
    record["phases_s"] = dict.fromkeys(ANSWER, (answer_s - kernel_s) / (len(ANSWER) - 1))
    record["phases_s"] |= {"kernel": kernel_s, "start": 7.0, "sampling": 9.0, "total": 16.0 + answer_s}
    return Record.of(record, file=f"{device}.jsonl")


def test_a_command_gains_what_an_arc_takes_longer_on_a_cpu_and_a_call_what_its_kernel_does() -> None:
    command, call = break_even(timed("cpu", 0.5, 0.1), timed("cuda", 0.02, 0.001))
    assert command == pytest.approx(START_S / (0.48 / ARCS - ARC_BYTES / BUS_BYTES_PER_S) / 2, abs=1)
    assert call == pytest.approx(CALL_S / (0.099 / ARCS) / 2, abs=1)
    assert break_even(timed("cpu", 0.02, 0.001), timed("cuda", 0.5, 0.1)) == (None, None)
    assert [edges_text(one) for one in (None, 12_345, 2_345_678)] == ["never", "12,300", "2.35 M"]


def test_of_a_gpu_by_its_data_sheet_the_kernel_alone_counts_by_the_mean_of_its_rates() -> None:
    cpu, (h200, l4) = timed("cpu", 0.5, 0.1), parse_gpus(["H200,L4"], 0.0)
    slow, fast = RATES["mst"]
    assert break_even(cpu, h200) == pytest.approx(
        break_even(cpu, timed("cuda", ARCS / (slow * fast) ** 0.5, ARCS / (slow * fast) ** 0.5)), abs=1
    )
    assert (break_even(cpu, l4)[1] or 0) > (break_even(cpu, h200)[1] or 0)


def test_advice_and_the_page_show_the_same_number_for_the_same_graph(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measured = {"cpu": timed("cpu", 0.5, 0.1), "cuda": timed("cuda", 0.02, 0.001)}

    class Measured(advice.Session):
        def measure(self, cells: Any, sampling: Any, progress: Any, finished: Any, *_: Any) -> None:
            for at, cell in enumerate(cells):
                finished(at, Record.of(measured[cell.device].data | {"problem": cell.problem}))

    devices = [
        {"kind": kind, "device": kind, "usable": True, "name": kind, "free_bytes": 2**40, "detail": ""}
        for kind in measured
    ]
    monkeypatch.setattr(advice, "found_devices", lambda: devices)
    monkeypatch.setattr(advice, "Session", Measured)
    advised = advice.advise("rmat:15", lambda what: None)
    (tmp_path / "p.md.j2").write_text("{{ break_even({'here': 'cpu'}, ['cuda'], ['rmat:15']) }}")
    page = fill(str(tmp_path / "p.md.j2"), [*measured.values()])
    (row,) = [line.split("|") for line in page.splitlines() if line.startswith("| mst")]
    lines = ["".join(text for text, _ in line) for line in advice_lines(advised) if line]
    (shown,) = [re.split(r"\s{2,}", line) for line in lines if line.startswith("mst ")]
    assert [text.strip() for text in row[3:5]] == shown[-2:]
