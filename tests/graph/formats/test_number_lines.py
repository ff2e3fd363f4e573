"""What the fast parser takes it reads as the slow one does, and what the slow one refuses it never takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpugraph.base.errors import GraphFormatError
from gpugraph.ext.formats.text import number_lines
from gpugraph.ext.formats.text.columns import Columns
from gpugraph.ext.formats.text.number_lines import LineParser, Rows
from gpugraph.ext.formats.text.rows import _slow
from tests.tiers import drawn

ROWS = [
    Rows(weighted=True),
    Rows(weighted=False),
    Rows(weighted=True, prefix=b"a", comments=b"c", high=50),
    Rows(weighted=True, comments=b"%", real=True, low=1, high=2**31 + 5),
    Rows(weighted=True, separators=b",\t"),
]
FIELDS = ["0", "1", "7", "50", "51", "007", "2147483647", "2147483648", "9007199254740993", "1234567890123456789"]
WEIGHTS = ["-3", "+3", "0.5", "-0.0", "1e3", "1.5E-7", "2e400", "inf", "nan", ".5", "5.", "-", "1e", "0x10"]
GAPS = [" ", " ", " ", "  ", "\t", ",", ", ", "\t\t", "\r", ""]


@st.composite
def lines(draw: Any) -> bytes:
    """Lines that are mostly right, and now and then as no line should be."""
    made = []
    for _ in range(draw(st.integers(1, 6))):
        words = draw(st.lists(st.sampled_from(FIELDS), min_size=2, max_size=2))
        if draw(st.booleans()):
            words += [draw(st.sampled_from(FIELDS + WEIGHTS))]
        if draw(st.booleans()):
            words = ["a", *words]
        gaps = [draw(st.sampled_from(GAPS)) for _ in words]
        line = words[0] + "".join(gap + word for gap, word in zip(gaps[1:], words[1:], strict=True))
        line = draw(st.sampled_from(["", "", "", " ", "#", "c ", "%", "\t"])) + line
        made.append(line + draw(st.sampled_from(["\n", "\n", "\n", " \n", "\r\n", "\n\n", ",\n", "\t\n"])))
    return "".join(made).encode().removesuffix(b"\n" if draw(st.booleans()) else b"")


def both(block: bytes, rows: Rows) -> tuple[Columns | None, Columns | str]:
    """Return what the fast parser takes, and what the slow one takes or says."""
    pieces = LineParser(rows).block(block)
    fast = None if pieces is None else Columns("f", weighted=True)
    for piece in pieces or []:
        assert fast is not None
        fast.take(piece)
    slow = Columns("f", weighted=True)
    try:
        slow.add(*_slow(block, 1, rows, "f"))
    except GraphFormatError as error:
        return fast, str(error)
    return fast, slow


def assert_equal(fast: Columns, slow: Columns | str) -> None:
    assert isinstance(slow, Columns), slow
    assert (fast.count, fast.low, fast.high) == (slow.count, slow.low, slow.high)
    weights = [c.all_weights() for c in (fast, slow)]
    assert weights[0].dtype == weights[1].dtype
    assert weights[0].tobytes() == weights[1].tobytes()
    for there, here in zip(fast.ids(), slow.ids(), strict=True):
        assert np.array_equal(there, here)


@drawn(600)
@given(lines(), st.sampled_from(ROWS))
@example(b"1 2 3\n1 2 0.5\n", ROWS[0])
@example(b"# 1 2\r3 4\n1 2 3\n", ROWS[0])
@example(b"1 2 -0\n", ROWS[0])
def test_what_is_taken_is_what_the_slow_way_reads(block: bytes, rows: Rows) -> None:
    fast, slow = both(block, rows)
    if fast is not None:
        assert_equal(fast, slow)


@drawn(400)
@given(st.integers(-(2**53), 2**53), st.integers(-30, 30), st.sampled_from(["{}e{}", "{}E{:+}", "{}.e{}", "{}.00e{}"]))
def test_decimals_are_rounded_once(digits: int, power: int, how: str) -> None:
    text = how.format(digits, power)
    pieces = LineParser(ROWS[3]).block(f"1 2 {text}\n".encode())
    if pieces is not None:
        assert pieces[0].weights is not None
        assert pieces[0].weights.tolist() == [float(text)]
    else:
        assert abs(power) > 20 or abs(digits) >= 2**46


@pytest.mark.parametrize("rows", ROWS[:3])
def test_pieces_come_in_order_and_kinds_of_weights_meet(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_lines, "_LEAST", 64)
    monkeypatch.setattr(number_lines, "threads", lambda: 5)
    rng = np.random.default_rng(3)
    for low, high in ((0, 9), (-9, 9), (2**31, 2**32 - 1), (-(2**40), 2**40)):
        ends, weights = rng.integers(0, 50, (300, 2)), rng.integers(low, high, 300, endpoint=True)
        mark = "a " if rows.prefix else ""
        text = "".join(
            f"{mark}{u} {v}" + (f" {w}" if rows.weighted else "") + "\n"
            for (u, v), w in zip(ends.tolist(), weights.tolist(), strict=True)
        )
        pieces = LineParser(rows).block(text.encode())
        assert pieces is not None
        assert len(pieces) == 5
        fast, slow = both(text.encode(), rows)
        assert fast is not None
        assert_equal(fast, slow)


def test_large_ids_and_reals_are_taken_too() -> None:
    for text in (b"5000000000 1 2\n", b"1 2 3\n5000000000 4 0.25\n"):
        fast, slow = both(text, ROWS[0])
        assert fast is not None
        assert_equal(fast, slow)


def test_reals_of_many_digits_are_taken_and_rounded_as_python_rounds_them() -> None:
    rng = np.random.default_rng(5)
    values = [repr(x) for x in rng.random(500).tolist()] + [repr(-x) for x in (rng.random(500) * 1e-250).tolist()]
    values += ["0.1234567890123456789012", "9007199254740993.0", "1.7976931348623157e308", "123456789012345678901.5e-3"]
    pieces = LineParser(ROWS[0]).block("".join(f"1 2 {x}\n" for x in values).encode())
    assert pieces is not None
    assert pieces[0].weights is not None
    assert pieces[0].weights.tolist() == [float(x) for x in values]
    for refused in ("1.5e400", "9007199254740993"):  # beyond a double; a whole number that a double would round
        assert LineParser(ROWS[0]).block(f"1 2 0.5\n1 2 {refused}\n".encode()) is None
