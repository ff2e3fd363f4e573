"""Records in Python: measured by ``gpugraph.bench``, shown, drawn, stored and reported."""

from __future__ import annotations

import json
import re
import sys
import types
from html import escape
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.cli import output as output_module
from gpugraph.ext.python import call_profile
from gpugraph.ext.python.bench import _notices
from gpugraph.ext.python.records import Measured, Records
from gpugraph.records.record import Record
from tests.report.canned import failed, mst_record


@pytest.fixture(scope="module")
def measured() -> Records:
    return gpugraph.bench(["rmat:6", "path:40"], algo="boruvka,kruskal", device="cpu", max_seconds=0.05)


def test_a_bench_measures_every_algorithm_on_every_graph(measured: Records) -> None:
    cells = [(record.graph_name, record.algorithm) for record in measured]
    assert cells == [(graph, name) for graph in ("rmat:6", "path:40") for name in ("boruvka", "kruskal")]
    assert {record.verdict for record in measured} == {"verified"}
    assert min(len(record.samples) for record in measured) >= 1
    assert measured[0].result.total_weight == measured[1].result.total_weight
    assert measured.notices == []  # of loops and parallel edges that the generator itself drew


def test_a_bench_takes_graphs_of_python_peers_options_and_devices_by_name() -> None:
    graph = networkx.grid_2d_graph(4, 4)
    records = gpugraph.bench(
        graph, "sssp", algo=["delta-stepping@cpu", "dijkstra"], peer="networkx", source=(0, 0), device="cpu",
        options={"delta-stepping": {"delta": 2}}, max_seconds=0.05, repeat=2,
    )  # fmt: skip
    assert [record.algorithm for record in records] == ["delta-stepping", "dijkstra", "peer:networkx"]
    assert [record.verdict for record in records] == ["verified"] * 3
    assert records[0].parameters["delta"] == 2


def test_what_cannot_be_measured_is_a_record_beside_others_and_an_error_alone(tmp_path: Path) -> None:
    missing = str(tmp_path / "no.gr")
    records = gpugraph.bench(["path:5", missing], device="cpu", max_seconds=0.05)
    assert [record.outcome for record in records] == ["ok", "refused"]
    assert "no such file" in repr(records[1])
    assert "no such file" in records._repr_html_()
    with pytest.raises(InputError, match="no such file"):
        gpugraph.bench(missing, device="cpu")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"algo": "kruskl"}, "did you mean 'kruskal'"),
        ({"algo": 3}, "algo is 3"),
        ({"algo": []}, "no algorithm to measure"),
        ({"peer": "igrph"}, "did you mean 'igraph'"),
        ({"problem": "mts"}, "did you mean 'mst'"),
        ({"repeat": 0}, "0 samples"),
        ({"target": "much"}, "is no share"),
        ({"target": None}, "target is None"),
        ({"max_seconds": "1"}, "max_seconds is '1'"),
        ({"options": [1]}, "options is \\[1\\]"),
        ({"source": 3}, "source is of shortest paths"),
        ({"verify": None}, "verify is None"),
        ({"device": None}, "device is None"),
        ({"options": {"kruskl": {}}}, "unknown algorithm with options 'kruskl'"),
        ({"save": "no/folder/x.jsonl"}, "cannot be written"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_work(
    arguments: dict[str, Any], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpugraph.measure.run_cell.Session.measure", lambda *_, **__: pytest.fail("it was measured"))
    given = {"graphs": "path:5", "algo": "kruskal", "device": "cpu", **arguments}
    with pytest.raises(InputError, match=says):
        gpugraph.bench(**given)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_result_is_a_record_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def driver(view, clock):\n    return [(0, 1)]\n")
    records = gpugraph.bench("path:3", algo=["kruskal", f"{file}:driver"], device="cpu", max_seconds=0.05)
    assert [record.outcome for record in records] == ["ok", "wrong"]
    assert "wrong: " in records._repr_html_()


def test_records_are_stored_as_they_end_and_read_back(measured: Records, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    gpugraph.bench("path:9", device="cpu", max_seconds=0.05, save=path)
    measured.save(path)
    back = gpugraph.read_records(path)
    assert [record.graph_name for record in back] == ["path:9", "rmat:6", "rmat:6", "path:40", "path:40"]
    assert all(isinstance(record, Measured) for record in back)
    assert back[1].kernel_s == measured[0].kernel_s
    assert back[1:3].where(algorithm="kruskal")[0].data["result"] == measured[1].data["result"]


def test_records_of_a_graph_are_found_by_its_name_and_by_the_graph_itself(measured: Records) -> None:
    assert list(measured.where(graph="rmat:6")) == list(measured.where(graph_name="rmat:6")) == list(measured[:2])
    assert list(measured.where(graph=measured[0].graph)) == list(measured[:2])


def test_rows_are_named_as_the_columns_of_the_csv(measured: Records) -> None:
    rows = measured.rows()
    assert [row["algorithm"] for row in rows] == ["boruvka", "kruskal"] * 2
    assert rows[0]["phases_s.kernel"] == measured[0].kernel_s


def test_a_table_is_sorted_by_time_and_says_once_what_all_share(measured: Records) -> None:
    shown = measured._repr_html_()
    assert "4 records, mst, CPU" in shown
    assert shown.count("<tr") == 1 + 4 + len(measured.notices)
    first, second = sorted(measured.where(graph_name="rmat:6"), key=lambda record: record.kernel_s or 0.0)
    assert shown.index(first.algorithm) < shown.index(second.algorithm)
    assert repr(measured).splitlines()[0] == "<Records: 4 records>"
    assert "  and 20 more" in repr(Records(list(measured) * 10)).splitlines()


def test_what_the_samples_say_is_in_sentences(measured: Records) -> None:
    said = measured.sentences()
    assert [text.partition(": ")[0] for text in said] == ["mst on rmat:6", "mst on path:40"]
    assert all(re.search(r" times as fast as | is not clearly faster than ", text) for text in said)
    assert escape(said[0]) in measured._repr_html_()
    assert said[0] in repr(measured)
    assert measured[:1].sentences() == []


def test_a_record_shows_its_verdict_its_result_and_a_bar_for_each_phase(measured: Records) -> None:
    shown = measured[0]._repr_html_()
    assert "passed by certificate" in shown
    assert f"{measured[0].result.total_weight}" in shown
    assert ">kernel<" in shown
    assert repr(measured[0]).startswith("<Measured of mst by boruvka on rmat:6, cpu: ")
    assert len(repr(measured[0])) < 100
    wide = mst_record(outcome="ok", confidence_s={"kernel": [0.0005, 0.0008]})
    assert "the times scatter" in Measured.of_record(Record.of(wide))._repr_html_()
    bad = Measured.of_record(Record.of(failed()))
    assert "failed by reference: edge 3-9 is missing" in bad._repr_html_()
    assert repr(bad).endswith("failed: edge 3-9 is missing>")


def test_a_figure_is_drawn_shown_and_saved(measured: Records, tmp_path: Path) -> None:
    plot = measured.plot()
    shown = plot._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["application/vnd.vegalite.v5+json"] is plot.spec
    saved = json.loads(plot.save(tmp_path / "f.json").read_text())
    assert saved == json.loads(json.dumps(plot.spec)) | {"$schema": saved["$schema"]}
    assert plot.save(str(tmp_path / "f.svg")).read_bytes().startswith(b"<svg")
    for y in ("kernel", "samples", "phases"):
        assert measured.plot(y, title="Mine", dark=True).spec["title"] == "Mine"
    with pytest.raises(InputError, match="did you mean 'mteps'"):
        measured.plot("mtesp")
    with pytest.raises(InputError, match=r"ending of a figure '\.svgz'"):
        plot.save(tmp_path / "f.svgz")


@pytest.mark.parametrize(
    ("graphs", "axis"),
    [
        (("rmat:5", "rmat:6"), '"title": "scale (log2 of the number of vertices)"'),
        (("a", "b"), '"x": "b"'),  # names speak for themselves: such an axis has no title
        (("a",), '"x": "boruvka"'),
    ],
)
def test_the_abscissa_is_what_varies(graphs: tuple[str, ...], axis: str) -> None:
    records = []
    for graph in graphs:
        data = mst_record(outcome="ok")
        data["graph"] = {**data["graph"], "name": graph}
        records.append(Record.of(data))
    assert axis in json.dumps(Records(records).plot("mteps").spec)


def test_a_record_alone_draws_its_samples_or_else_its_phases(measured: Records) -> None:
    assert "from the median" in json.dumps(measured[0].plot().spec)
    once = gpugraph.bench("path:9", device="cpu", max_seconds=np.float32(1e-9), repeat=np.int64(1))[0]
    assert "seconds" in json.dumps(once.plot().spec)
    with pytest.raises(InputError, match="one sample has no spread"):
        once.plot("samples")


def test_a_report_is_written_of_records_and_of_files(measured: Records, tmp_path: Path) -> None:
    path = measured.save(tmp_path / "r.jsonl")
    for given in (measured, list(measured), path, [str(path)]):
        for ending in ("md", "csv", "txt"):
            written = gpugraph.report(given, tmp_path / f"r.{ending}").read_text("utf-8")
            assert "rmat:6" in written
    assert "kruskal" not in gpugraph.report(measured[0], tmp_path / "one.csv").read_text()
    page = gpugraph.report(measured, tmp_path / "r.html", title="A & B").read_text("utf-8")
    assert "<title>A &amp; B</title>" in page
    for given in ([], 3, [measured, measured]):
        with pytest.raises(InputError, match="there is no record to report"):
            gpugraph.report(given, tmp_path / "no.md")
    with pytest.raises(InputError, match="ending of a report"):
        gpugraph.report(measured, tmp_path / "no.pfd")
    assert not (tmp_path / "no.md").exists()


def test_a_notebook_sees_what_goes_on_beneath_the_cell_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Handle:
        def update(self, shown: str) -> None:
            seen.append(shown)

    def display(shown: str, display_id: bool) -> Handle:
        seen.append(shown)
        return Handle()

    shell = types.SimpleNamespace(kernel=object())
    python = types.SimpleNamespace(get_ipython=lambda: shell, __spec__=None)
    monkeypatch.setitem(sys.modules, "IPython", python)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(HTML=str, display=display))  # type: ignore[arg-type]
    monkeypatch.setattr(output_module, "FIRST_S", 0.0)
    with call_profile.showing() as tell:
        tell("compiling, first use only")
        while not seen:
            pass
    assert "gpugraph: " in seen[0]
    assert seen[-1] == ""
    del shell.kernel
    seen.clear()
    with call_profile.showing():  # a shell, and no terminal: nothing is shown
        pass
    assert seen == []


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(InputError, match="path is 3"):
        gpugraph.read_records(3)  # type: ignore[arg-type]


def test_what_is_said_of_every_graph_is_said_once(measured: Records) -> None:
    records = [
        Record(record.data, notices=("no usable GPU", "merged 1 edge")[: 2 - i])
        for i, record in enumerate(measured[1:3])
    ]
    assert _notices(records) == ["no usable GPU", "rmat:6: merged 1 edge"]
    assert _notices(records[:1]) == ["rmat:6: no usable GPU", "rmat:6: merged 1 edge"]


def test_records_become_a_data_frame(measured: Records) -> None:
    frame = pytest.importorskip("pandas").DataFrame(measured.rows())
    assert measured.to_pandas().equals(frame)
    assert list(frame["algorithm"]) == ["boruvka", "kruskal"] * 2
