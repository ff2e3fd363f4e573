"""The size of a graph by the header of its file, without reading the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpugraph.ext.formats.files import save_file
from gpugraph.ext.formats.header_size import header_size
from gpugraph.graph.generate import generate
from gpugraph.problems.on_graphs import size_of
from tests.cli.runner import succeed

BLANK = 1000 * "\n"
"""So many lines that a pattern must not try all ways to part them."""


@pytest.mark.parametrize("name", ["g.mtx", "g.gr", "g.gr.gz", "g.adj", "g.egr", "g.sg", "g.wsg", "g.mtx.xz"])
def test_a_header_states_the_size_that_the_whole_file_has(tmp_path: Path, name: str) -> None:
    graph = generate("rmat:7,w=1..1" if ".sg" in name else "rmat:7")
    save_file(graph, str(tmp_path / name), None)
    vertices, arcs, lines = header_size(str(tmp_path / name)) or (0, 0, 0)
    assert (vertices, arcs) == (graph.vertices, graph.arcs)
    assert lines == (graph.edges if "mtx" in name else graph.arcs)
    size = size_of(str(tmp_path / name))
    assert (size.vertices, size.arcs, size.exact) == (graph.vertices, graph.arcs, False)


@pytest.mark.parametrize(
    ("name", "text", "size"),
    [
        ("g.graph", "% a comment\n3 2 001\n2 5\n1 5 3 7\n2 7\n", (3, 4, 2)),
        ("g.gr", "c\nc a comment\np tw 5 4\n1 2\n", (5, 8, 4)),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n% x\n%\n 9 9 12\n", (9, 12, 12)),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern Symmetric\n9 9 12\n", (9, 24, 12)),
        ("g.mtx", "%%MatrixMarket matrix array real general\n9 9\n", None),
        ("g.mtx", "%%MatrixMarket\tmatrix\tcoordinate\treal\tgeneral\n\n%\n \n9 9 12\n", (9, 12, 12)),
        ("g.mtx", f"%%MatrixMarket matrix coordinate real general\n{BLANK}x\n", None),
        ("g.gr", f"c\n{BLANK}p\tsp\t5\t4\n", (5, 4, 4)),
        ("g.graph", f"{BLANK}%\n{BLANK}3 2 x\n", (3, 4, 2)),
        ("g.el", f"{BLANK}0 1\n1 2\n", None),
        ("g.el", "0 1\n1 2\n", None),
        ("g.gr", "a 1 2 3\n", None),
        ("g.wsg", "\x01" + 16 * "\x7f", None),
        ("g.egr", "short", None),
    ],
)
def test_a_header_is_read_where_there_is_one_and_nothing_is_made_up(
    tmp_path: Path, name: str, text: str, size: tuple[int, int, int] | None
) -> None:
    (tmp_path / name).write_text(text)
    assert header_size(str(tmp_path / name)) == size


def test_both_variants_of_ecl_state_their_size(tmp_path: Path) -> None:
    for index in ("<i4", "<i8"):
        for offsets in ([0, 2, 2], [0, 0, 0]):
            header = np.array([2, offsets[-1], *offsets], index).tobytes()
            (tmp_path / "g.egr").write_bytes(header + bytes(4 * offsets[-1]))
            assert header_size(str(tmp_path / "g.egr")) == (2, offsets[-1], offsets[-1])


def test_advice_on_a_file_has_the_size_of_its_header_though_the_rest_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3000 3000 90000\n1 1 1\n")
    shown = " ".join(succeed("info", "--advise", "g.mtx").out.split())
    assert "g.mtx: 3,000 vertices, 90,000 edges (by its header" in shown
    assert "about 3,000" not in shown
    assert "edges drawn" not in shown
    assert "rmat:6: 64 vertices, 1,024 edges drawn" in succeed("info", "--advise", "rmat:6").out
