"""Graphs are checked on a device as on the host: the same verdicts in the same words, whatever happens to the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpugraph.base.errors import GraphFormatError, InputError
from gpugraph.devices.discovery import select_device
from gpugraph.ext.emulator.device import EmulatedDevice
from gpugraph.ext.formats.files import save_file
from gpugraph.graph.check import check_structure
from gpugraph.graph.csr import CSRGraph
from gpugraph.graph.device_rows import DeviceRows, narrow_offsets
from gpugraph.graph.generate import generate
from gpugraph.graph.input_file import Source
from gpugraph.graph.load import load_file
from gpugraph.graph.place import check_on_device
from tests.emulator.compiler import needs_compiler
from tests.zoo import ZOO, directed, has_negative_weights, undirected, zoo

pytestmark = needs_compiler

GRAPH = undirected(4, [(0, 1, 5), (0, 2, 7), (1, 2, 9)])


def placed(graph: CSRGraph, device: EmulatedDevice, narrow: bool = True) -> CSRGraph:
    """Return the graph with a copy on a device, nothing of it checked."""
    offsets = device.upload(graph.offsets)
    offsets = narrow_offsets(device, offsets, graph.arcs) if narrow else offsets
    rows = DeviceRows(device, offsets, device.upload(graph.targets), device.upload(graph.weights), lambda: graph)
    there = replace(graph)
    object.__setattr__(there, "on_device", rows)
    return there


@pytest.mark.parametrize("narrow", [True, False])
def test_every_graph_of_the_zoo_is_sound_and_has_its_digest(narrow: bool) -> None:
    device = EmulatedDevice(races=True)
    for name in ZOO:
        graph = placed(zoo(name), device, narrow)
        check_on_device(graph)
        assert graph.digest == zoo(name).digest
        assert graph.has_negative_weight == has_negative_weights(zoo(name))
        assert graph.on_device.is_symmetric() or graph.directed
    assert device.races() == []


@pytest.mark.parametrize("narrow", [True, False])
@pytest.mark.parametrize(
    ("array", "index", "value"),
    [
        *(
            ("offsets", i, value)
            for i, value in ((0, 1), (4, 5), (2, 1), (1, 2**40), (1, -1), (1, 2**32), (4, 2**32 + 6))
        ),
        *(("targets", i, value) for i, value in ((0, 4), (0, 2**31 - 1), (0, -1), (0, 0), (1, 1), (1, 3))),
        ("weights", 0, 6),
    ],
)
def test_damage_is_named_as_on_the_host(array: str, index: int, value: int, narrow: bool) -> None:
    changed = getattr(GRAPH, array).copy()
    changed[index] = value
    graph = replace(GRAPH, **{array: changed}, source="a.csr")
    assert said(lambda: check_on_device(placed(graph, EmulatedDevice(), narrow))) == said(
        lambda: check_structure(graph)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [np.nan, -np.nan, -0.0])
def test_reals_that_no_graph_holds_are_refused_as_on_the_host(dtype: str, value: float) -> None:
    graph = directed(2, [(0, 1, 1.5)], dtype)
    for fine in (np.inf, -np.inf, 0.0, -1.0):
        check_on_device(placed(replace(graph, weights=np.array([fine], dtype)), EmulatedDevice()))
    graph = replace(graph, weights=np.array([value], dtype))
    assert said(lambda: check_on_device(placed(graph, EmulatedDevice()))) == said(lambda: check_structure(graph))


def test_a_digest_that_differs_is_refused_and_so_is_a_copy_that_does() -> None:
    graph = replace(GRAPH, stored_digest="0" * 32)
    assert said(lambda: check_on_device(placed(graph, EmulatedDevice()))) == said(lambda: check_structure(graph))
    sound = placed(replace(GRAPH, stored_digest=GRAPH.digest), EmulatedDevice())
    assert sound.on_device is not None
    sound.on_device.weights[0] += 1
    assert "it was changed while it was read" in said(lambda: check_on_device(sound))


def said(check: Callable[[], Any]) -> str:
    with pytest.raises(GraphFormatError) as caught:
        check()
    return str(caught.value)


# ------------------------------------------------------------------ files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "g.csr"
    save_file(generate("rmat:7"), path)
    return path


@pytest.mark.parametrize("name", ["g.csr", "g.csr.gz", "g.wel", "g.mtx"])
def test_a_file_comes_to_lie_on_the_device_that_will_search_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save_file(generate("rmat:7"), path)
    device = EmulatedDevice()
    there, here = load_file(path, device=device), load_file(path)
    assert there.on_device is not None
    assert there.describe() == here.describe()
    assert there.notes == here.notes
    for array in ("offsets", "targets", "weights"):
        assert np.array_equal(getattr(there, array), getattr(here, array))
        on_device = device.download(getattr(there.on_device, array))
        assert np.array_equal(on_device, getattr(here, array))


def test_a_damaged_file_is_refused_in_the_words_of_the_host(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(-3, os.SEEK_END)
        stream.write(b"\xff")
    assert said(lambda: load_file(file, device=EmulatedDevice())) == said(lambda: load_file(file))


def test_a_file_cut_short_while_it_is_read_is_named(file: Path) -> None:
    class Cutting(EmulatedDevice):
        def upload_file(self, file_: int, offset: int, count: int, dtype: Any) -> Any:
            if dtype != np.int64:
                os.truncate(file, 200)
            return super().upload_file(file_, offset, count, dtype)

    whole = file.stat().st_size
    assert f"ask for {whole} bytes, the file has 200" in said(lambda: load_file(file, device=Cutting()))


def test_a_file_changed_while_it_is_read_is_named(file: Path) -> None:
    class Late(EmulatedDevice):
        def upload_file(self, file_: int, offset: int, count: int, dtype: Any) -> Any:
            made = super().upload_file(file_, offset, count, dtype)
            made[:1] ^= 1
            return made

    assert "it was changed while it was read" in said(lambda: load_file(file, device=Late()))


def test_a_file_that_the_system_stops_reading_is_named(file: Path) -> None:
    class Broken(EmulatedDevice):
        def upload_file(self, file_: int, offset: int, count: int, dtype: Any) -> Any:
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match="cannot be read: input/output error"):
        load_file(file, device=Broken())


def test_a_file_that_has_no_room_on_the_device_stays_on_the_host(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpugraph.base.errors import OutOfMemory

    def full(self: EmulatedDevice, needed: int) -> None:
        raise OutOfMemory("full")

    monkeypatch.setattr(EmulatedDevice, "require", full)
    graph = load_file(file, device=EmulatedDevice())
    assert graph.on_device is None
    assert graph.digest == generate("rmat:7").digest


def test_what_is_decompressed_has_no_descriptor(file: Path, tmp_path: Path) -> None:
    with Source(file) as source, source.descriptor() as plain:
        assert plain is not None
    save_file(generate("rmat:5"), tmp_path / "g.csr.gz")
    with Source(tmp_path / "g.csr.gz") as source, source.descriptor() as packed:
        assert packed is None


@pytest.mark.gpu
def test_a_gpu_reads_and_checks_a_file(tmp_path: Path) -> None:
    path = tmp_path / "g.csr"
    save_file(generate("rmat:20"), path)
    device, _ = select_device("cuda")
    try:
        graph = load_file(path, device=device)
        assert graph.on_device is not None
        assert graph.digest == generate("rmat:20").digest
        assert np.array_equal(device.download(graph.on_device.targets), graph.targets)
    finally:
        device.close()
