"""Scans as files: a .npy file holds the sums, an .npz file ``array`` and, for segments, ``index``.

No file of a scan says what was scanned and how, so none is read back as a result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import IO

import numpy as np

from gpugraph.problems.result_files import MismatchError, PathLike
from gpugraph.problems.scan.array import ArrayInput
from gpugraph.problems.scan.scanned import Scanned


class ScannedFiles:
    """The part of the problem that lets scans out."""

    result = Scanned
    result_noun = "a scan"
    result_endings: tuple[str, ...] = (".npy", ".npz")
    csv_columns: tuple[str, ...] = ()

    def write(self, result: Scanned, ending: str, stream: IO[bytes]) -> None:
        """Write a scan: the array alone, or an archive of ``array`` and, for segments, ``index``."""
        if ending == ".npy":
            np.save(stream, result.array)
        elif result.index is None:
            np.savez(stream, array=result.array)
        else:
            np.savez(stream, array=result.array, index=result.index)

    def read(self, content: bytes, path: PathLike) -> None:
        """Return None: no file says that it holds a scan."""

    def claim(self, result: Scanned) -> Scanned:
        """Return a scan at hand as what it claims."""
        return result

    def claimed(self, array: ArrayInput, claim: Scanned, path: PathLike) -> Scanned:
        """Return a scan as one of this array; whether it is exclusive or segmented is the scan's own affair."""
        own = claim.graph
        if array.elements != own.elements:
            raise MismatchError(f"the scan is one of {own.elements} elements, the array has {array.elements}")
        return replace(claim, graph=replace(array, exclusive=own.exclusive, heads=own.heads))
