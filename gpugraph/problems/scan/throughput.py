"""What a scan's times mean in bytes: transfers each way, the kernel, and the total as the paper counts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpugraph.problems.column import TABLE, Column
from gpugraph.quantities import duration, rate


def throughput(bytes_: int, phases: Mapping[str, float]) -> dict[str, Any]:
    """Return the ``throughput`` object of a record; a gigabyte is 10^9 bytes.

    The total is that of the paper: allocation and transfer to the device, what else is allocated (``prepare``), kernel,
    and transfer back; the copy into pinned memory (``stage``) stands beside it.

    Args:
        bytes_: of the array.
        phases: seconds of every phase.
    """
    h2d, kernel, d2h = (phases.get(name, 0.0) for name in ("h2d", "kernel", "d2h"))
    total = h2d + phases.get("prepare", 0.0) + kernel + d2h
    return {
        "array_bytes": bytes_,
        "h2d_gb_s": _rate(bytes_, h2d),
        "kernel_gb_s": _rate(bytes_, kernel),
        "d2h_gb_s": _rate(bytes_, d2h),
        "total_s": total,
        "total_with_stage_s": total + phases.get("stage", 0.0),
        "transfers_share": (h2d + d2h) / total if total else None,
    }


def _rate(bytes_: int, seconds: float) -> float | None:
    return bytes_ / seconds / 1e9 if seconds else None


def _speeds(found: Mapping[str, Any]) -> str:
    names = {"h2d": "to the device", "kernel": "the kernel", "d2h": "back"}
    parts = [f"{text} {rate(found[f'{key}_gb_s'])}" for key, text in names.items() if found[f"{key}_gb_s"]]
    return ", ".join(parts) + " of the array"


def _transferred(cell: Any) -> Mapping[str, Any] | None:
    """Return the throughput of an array that went to a device and back."""
    found: Mapping[str, Any] = cell.record.data.get("throughput") or {}
    return found if found.get("h2d_gb_s") else None


def _total(found: Mapping[str, Any]) -> str:
    shares = f"{found['transfers_share']:.0%} of it transfers"
    return f"{duration(found['total_s'])} with allocation and both transfers, {shares}"


COLUMNS = (
    Column("throughput", "GB/s", text=_speeds, shown=(TABLE,)),
    Column("throughput.total_s", "total", _transferred, _total, shown=(TABLE,)),
)
"""What a scan's page has beside that of every problem."""
