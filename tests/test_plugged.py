"""A package that is installed beside gpugraph plugs in an algorithm, a peer, a format, an exporter, an instrument."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpugraph
from gpugraph.base import plugged
from gpugraph.base.errors import InputError
from tests.cli.runner import refuse, run, succeed

CODE = '''
import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from gpugraph.ext.formats.base import Format
from gpugraph.ext.peers.adapter import Adapter
from gpugraph.ext.peers.libraries import scipy_matrix
from gpugraph.ext.peers.mst import BY_PEERS
from gpugraph.ext.peers.peer import Peer
from gpugraph.graph.build import ArcList
from gpugraph.measure.instruments import Instrument
from gpugraph.report.exporters import Exporter


class Driver:
    """Labels by repeated minima."""

    problem, devices = "components", ("cpu",)

    def prepare(self, view, device):
        return view

    def run(self, view, clock):
        labels = np.arange(view.vertices)
        tails = np.repeat(labels, np.diff(view.offsets))
        while True:
            before = labels.copy()
            np.minimum.at(labels, tails, labels[view.targets])
            if (before == labels).all():
                return labels


def read(source):
    numbers = np.array(bytes(source.data).split()[1:], np.int64).reshape(-1, 3)
    tails, heads, weights = numbers.T
    return ArcList(tails, heads, weights.astype(np.uint32), int(heads.max()) + 1, one_sided=True)


def write(graph, stream, extension):
    stream.write(b"TRIPLES\\n")
    for row in graph.to_arrow().select(["u", "v", "weight"]).to_pylist():
        stream.write(f"{row['u']} {row['v']} {row['weight']}\\n".encode())


TRIPLES = Format("triples", "triples of numbers", (".triples",), read, write)
ABOUT = {"module": "scipy", "distributions": ("scipy",), "solves": {"mst": BY_PEERS.peers["scipy"]}}
PEER = Peer("scipy-again", "SciPy again", "nobody", 2026, **ABOUT)
EXPORTER = Exporter((".count",), "a count", lambda: lambda results: f"{len(results.records)} records")


class Ticks(Instrument):
    ticks = 0

    def after(self, run):
        Ticks.ticks += 1

    def section(self, measurement):
        return {"ticks": Ticks.ticks}
'''
POINTS = {
    "algorithms": "ticking = ggplug:Driver",
    "peers": "scipy-again = ggplug:PEER",
    "formats": "triples = ggplug:TRIPLES\nbroken = ggplug:nothing",
    "exporters": "count = ggplug:EXPORTER",
    "instruments": "ticks = ggplug:Ticks",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    about = tmp_path / "ggplug-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ggplug\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(
        "".join(f"[gpugraph.{group}]\n{text}\n\n" for group, text in POINTS.items())
    )
    (tmp_path / "ggplug.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)  # of the processes that run peers
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plugged, "USED", used := {})
    monkeypatch.setattr("gpugraph.measure.environment.USED", used)
    plugged.offered.cache_clear()
    yield tmp_path
    plugged.offered.cache_clear()
    sys.modules.pop("ggplug", None)


def test_an_algorithm_is_found_and_its_record_names_the_package(package: Path) -> None:
    record = gpugraph.components("rmat:6", algo="ticking", device="cpu", time=True)
    assert record.verdict == "verified"
    assert record.data["environment"]["packages"]["ggplug"] == "1.2"
    assert record.data["algorithm_source"]["authors"] == "ggplug 1.2"


def test_an_instrument_has_a_section_in_every_record(package: Path) -> None:
    record = gpugraph.mst("rmat:6", device="cpu", time=True)
    assert record.data["ticks"] > 0
    assert record.data["environment"]["packages"]["ggplug"] == "1.2"


def test_a_peer_is_listed_and_measured(package: Path) -> None:
    assert "peer:scipy-again" in succeed("algos", "--peers", "--format", "json").out
    (record,) = gpugraph.bench("rmat:6", algo=(), peer="scipy-again", device="cpu", max_seconds=0.05)
    assert (record.verdict, record.data["algorithm_source"]["authors"]) == ("verified", "nobody")
    assert "did you mean 'scipy-again'" in refuse(2, "mst", "rmat:5", "--peer", "scipy-agian", "--device", "cpu")


def test_a_format_is_read_and_written_by_the_ending_of_a_name(package: Path) -> None:
    graph = gpugraph.generate("grid:5x5")
    path = gpugraph.save(graph, package / "g.triples.gz")
    assert gpugraph.load(path).digest == gpugraph.load(path, input_format="triples").digest == graph.digest
    with pytest.raises(
        InputError, match=r"cannot load it: AttributeError.* — repair or uninstall the package"
    ) as caught:
        gpugraph.load(path, input_format="broken")
    assert caught.value.where == "entry point ggplug:nothing"


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ("formats", ("info", "g.quits")),
        ("peers", ("mst", "grid:4x4", "--peer", "quits", "--device", "cpu")),
        ("instruments", ("mst", "grid:4x4", "--device", "cpu")),
        ("exporters", ("mst", "grid:4x4", "--device", "cpu", "--export", "r.csv")),
    ],
)
def test_a_package_that_exits_while_it_is_imported_does_not_end_the_command_in_silence(
    group: str, words: tuple[str, ...], package: Path
) -> None:
    (package / "ggplug-1.2.dist-info" / "entry_points.txt").write_text(f"[gpugraph.{group}]\nquits = ggquits:X\n")
    (package / "ggquits.py").write_text("raise SystemExit(0)\n")
    (package / "g.quits").write_text("0 1 2\n")
    assert "entry point ggquits:X: cannot load it: SystemExit: 0" in refuse(2, *words)


def test_an_exporter_writes_files_of_its_ending(package: Path) -> None:
    gpugraph.mst("rmat:6", device="cpu", time=True)
    records = gpugraph.bench("rmat:6", device="cpu", max_seconds=0.05, save="r.jsonl")
    run("report", "r.jsonl", "-o", "n.count")
    assert (package / "n.count").read_text() == "1 records\n"
    assert json.loads(Path("r.jsonl").read_text())["environment"]["packages"]["ggplug"] == "1.2"
    assert len(records) == 1
