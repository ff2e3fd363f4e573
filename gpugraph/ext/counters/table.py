"""The work of a run as lines for the page of its record: by kernel, and by phase."""

from collections.abc import Mapping

from gpugraph.base.quantities import count, counted
from gpugraph.records.record import Record
from gpugraph.report.terminal import Line, field

_SHOWN = (
    *(("sectors", "sectors"), ("atomics", "atomics"), ("conflicts", "atomic_conflicts")),
    *(("barriers", "block_barriers"), ("of grid", "grid_barriers"), ("launches", "launches")),
)
"""Header and counter of each column; a phase has those that are counted by phase."""

_NAME, _WIDTH = 20, 10


def lines(record: Record, width: int) -> list[Line]:
    """Return the lines that take the place of a rate on the emulated device, wrapped to ``width`` columns."""
    work = record.shape.work
    runs = f" of {counted(work.runs, 'run')}" if work.runs and work.runs > 1 else ""
    title = f"of a warp's accesses, in sectors of 32 bytes{runs}; times on the emulated device are not performance"
    head = f"{'kernel':<{_NAME}}" + "".join(f"{header:>{_WIDTH}}" for header, _ in _SHOWN)
    by_size = sorted(work.kernels.items(), key=lambda item: -item[1].get("sectors", 0))
    rows = [*by_size, *([("total", work.total)] if len(by_size) > 1 else [])]
    found: list[Line] = [*field("work", title, width=width), [(head, "bold")], *(_row(*row) for row in rows)]
    if work.phases:
        found += [[(f"{'phase':<{_NAME}}", "bold")], *(_row(*row) for row in work.phases.items())]
    used = (work.total.get("load_bytes", 0) + work.total.get("store_bytes", 0)) / max(
        1, work.total.get("load_sectors", 0) + work.total.get("store_sectors", 0)
    )
    return found + field(
        "", f"{used:.3g} bytes used of a sector; the record has all counters", width=width, style="dim"
    )


def _row(name: str, counters: Mapping[str, int]) -> Line:
    cells = "".join(f"{count(counters[key]) if key in counters else '':>{_WIDTH}}" for _, key in _SHOWN)
    return [(f"{name[: _NAME - 1]:<{_NAME}}{cells}".rstrip(), "")]
