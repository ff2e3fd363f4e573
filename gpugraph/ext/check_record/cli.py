"""``gpugraph check-record``: are records plausible?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpugraph.base.errors import InputError, VerificationFailed
from gpugraph.base.host import NOT_LINUX
from gpugraph.base.quantities import counted
from gpugraph.cli.options import command
from gpugraph.cli.output import show, tell

if TYPE_CHECKING:
    from gpugraph.ext.check_record.plausibility import Finding
    from gpugraph.records.record import Record
    from gpugraph.records.record_file import BadLine


def _on_lines(lines: Sequence[int]) -> str:
    """Return ``"line 3"``, or how many lines there are, with the first of them."""
    shown = ", ".join(map(str, lines[:3]))
    return f"line {shown}" if len(lines) == 1 else f"{len(lines):,} lines ({shown}{', …' if len(lines) > 3 else ''})"


@command
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--edges",
    default=2**20,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Compute the answers of generated graphs with at most N edges.",
)
def check_record(files: tuple[str, ...], edges: int, quiet: bool) -> None:
    """Check records for values that cannot be true: times, answers, devices and counts.

    Each line is checked: its types, its times against the bandwidth of the device, its counts against each other, its
    answer against one that is computed here, a clean commit, and the versions of other programs. Exit code 1 if
    anything is found, 2 if a line is no record. All other lines are checked.

    Example:
      gpugraph check-record results.jsonl
    """
    from gpugraph.ext.check_record.plausibility import conflicts, findings
    from gpugraph.ext.check_record.repository import published
    from gpugraph.records.record_file import read_record_file

    if sys.platform != "linux":
        tell([f"answers are not compared with ones computed here: {NOT_LINUX}"], quiet=quiet)
        edges = -1  # no graph is as small
    records: list[Record] = []
    lines: list[str] = []
    unread: list[BadLine] = []
    unreadable: list[InputError] = []
    for file in files:
        try:
            stored = read_record_file(file, strict=False)
            if not (stored.records or stored.bad):
                remedy = "give a file that --save or `gpugraph bench` wrote"
                raise InputError("holds no records", where=file, remedy=remedy)
        except InputError as error:
            unreadable.append(error)  # the other files are checked all the same
            lines.append(str(error))
            continue
        records += stored.records
        lines += [f"{bad.file} line {bad.line}: type: {bad.why}" for bad in stored.bad]
        unread += stored.bad
        if stored.torn is not None:
            lines.append(f"{file} line {stored.torn}: is cut off, and was left out")
    found = [(record, one) for record in records for one in findings(record, edges)] + conflicts(
        records, published(files)
    )
    places: dict[tuple[str | None, Finding], list[int]] = {}
    for record, one in found:
        places.setdefault((record.file, one), []).append(record.line or 0)
    lines += [f"{file} {_on_lines(at)}: {one.kind}: {one.what}" for (file, one), at in places.items()]
    wrong = len(unread) + len({(record.file, record.line) for record, _ in found})
    total = len(unread) + len(records)
    if (not quiet or wrong) and len(unreadable) < len(files):
        show("\n".join([*lines, f"{counted(total, 'record')} checked, {wrong} with findings"]))
    if unreadable:
        raise unreadable[0]
    if unread:
        raise unread[0].error()
    if wrong:
        what = f"{counted(wrong, 'record')} of {total} cannot be shown beside others"
        raise VerificationFailed(what, remedy="docs/submit.md lists the requirements of a record")
