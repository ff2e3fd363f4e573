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


WORDS = {
    "sectors": "32-byte pieces of memory that are touched, the traffic",
    "used": "bytes used of a sector, 32 if neighbours read neighbours",
    "lanes": "lanes of 32 that access memory together, the others idle",
    "atomics": "updates that nothing may interrupt, slower than stores",
    "conflicts": "atomics of a warp on one address, which take turns",
    "barriers": "times that a block waits for its slowest thread",
    "grid": "times that all blocks wait for the slowest",
    "launches": "starts of a kernel, which take time on the smallest graph",
}
"""What a counter of the table says, for ``-v`` and ``gpugraph explain``."""


def lines(record: Record, width: int, *, explained: bool = False) -> list[Line]:
    """Return the lines that take the place of a rate on the emulated device, wrapped to ``width`` columns.

    Where they are ``explained``, a line in words follows for each counter.
    """
    work, total = record.shape.work, record.shape.work.total
    runs = f" of {counted(work.runs, 'run')}" if work.runs and work.runs > 1 else ""
    title = f"of a warp's accesses, in sectors of 32 bytes{runs}; times on the emulated device are not performance"
    head = f"{'kernel':<{_NAME}}" + "".join(f"{header:>{_WIDTH}}" for header, _ in _SHOWN)
    by_size = sorted(work.kernels.items(), key=lambda item: -item[1].get("sectors", 0))
    rows = [*by_size, *([("total", total)] if len(by_size) > 1 else [])]
    found: list[Line] = [*field("work", title, width=width), [(head, "bold")], *(_row(*row) for row in rows)]
    if work.phases:
        found += [[(f"{'phase':<{_NAME}}", "bold")], *(_row(*row) for row in work.phases.items())]
    used = _sum(total, "load_bytes", "store_bytes") / max(1, _sum(total, "load_sectors", "store_sectors"))
    if not explained:
        text = f"{used:.3g} bytes used of a sector; -v explains the counters, the record has all of them"
        return found + field("", text, width=width, style="dim")
    plain = total.get("lanes", 0) - total.get("atomics", 0)  # loads and stores of lanes
    figures = {
        **{name: count(total.get(counter, 0)) for (name, counter) in _SHOWN},
        "used": f"{used:.3g}",
        "lanes": f"{plain / max(1, _sum(total, 'loads', 'stores')):.3g}",
        "grid": count(total.get("grid_barriers", 0)),
    }
    found.append([("", "")])
    for name, words in WORDS.items():
        found += field(name, f"{figures[name]}: {words}", width=width)
    return found


def _sum(counters: Mapping[str, int], *names: str) -> int:
    return sum(counters.get(name, 0) for name in names)


def _row(name: str, counters: Mapping[str, int]) -> Line:
    cells = "".join(f"{count(counters[key]) if key in counters else '':>{_WIDTH}}" for _, key in _SHOWN)
    short = name if len(name) < _NAME else f"{name[: _NAME - 2]}…"
    return [(f"{short:<{_NAME}}{cells}".rstrip(), "")]
