"""``python -m tests.hostile [PART...]``: run the hostile test, or parts of it, and print one table of what happened."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.hostile.parts import PARTS
from tests.hostile.trials import Failure, Part, Tally, run_here, run_in_workers, work_folder

SHOWN = 20
"""So many failures of a part are printed."""


def main() -> int:
    """Run what the command line asks for; return 1 if anything failed."""
    asked = _parser().parse_args()
    if asked.only is not None:
        return _repeat(PARTS[asked.parts[0]], asked.seed, asked.only, asked.keep)
    names = asked.parts or list(PARTS)
    tallies: dict[str, Tally] = {}
    try:
        for name in names:
            part = PARTS[name]
            count = max(1, round((part.count if asked.count is None else asked.count) * asked.share))
            numbers = range(asked.first, asked.first + count)
            tallies[name] = run_in_workers(
                part, asked.seed, numbers, asked.jobs * part.crowd, asked.keep, _teller(part, count)
            )
            _tell_failures(part, asked.seed, tallies[name].failures)
    finally:
        print("\n".join(table(tallies, asked.seed)))
    return int(any(tally.failures for tally in tallies.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=1, help="of all choices")
    parser.add_argument("--count", type=int, help="trials of each part; default: as many as `make hostile` runs")
    parser.add_argument("--share", type=float, default=1.0, help="of the trials, e.g. 0.01")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; default: one for each core")
    parser.add_argument("--only", type=int, help="repeat this one trial here, and show where it leaves its files")
    keep = Path("build", "hostile")
    parser.add_argument("--keep", type=Path, default=keep, help="the folder for what failed trials leave")
    return parser


def _repeat(part: Part, seed: int, number: int, keep: Path) -> int:
    tally = Tally()
    with work_folder() as folder:
        run_here(part, seed, range(number, number + 1), folder, tally, keep)
    _tell_failures(part, seed, tally.failures)
    print("".join(tally.ended) or "failed")
    return len(tally.failures)


def _teller(part: Part, count: int):  # type: ignore[no-untyped-def]
    """Return what tells how far a part is, on a terminal."""

    def tell(tally: Tally) -> None:
        if sys.stderr.isatty():
            end = "\n" if tally.tried == count else ""
            print(f"\r{part.name}: {tally.tried:,} of {count:,}", end=end, file=sys.stderr, flush=True)

    return tell


def _tell_failures(part: Part, seed: int, failures: list[Failure]) -> None:
    for failure in failures[:SHOWN]:
        print(f"{part.name} {failure.number}: {failure.why.strip()}")
        print(f"    python -m tests.hostile {part.name} --seed {seed} --only {failure.number}    files: {failure.kept}")
    if len(failures) > SHOWN:
        print(f"{part.name}: and {len(failures) - SHOWN} more")


def table(tallies: dict[str, Tally], seed: int) -> list[str]:
    """Return the lines of the table: a row for each part."""
    rows = [("part", f"what was tried (seed {seed})", "tried", "failed", "seconds", "how they ended")]
    for name, tally in tallies.items():
        ended = ", ".join(
            f"{number:,} {how}" for how, number in sorted(tally.ended.items(), key=lambda e: (-e[1], e[0]))
        )
        figures = f"{tally.tried:,}", f"{len(tally.failures):,}", f"{tally.seconds:.0f}"
        rows.append((name, PARTS[name].what, *figures, ended))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return [
        "  ".join(
            cell.rjust(width) if 2 <= i < 5 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row[:5], widths, strict=True))
        )
        + f"  {row[5]}"
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
