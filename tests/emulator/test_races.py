"""The comments that allow a race."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpugraph.devices.kernel_source import Source
from gpugraph.ext.emulator.races import allowed_lines, parameter_name, with_source

TEXT = """#line 1 "dir/a.cu"
template <class T> __global__ void sums(const T* __restrict__ values, int (&shape)[3], Pair<int, float> pair);
extern "C" __global__ void __launch_bounds__(256)
counts(int n,  /* how many (all, of them) */
       const unsigned int* const offsets, int* out[]) {
\tout[n] = 1;
}
"""
SOURCE = Source(Path("dir/a.cu"), "dir/a.cu", TEXT, ours=False)


@pytest.mark.parametrize(
    ("kernel", "number", "name"),
    [
        ("counts", 0, "n"),
        ("counts", 1, "offsets"),
        ("counts", 2, "out"),
        ("counts", 3, None),
        ("sums<float>", 0, "values"),
        ("sums<float>", 2, "pair"),
        ("made_by_a_macro", 0, None),
    ],
)
def test_a_parameter_is_called_as_in_the_source(kernel: str, number: int, name: str | None) -> None:
    assert parameter_name(SOURCE, kernel, number) == name


def test_a_report_names_the_parameter_and_shows_the_line() -> None:
    report = "out of bounds at a.cu:5, 4 bytes past the end of argument 2, an array of 8 bytes"
    told, excerpt = with_source(report, SOURCE, "counts")
    assert told == report.replace("argument 2", "'out'")
    assert excerpt == ("  a.cu:5 | out[n] = 1;", "         | ^")
    assert with_source("an endless wait", SOURCE, "counts") == ("an endless wait", ())
    assert with_source("trap (b.cu:5)", SOURCE, "counts") == ("trap (b.cu:5)", ())


def test_a_reason_counts_for_its_line_or_for_the_line_below_a_comment_that_is_alone() -> None:
    text = "\n".join(
        [
            '#line 1 "a.cu"',
            "x = 1;  // race-allowed: same value",
            "// race-allowed: read once",
            "// and never again",
            "y = x;",
            "z = 1;",
            '#line 7 "b.cuh"',
            "w = 1;  /* race-allowed: in a block comment */",
            '#line 9 "a.cu"',
            "v = 1;  // race-allowed:",
            "u = 1;  // not race-allowed, for want of a colon",
        ]
    )
    allowed = allowed_lines(text)
    assert allowed["a.cu", 1] == "same value"
    assert allowed["a.cu", 4] == "read once"
    assert allowed["b.cuh", 7] == "in a block comment"
    assert not {("a.cu", 5), ("a.cu", 9), ("a.cu", 10)} & set(allowed)
