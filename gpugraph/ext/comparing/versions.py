"""Which records an earlier version of our code has measured: the one mark † for it, and its one explanation."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import attrgetter

from gpugraph.base.errors import InputError
from gpugraph.measure.provenance import sources_digest
from gpugraph.problems.foreign import PEER, is_foreign
from gpugraph.problems.registry import find_algorithm
from gpugraph.records import record_file
from gpugraph.records.record import STALE, Record

OUR_COMMANDS = f"{PEER}gpugraph-"
"""How the names of our own whole commands begin, measured as if they were another program."""


def read_records(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Record], list[str]]:
    """Return the records of files to be shown, those of earlier code marked, and what to print about them."""
    rows, notices = record_file.read_records(paths)
    return marked(rows), notices


def marked(rows: Iterable[Record]) -> list[Record]:
    """Return records, those of earlier code marked."""
    return [replace(row, version=known) if (known := version(row)) else row for row in rows]


def _code(row: Record) -> tuple[str, str | None]:
    """Return the algorithm that ran, and the digest of its sources then; a whole command of ours has printed both."""
    if not row.algorithm.startswith(OUR_COMMANDS):
        return row.algorithm, row.shape.provenance.sources_sha256
    printed = next((one.version for one in row.shape.provenance.programs if one.version), "")
    name, _, digest = printed.partition(" ")
    return name, digest or None


def digests_of(row: Record) -> set[str | None]:
    """Return the digests of today's sources of a record's algorithm, empty where it is not one of ours.

    There are several of a whole command's, for which kind of device it chose is not known.
    """
    algorithm, _ = _code(row)
    if is_foreign(algorithm):
        return set()
    kinds = (row.device_kind,) if algorithm == row.algorithm else ("cpu", "cuda", "emulated")
    return {_digest_of(row.problem, algorithm, kind) for kind in kinds}


@cache
def _digest_of(problem: str, algorithm: str, device_kind: str) -> str | None:
    try:
        return sources_digest(find_algorithm(problem, algorithm, device_kind))
    except InputError:  # it has another name today, or is no longer there
        return "gone"


def version(row: Record) -> str:
    """Return "earlier" or "unrecorded" where today's code did not measure a record, else nothing."""
    (_, measured), today = _code(row), digests_of(row)
    never_ran = row.outcome == "skipped" or not (measured or row.ok)
    if never_ran or not today - {None} or measured in today:
        return ""
    return "earlier" if measured else "unrecorded"


def explanation(rows: Iterable[Record], of: Callable[[Record], str] = attrgetter("version"), quote: str = "") -> str:
    """Return the sentence that explains the mark, with the algorithms that it is about; nothing where none is marked.

    ``of`` tells a record's version; without it, that with which ``read_records`` has marked it.
    """
    found: dict[str, set[str]] = {"earlier": set(), "unrecorded": set()}
    for row in rows:
        if known := of(row):
            found[known].add(f"{quote}{row.program}{quote}")
    found["unrecorded"] -= found["earlier"]
    parts = [f"an {known} version of {', '.join(sorted(names))}" for known, names in found.items() if names]
    return f"{STALE.strip()} Measured with {' and '.join(parts)}." if parts else ""
