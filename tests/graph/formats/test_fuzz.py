from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError, OutOfMemory
from gpugraph.ext.formats.known import FORMATS
from gpugraph.graph.check import check_structure
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import ReadOptions
from tests.graph.formats.test_binary_formats import SAMPLES
from tests.tiers import drawn

BINARY = [form.name for form in FORMATS if form.binary]
TEXT = [form.name for form in FORMATS if not form.binary]
SETTINGS = drawn(60, suppress_health_check=list(HealthCheck))


def _loads_or_refuses(data: bytes, name: str, input_format: str | None) -> None:
    """Nothing but an error of gpugraph's own or a sound graph may come out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            graph = load_file(path, ReadOptions(input_format=input_format))
        except (InputError, OutOfMemory):
            return
        check_structure(graph)


@pytest.mark.parametrize("name", BINARY)
@SETTINGS
@given(data=st.binary(max_size=200))
def test_random_bytes_load_or_are_refused(name: str, data: bytes) -> None:
    _loads_or_refuses(data, "fuzz", name)


@pytest.mark.parametrize("name", SAMPLES)
@SETTINGS
@given(edits=st.lists(st.tuples(st.integers(0, 2000), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
def test_changed_files_load_or_are_refused(name: str, edits: list[tuple[int, bytes]]) -> None:
    data = bytearray(SAMPLES[name])
    for place, new in edits:
        at = place % len(data)
        data[at : at + len(new)] = new[: len(data) - at]
    _loads_or_refuses(bytes(data), name, None)


LINES = st.lists(
    st.lists(
        st.sampled_from(
            ["0", "1", "2", "7", "-1", "0.5", "1e400", "nan", "a", "p", "sp", "tw", "%", "#", "c", "é", ""]
        ),
        max_size=5,
    ).map(" ".join),
    max_size=8,
).map("\n".join)


@pytest.mark.parametrize("name", TEXT)
@SETTINGS
@given(text=LINES)
@example(text="p sp 2 1\na 1 2 nan")
@example(text="%%MatrixMarket matrix coordinate real general\n1 1")
@example(text="\n\n")
def test_random_lines_load_or_are_refused(name: str, text: str) -> None:
    _loads_or_refuses(text.encode(), "fuzz", name)


@SETTINGS
@given(data=st.binary(max_size=200))
@example(data=b"\x1f\x8b\x08\x00")
@example(data=b"BZh91AY&SY")
@example(data=b"\xfd7zXZ\x00")
@example(data=b"\x28\xb5\x2f\xfd")
def test_recognition_survives_anything(data: bytes) -> None:
    _loads_or_refuses(data, "fuzz", None)
