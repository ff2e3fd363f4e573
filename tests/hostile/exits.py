"""The ends of commands, a thousand times on busy cores: the code is right, and no thread of a library is met alive."""

from __future__ import annotations

from tests.hostile.commands import check, run
from tests.hostile.trials import Part, Trial

RANGE = "p sp 3 1\na 1 9 3\n"
"""Refused while the threads of a parser may still be alive."""
TEXT = "p sp 3 2\na 1 2 3\na 2 1 3\n"
BAD = {"range.gr": RANGE, "word.wel": "0 1 5\n1 x 3\n", "row.graph": "2 1\n2\n9\n"}
ENDS = (
    (("mst", "range.gr", "--device", "cpu"), 2),
    (("info", "range.gr"), 2),
    (("info", "word.wel"), 2),
    (("info", "row.graph"), 2),
    (("info", "good.gr"), 0),
    (("convert", "good.gr", "good.npz"), 0),
    (("mst", "good.gr", "--device", "cpu", "--repeat", "1"), 0),
    (("info", "nowhere.gr"), 2),
)


def try_exit(trial: Trial) -> str:
    """Run a small command to its end."""
    for name, text in BAD.items():
        (trial.folder / name).write_text(text)
    (trial.folder / "good.gr").write_text(TEXT)
    words, code = ENDS[trial.number % 4 if trial.draw.random() < 0.7 else trial.draw.randrange(len(ENDS))]
    check(run(words, trial.folder), (code,))
    return f"code {code}"


PART = Part("exits", "ends of commands, by error and by success, on busy cores", 1000, try_exit, 5, 120.0, crowd=3)
