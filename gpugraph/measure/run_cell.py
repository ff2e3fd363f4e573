"""``run_cell``: measure one cell.

    file or spec → CSRGraph → GraphView → State → Result → Verdict → Record

``gpugraph mst`` is a session of one cell; everything that measures takes this path (``session.py``).
"""

from __future__ import annotations

from dataclasses import replace

from gpugraph.clock import Account
from gpugraph.measure.cell import Cell, check_counts
from gpugraph.measure.inputs import Progress
from gpugraph.measure.record import Record
from gpugraph.measure.sampling import Sampling
from gpugraph.measure.session import Session
from gpugraph.ranks.world import world


def run_cell(
    cell: Cell,
    progress: Progress = lambda what: None,
    sampling: Sampling | None = None,
    account: Account | None = None,
) -> Record:
    """Measure one cell.

    Args:
        cell: what to measure.
        progress: called with a few words whenever something new begins.
        sampling: how many samples to take; as many as the cell says if not given.  A cell to be profiled is run once.
        account: what the phases are told to; one that begins now if not given.

    Returns:
        The record; a failed verification is a record whose status says so, not an exception.

    Raises:
        InputError: bad graph, names or parameters.
        DeviceUnavailable, OutOfMemory: the device cannot do it.
    """
    check_counts(cell)
    account = Account("start") if account is None else account
    comm = world()
    if comm is not None:
        from gpugraph.measure.on_ranks import run_on_ranks

        return run_on_ranks(cell, comm, account, progress, sampling or Sampling.fixed(cell.repeat, cell.warmup))
    if sampling is None:
        sampling = replace(Sampling.fixed(cell.repeat, cell.warmup), bandwidth=cell.phases)
    if cell.profile:
        sampling = replace(sampling, min_samples=1, max_samples=1, warmup=0, energy=False, bandwidth=False)
    records: list[Record] = []
    errors: list[Exception] = []
    with Session(account) as session:
        session.measure(
            [cell],
            sampling,
            progress,
            finished=lambda _, record: records.append(record),
            failed=lambda _, error: errors.append(error),
        )
    if errors:
        raise errors[0]
    return records[0].accounted(account)
