"""Atomic operations on NumPy arrays in compiled code, for threads that share an array without the GIL.

``intrinsics.py`` has them; here they have names that can be imported without Numba, which compiled code puts its own in
place of.
"""

from __future__ import annotations

from typing import Any

from gpugraph.compiled import FromNumba


def _intrinsic(name: str) -> Any:
    def made() -> Any:
        from gpugraph import intrinsics

        return getattr(intrinsics, name)

    return FromNumba(made)


compare_and_swap = _intrinsic("compare_and_swap")
"""Set ``array[index]`` to ``desired`` if it is ``expected``; return what it was before, in one atomic step."""

fetch_min = _intrinsic("fetch_min")
"""Lower ``array[index]`` to ``value`` if that is less; return what it was before, in one atomic step."""

fetch_add = _intrinsic("fetch_add")
"""Add ``value`` to ``array[index]``; return what it was before, in one atomic step that no access is moved across."""

load_now = _intrinsic("load_now")
"""Return ``array[index]`` as it is now: read from memory, whatever the compiler has seen of it before."""

prefetch = _intrinsic("prefetch")
"""Ask for the cache line of ``array[index]``, which will be read soon."""

cycles = _intrinsic("cycles")
"""Return the processor's counter of cycles, uint64; it runs at a steady rate."""
