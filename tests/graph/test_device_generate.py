"""Graphs made on a device are those that the host makes, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.devices import kernel_file
from gpugraph.devices.discovery import select_device
from gpugraph.ext.device_graphs import device_build
from gpugraph.ext.device_graphs import device_generate as generation
from gpugraph.ext.device_graphs.device_generate import generate_piece
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.generators.ssca2 import _cliques
from gpugraph.graph.build import build, notes_of
from gpugraph.graph.csr import WEIGHT_DTYPES, CSRGraph
from gpugraph.graph.digest import _mixed
from gpugraph.graph.families import FAMILIES, find_family
from gpugraph.graph.generate import can_generate, draw_arcs, generate
from gpugraph.graph.spec import parse_spec
from tests.emulator.compiler import needs_compiler
from tests.tiers import drawn

SPECS = """
    rmat:0 rmat:1 rmat:7 rmat:6,w=-9..9 rmat:7,w=0.5..2.5 rmat:7,w=-2^40..2^40 rmat:7,w=unit,dtype=int64
    rmat:8,a=0.45,b=0.15,c=0.15,seed=18446744073709551615 rmat:8,w=0..18446744073709551615
    rmat:8,dtype=float32,w=-5..5 rmat:8,dtype=float64,w=-9223372036854775808..9223372036854775807
    random:n=100,m=300 random:n=1,m=3,w=-3..-1 random:n=70,deg=9,w=-1.5..1.5,dtype=float32
    regular:n=50,in=7,w=1..10 regular:n=30,out=4,seed=9 regular:n=2,in=1 grid:30x11 grid:1x1 grid:1x5 grid:7x1
    road:20x15,w=1..1000 road:1x9 complete:40 complete:1 complete:2 dense:n=60,density=0.5
    dense:n=1,density=0.5 dense:n=9,density=1 path:50 path:1 star:50,w=0.0..1.0,dtype=float32 star:1 ssca2:8
    random:n=90,m=200,among=20,hub=yes random:n=1,m=2,hub=yes,w=-3/-2 path:60,shuffled=yes path:2,shuffled=yes
    star:50,hub=17,w=1/9 star:9,hub=8 caterpillar:41 caterpillar:40,w=-0.1/0.7 caterpillar:1 caterpillar:2
    rmat:6,w=9007199791611905/18446744073709551615,dtype=float32 rmat:6,w=0.1/0.3,dtype=float32
    rmat:6,w=0/18446744073709551615 rmat:6,w=-9223372036854775808/9223372036854775807
    ssca2:0 ssca2:1 ssca2:7,clique=1 ssca2:8,inter=1 ssca2:6,inter=0,clique=90 knn:n=300,k=8 knn:n=2,k=9
    knn:n=500,k=3,dtype=float64 knn:n=90,k=89,dtype=float32
    rmat:7,order=shuffled rmat:7,order=degree,w=-9..9 regular:n=50,in=7,order=degree knn:n=300,k=8,order=degree
    random:n=1,m=3,w=-3..-1,order=shuffled road:20x15,order=shuffled,w=0.5..2.5 ssca2:8,order=degree rmat:0,order=degree
"""


def assert_same(made: CSRGraph, host: CSRGraph) -> None:
    """The device's graph says the same of itself before anything is copied, and holds the same when it is."""
    assert made.on_device is not None
    assert host.on_device is None
    assert made.describe() == host.describe()
    assert (made.notes, made.negative_loop) == (host.notes, host.negative_loop)
    assert (made.nbytes, made.digest_code) == (host.nbytes, host.digest_code)
    assert not {"offsets", "targets", "weights"} & set(made.__dict__)
    for name in ("offsets", "targets", "weights"):
        there, here = getattr(made, name), getattr(host, name)
        assert there.dtype == here.dtype
        assert np.array_equal(there.view(np.uint8), here.view(np.uint8)), name
        assert not there.flags.writeable


@needs_compiler
@pytest.mark.parametrize("index_bits", [32, 64])
def test_every_family_gives_the_same_graph_on_a_device(monkeypatch: pytest.MonkeyPatch, index_bits: int) -> None:
    if index_bits == 64:
        for limit in ("MAX_NARROW_ARCS", "MAX_UNSIGNED_ARCS"):
            monkeypatch.setattr(kernel_file, limit, 0)
    device = EmulatedDevice()
    for text in SPECS.split():
        made = generate(text, device=device)
        assert made.on_device is not None
        assert made.on_device.index_dtype.itemsize * 8 == index_bits
        assert_same(made, generate(text))


@st.composite
def specs(draw: Any) -> str:
    """Specs of small graphs of any family and with any weights."""
    whole = st.integers
    family = draw(
        st.sampled_from(
            [
                f"rmat:{draw(whole(0, 7))},ef={draw(whole(1, 9))},a=0.{draw(whole(1, 5))},b=0.{draw(whole(0, 2))}",
                f"random:n={draw(whole(1, 60))},m={draw(whole(1, 200))}",
                f"regular:n={draw(whole(11, 40))},{draw(st.sampled_from(['in', 'out']))}={draw(whole(1, 10))}",
                f"grid:{draw(whole(1, 20))}x{draw(whole(1, 20))}",
                f"road:{draw(whole(1, 20))}x{draw(whole(1, 20))}",
                f"complete:{draw(whole(1, 30))}",
                f"dense:n={draw(whole(1, 30))},density=0.{draw(whole(0, 99))}",
                f"path:{draw(whole(1, 90))},shuffled={draw(st.sampled_from(['yes', 'no']))}",
                f"star:{draw(whole(20, 90))},hub={draw(whole(0, 19))}",
                f"caterpillar:{draw(whole(1, 90))}",
                f"random:n={draw(whole(20, 60))},m={draw(whole(1, 99))},among={draw(whole(1, 20))},hub=yes",
                f"ssca2:{draw(whole(0, 7))},clique={draw(whole(1, 30))},inter=0.{draw(whole(0, 99))}",
                f"knn:n={draw(whole(2, 120))},k={draw(whole(1, 12))}",
            ]
        )
    )
    order = draw(st.sampled_from(["made", "shuffled", "degree"]))
    text = f"{family},seed={draw(whole(0, 2**64 - 1))},order={order}"
    kind = draw(st.sampled_from(["usual", "whole", "real"]))
    if kind != "usual" and not family.startswith("knn"):
        low, high = sorted((draw(whole(-(2**40), 2**40)), draw(whole(-(2**40), 2**40))))
        to = draw(st.sampled_from(["..", "/"]))
        text += f",w={low}{to}{high}" if kind == "whole" else f",w={low / 2**20!r}{to}{high / 2**20!r}"
        wide = ["float32", "float64"] + (["int64"] if kind == "whole" else [])
        text += f",dtype={draw(st.sampled_from(wide))}"
    return text


@needs_compiler
@drawn(70)
@given(specs())
def test_any_spec_gives_the_same_graph_on_a_device(text: str) -> None:
    device = EmulatedDevice()
    assert_same(generate(text, device=device), generate(text))


class Small(EmulatedDevice):
    """An emulated device of so little memory that graphs are made range by range."""

    free = 150_000

    def memory(self) -> tuple[int, int]:
        return self.free, self.free


@needs_compiler
@pytest.mark.parametrize(
    "text",
    [
        "rmat:9",
        "rmat:9,w=-5..5",
        "star:3500",
        "ssca2:8",
        "grid:60x40,order=shuffled",
        "knn:n=1000,k=4",
        "regular:n=900,in=9,order=degree",
    ],
)
def test_what_does_not_fit_at_once_is_made_range_by_range(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts: list[int] = []
    cut = device_build._cut

    def counted(*args: Any) -> Any:
        ranges = cut(*args)
        cuts.append(len(ranges))
        return ranges

    monkeypatch.setattr(device_build, "_cut", counted)
    assert_same(generate(text, device=Small()), generate(text))
    assert cuts[0] > 1


@needs_compiler
@pytest.mark.parametrize("device", [EmulatedDevice, Small])
@pytest.mark.parametrize(
    "text", ["rmat:10,w=-9..9", "star:3500", "ssca2:8", "grid:60x40", "regular:n=900,in=9", "path:2"]
)
def test_pieces_made_apart_are_the_whole_graph(text: str, device: type[EmulatedDevice]) -> None:
    whole, spec = generate(text), parse_spec(text)
    pieces = [generate_piece(spec, device(), piece, 3) for piece in range(3)]
    assert all(piece.cuts.tolist() == pieces[0].cuts.tolist() for piece in pieces)
    for number, piece in enumerate(pieces):
        first, last = piece.cuts[number : number + 2]
        degrees = np.zeros(whole.vertices, np.int64)
        degrees[first:last] = whole.degrees[first:last]
        assert np.array_equal(np.diff(piece.rows.offsets), degrees)
    assert np.array_equal(np.concatenate([piece.rows.targets for piece in pieces]), whole.targets)
    assert np.array_equal(np.concatenate([piece.weights for piece in pieces]), whole.weights)
    told = (sum(getattr(piece.rows, name) for piece in pieces) for name in ("loops", "negative", "merged"))
    assert tuple(notes_of(*told, mirrored=not whole.directed)) == build(draw_arcs(spec)).notes


@needs_compiler
def test_pieces_of_a_large_spec_are_cut_alike_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_WINDOWS", 16)
    monkeypatch.setattr(generation, "_WINDOW", 64)
    spec, whole = parse_spec("rmat:10"), generate("rmat:10")
    cuts = [generate_piece(spec, EmulatedDevice(), piece, 4).cuts for piece in range(4)]
    assert all(np.array_equal(cut, cuts[0]) for cut in cuts)
    arcs = np.diff(whole.offsets[cuts[0]])
    assert arcs.max() < 2 * arcs.min()


@needs_compiler
def test_the_host_makes_what_the_device_cannot() -> None:
    small = Small()
    small.free = 10_000
    for device, text in ((small, "rmat:8"), (EmulatedDevice(), "counterexample:64")):
        graph = generate(text, device=device)
        assert graph.on_device is None
        assert graph.digest == generate(text).digest


@needs_compiler
def test_a_graph_outlives_its_device() -> None:
    device = EmulatedDevice()
    asked, unasked = generate("rmat:7", device=device), generate("rmat:6", device=device)
    targets = asked.targets
    device.close()
    assert np.array_equal(targets, generate("rmat:7").targets)
    assert np.array_equal(unasked.weights, generate("rmat:6").weights)
    assert unasked.digest == generate("rmat:6").digest


@needs_compiler
def test_another_name_copies_nothing() -> None:
    graph = generate("rmat:6", device=EmulatedDevice()).renamed(name="mine")
    assert graph.name == "mine"
    assert "targets" not in graph.__dict__
    assert graph.digest == generate("rmat:6").digest


@needs_compiler
def test_no_kernel_that_makes_graphs_has_a_race() -> None:
    device = EmulatedDevice(seed=3, races=True)
    for text in (
        "rmat:6,w=-9..9",
        "regular:n=50,in=7",
        "road:20x15",
        "ssca2:7",
        "knn:n=100,k=4",
        "dense:n=20,density=1",
    ):
        assert_same(generate(text, device=device), generate(text))
    assert device.races() == []


@pytest.mark.parametrize("largest", [1, 2, 49, 2**20, 2**40])
def test_the_cliques_begin_where_their_formula_says(largest: int) -> None:
    def hash64(z: int) -> int:
        return int(_mixed((z + 0x9E3779B97F4A7C15) % 2**64))

    for seed in (1, 2**64 - 1):
        base, expected = hash64((seed + 11) % 2**64), [0]
        while expected[-1] < 4096:
            size = 1 + (hash64((base + len(expected) - 1) % 2**64) * largest >> 64)
            expected.append(min(4096, expected[-1] + size))
        assert _cliques({"scale": 12, "deg": 32, "clique": largest}, seed)[0].tolist() == expected


def test_every_family_but_those_made_to_be_hard_can_be_made_on_a_device() -> None:
    examples = {name: parse_spec(find_family(name).example) for name in FAMILIES}
    assert {name for name, spec in examples.items() if not can_generate(spec)} == {
        "counterexample",
        "lollipop",
        "ramp",
    }
    assert not can_generate(parse_spec("random:n=2^31,m=5"))
    assert len(WEIGHT_DTYPES) == 6  # as generate.cu has them


@pytest.mark.gpu
@pytest.mark.parametrize(
    "text",
    [
        "rmat:18",
        "rmat:18,order=degree",
        "ssca2:16,w=0.0..1.0",
        "random:n=100000,deg=9",
        "knn:n=100000,k=8",
        "road:90x80,order=shuffled",
    ],
)
def test_a_gpu_makes_the_graph_of_the_host(text: str) -> None:
    device, _ = select_device("cuda")
    try:
        assert_same(generate(text, device=device), generate(text))
    finally:
        device.close()
