from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import (
    counted,
    duration,
    in_seconds,
    in_units,
    parse_bytes,
    parse_seconds,
    parse_share,
    rate,
    value,
)


def test_times_are_read_with_their_units():
    assert [parse_seconds(t) for t in ("90s", "10m", "1.5h", "500ms", 7)] == [90, 600, 5400, 0.5, 7]
    assert [parse_seconds(t) for t in ("1e3", ".5", "5.", "1E2 ms", 1e-07)] == [1000, 0.5, 5, 0.1, 1e-07]


def test_a_megabyte_is_a_million_bytes_and_a_mebibyte_2_to_the_20():
    sizes = {"4096": 4096, "1MB": 10**6, "1MiB": 2**20, "64 KiB": 2**16, "1.5k": 1500, "2GB": 2 * 10**9, "7b": 7}
    assert {text: parse_bytes(text) for text in sizes} == sizes
    assert parse_bytes("0.1TiB") == 2**40 // 10


def test_a_share_is_a_size_only_of_something():
    assert parse_bytes("25%", whole=1000) == 250
    with pytest.raises(InputError, match="no size of memory"):
        parse_bytes("25%")


@pytest.mark.parametrize("text", ["", "soon", "-3s", "0", True, "3 weeks", "9" * 5000, ".", "e3", "inf", "1e400"])
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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0"),
        (3e-9, "3 ns"),
        (9.996e-7, "1.00 µs"),
        (2.14e-5, "21.4 µs"),
        (0.000641, "641 µs"),
        (0.0011, "1.10 ms"),
        (0.25, "250 ms"),
        (0.99951, "1.000 s"),
        (1.2041, "1.204 s"),
        (119.5, "119.500 s"),
        (200, "3 min 20 s"),
    ],
)
def test_durations_have_three_digits_and_the_fitting_unit(seconds, text):
    assert duration(seconds) == text


@given(st.floats(1e-9, 100))
def test_a_duration_reads_back_to_within_its_digits(seconds):
    number, unit = duration(seconds).split()
    factor = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
    assert float(number) * factor == pytest.approx(seconds, rel=6e-3 if unit != "ns" else 1, abs=5e-10)
    assert len(number.replace(".", "")) <= 6


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (21_400_000, "20.4 MiB"),
        (150 << 30, "150 GiB"),
        (2 << 40, "2 TiB"),
    ],
)
def test_sizes_are_in_binary_units(number, text):
    assert in_units(number) == text


def test_rates_keep_four_digits():
    assert [rate(x) for x in (10234.51, 26.714, 1.23456, 0.0031419)] == ["10,234.5", "26.71", "1.235", "0.003142"]


def test_nouns_agree_with_their_number():
    assert [counted(1, "vertex"), counted(2000, "vertex"), counted(0, "edge")] == [
        "1 vertex",
        "2,000 vertices",
        "0 edges",
    ]
    assert [counted(2, noun) for noun in ("index", "repeated entry")] == ["2 indices", "2 repeated entries"]


def test_values_of_any_type_have_a_text():
    assert [value(x) for x in (None, True, 1234, [1, 2], [], 0.5, "a")] == [
        "-",
        "yes",
        "1,234",
        "1, 2",
        "-",
        "0.5",
        "a",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.001, "1.00 ms"), (0.0, "0.0 s"), (0.4, "0.4 s"), (12, "12 s"), (210, "3.5 min"), (7560, "2.1 h")],
)
def test_a_limit_has_the_digits_that_a_reader_needs_and_a_short_one_is_not_none(seconds, text):
    assert in_seconds(seconds) == text
