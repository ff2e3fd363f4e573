"""Parts of graphs: together they are the graph of one process, bit for bit, whatever the number of ranks."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gpugraph.base.errors import InputError
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.ranks import contraction
from gpugraph.ext.ranks.part import GraphPart
from gpugraph.graph.families import FAMILIES
from gpugraph.graph.generate import generate
from tests.ranks.runs import own_ranks
from tests.ranks.test_drivers import tried
from tests.tiers import also

SPECS = (
    *("rmat:9", "random:n=700,deg=9,w=-5..5", "regular:n=300,in=7", "regular:n=300,out=5,dtype=float32", "grid:30x20"),
    *("road:40x33", "complete:40", "dense:n=50,density=0.5", "path:300", "star:200", "ssca2:8", "knn:n=300,k=4"),
    *("counterexample:50", "path:1", "star:2", "rmat:7,w=0.5..2.5", "rmat:7,dtype=int64,w=-9000000000..9000000000"),
    *(
        "path:50,shuffled=yes",
        "ramp:40",
        "ramp:40,falling=yes",
        "caterpillar:41",
        "star:30,hub=7",
        "random:n=200,deg=4,hub=yes",
        "lollipop:3x20,scale=6",
        "lollipop:1x30,clique=9",
    ),
)


def test_the_specs_tried_are_of_every_family() -> None:
    assert {spec.partition(":")[0] for spec in SPECS} == set(FAMILIES)


@pytest.mark.parametrize(
    ("ranks", "device", "specs"),
    [
        also(4, "cpu", SPECS),
        also(3, "emulated", SPECS[::4]),
        also(1, "cpu", SPECS),
        also(1, "emulated", SPECS[:1]),
        also(3, "emulated", SPECS),
    ],
)
def test_every_rank_draws_its_part_of_a_spec_and_reads_its_part_of_a_csr(
    ranks: int, device: str, specs: tuple[str, ...], tmp_path: Path
) -> None:
    paths = []
    for spec in ("rmat:8", "regular:n=100,in=3", "star:2", "rmat:7,w=0.5..2.5"):
        paths.append(str(tmp_path / f"{len(paths)}.csr"))
        save_file(generate(spec), paths[-1])
    run = own_ranks(ranks, device, "tests.ranks.on_specs", device, *specs, *paths)
    assert run.returncode == 0, run.stderr
    assert tried(run.stdout) == len(specs) + len(paths)


@pytest.mark.parametrize(
    ("place", "device"),
    [
        *(("a target", "cpu"), also("a weight", "emulated")),
        *(
            pytest.param(*other, marks=pytest.mark.thorough)
            for other in (("a target", "emulated"), ("a weight", "cpu"))
        ),
    ],
)
def test_damage_in_one_ranks_part_is_reported_once(place: str, device: str, tmp_path: Path) -> None:
    path, graph = tmp_path / "graph.csr", generate("rmat:8")
    save_file(graph, str(path))
    content = bytearray(path.read_bytes())
    if place == "a target":
        content[-4 * graph.arcs - 64 : -4 * graph.arcs] = struct.pack("<16i", *[2**31 - 1] * 16)
    else:
        content[-4:] = struct.pack("<I", 77)
    path.write_bytes(content)
    run = own_ranks(3, device, "gpugraph", "mst", str(path), "--device", f"{device}*3", "-q")
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert "graph.csr" in line
    assert ("the row of vertex" if place == "a target" else "has no reverse of equal weight") in line


def test_a_share_of_more_edges_than_a_rank_can_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranks refuse alike, for each knows how many edges there are."""
    monkeypatch.setattr(contraction, "MOST_EDGES", 3)
    contraction.HostEdges(GraphPart.of(generate("path:4")), weighted=True, labelled=False)
    with pytest.raises(InputError, match="3 edges, not a share of 4"):
        contraction.HostEdges(GraphPart.of(generate("path:5")), weighted=True, labelled=False)
