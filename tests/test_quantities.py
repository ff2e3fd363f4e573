from __future__ import annotations

import pytest

from gpugraph.errors import InputError
from gpugraph.quantities import in_units, parse_bytes, parse_seconds, parse_share


def test_times_are_read_with_their_units():
    assert [parse_seconds(t) for t in ("90s", "10m", "1.5h", "500ms", 7)] == [90, 600, 5400, 0.5, 7]


def test_a_megabyte_is_a_million_bytes_and_a_mebibyte_2_to_the_20():
    sizes = {"4096": 4096, "1MB": 10**6, "1MiB": 2**20, "64 KiB": 2**16, "1.5k": 1500, "2GB": 2 * 10**9, "7b": 7}
    assert {text: parse_bytes(text) for text in sizes} == sizes
    assert parse_bytes("0.1TiB") == 2**40 // 10


def test_a_share_is_a_size_only_of_something():
    assert parse_bytes("25%", whole=1000) == 250
    with pytest.raises(InputError, match="no size of memory"):
        parse_bytes("25%")


@pytest.mark.parametrize("text", ["", "soon", "-3s", "0", True, "3 weeks", "9" * 5000])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(InputError, match="no length of time"):
        parse_seconds(text)


@pytest.mark.parametrize("text", ["", "much", "0", "8XB", False, "9" * 5000, "1_0", "٤"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(InputError, match="no size of memory"):
        parse_bytes(text)


def test_a_share_is_a_number_or_per_cent():
    assert [parse_share("--target", text) for text in ("0.02", "2%", " 150% ")] == [0.02, 0.02, 1.5]


@pytest.mark.parametrize("text", ["", "%", "little", "nan", "inf"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(InputError, match=r"--target '.*' is no share"):
        parse_share("--target", text)


def test_sizes_are_shown_in_binary_units():
    assert [in_units(size) for size in (5, 2**20, 3 * 2**39)] == ["5 bytes", "1.0 MiB", "1.5 TiB"]
