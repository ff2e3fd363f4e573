"""How much of the measured bandwidth the least traffic of an algorithm makes up: the share of the roof."""

from __future__ import annotations

from typing import Any

from gpugraph.problems.algorithm import Algorithm, InputSizes


def describe_traffic(
    algorithm: Algorithm, view: InputSizes, kernel_s: float, copy_bytes_per_s: float | str
) -> dict[str, Any]:
    """Return the ``traffic`` object of a record.

    Args:
        algorithm: says what it cannot do without.
        view: the input as the algorithm got it, on the host.
        kernel_s: median seconds of the kernel.
        copy_bytes_per_s: what a plain copy on the same device reaches, bytes read and written, or why that is not
            known.

    Returns:
        ``minimum_bytes``, ``copy_bytes_per_s`` and ``share``, the least traffic over kernel time and bandwidth; or
        ``absent`` with the reason.
    """
    if algorithm.minimum_bytes is None:
        return {"absent": f"nobody has worked out the least traffic of '{algorithm.name}'"}
    if isinstance(copy_bytes_per_s, str):
        return {"absent": copy_bytes_per_s}
    if kernel_s <= 0:
        return {"absent": "the kernel took no time that could be measured"}
    least = algorithm.minimum_bytes(view)
    return {
        "minimum_bytes": least,
        "copy_bytes_per_s": copy_bytes_per_s,
        "share": least / kernel_s / copy_bytes_per_s,
    }
