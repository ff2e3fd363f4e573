"""``gpugraph check-record``: can somebody else's records be believed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gpugraph.cli.options import command
from gpugraph.errors import InputError, VerificationFailed
from gpugraph.quantities import counted

if TYPE_CHECKING:
    from gpugraph.measure.record import Record


@command
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--edges",
    default=2**20,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Make graphs of at most so many edges from their specs, and compute their answers here.",
)
def check_record(files: tuple[str, ...], edges: int, quiet: bool) -> None:
    """Check records for what cannot be: changed times, answers, devices and counts.

    Each line is checked: its types, its times against the bandwidth of the device, its counts against each other, its
    answer against one that is computed here, a clean commit, and the versions of other programs. Exit code 1 if
    anything is found.

    Example:
      gpugraph check-record results.jsonl
    """
    from gpugraph.cli.output import show
    from gpugraph.measure.plausibility import conflicts, findings
    from gpugraph.measure.record_file import read_record_file

    records: list[Record] = []
    lines: list[str] = []
    for file in files:
        stored = read_record_file(file)
        if not stored.records:
            raise InputError("holds no records", where=file, remedy="give a file that --save or `gpugraph bench` wrote")
        records += stored.records
        if stored.torn is not None:
            lines.append(f"{file} line {stored.torn}: is cut off, and was left out")
    found = [(record, one) for record in records for one in findings(record, edges)] + conflicts(records)
    lines += [f"{record.file} line {record.line}: {one.kind}: {one.what}" for record, one in found]
    wrong = len({(record.file, record.line) for record, _ in found})
    if not quiet or found:
        show("\n".join([*lines, f"{counted(len(records), 'record')} checked, {wrong} with findings"]))
    if found:
        what = f"{counted(wrong, 'record')} of {len(records)} cannot be shown beside others"
        raise VerificationFailed(what, remedy="docs/submit.md says what a record needs")
