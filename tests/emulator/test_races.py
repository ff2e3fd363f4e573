"""The comments that allow a race."""

from __future__ import annotations

from gpugraph.emulator.races import allowed_lines


def test_a_reason_counts_for_its_line_or_for_the_line_below_a_comment_that_stands_alone() -> None:
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
