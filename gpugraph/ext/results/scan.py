"""Files of scans, which are written alone: none says that it holds a scan, what was scanned, and how."""

from dataclasses import replace
from typing import IO, Any

import numpy as np

from gpugraph.ext.compression import WrittenThrough
from gpugraph.ext.results.files import MismatchError
from gpugraph.ext.results.text import PathLike
from gpugraph.ext.scan.array import ArrayInput
from gpugraph.ext.scan.scanned import Scanned


class ScanFiles:
    """Scans written."""

    noun = "a scan"
    endings: tuple[str, ...] = (".npy", ".npz")
    csv_columns: tuple[str, ...] = ()

    def write(self, result: Scanned, ending: str, stream: IO[bytes]) -> None:
        """Write a scan: the array alone, or an archive of ``array`` and, for segments, ``index``."""
        if ending == ".npy":
            np.save(WrittenThrough(stream), result.array)  # of a plain file it would not see that the disk is full
            return
        positions: dict[str, Any] = {} if result.index is None else {"index": result.index}
        np.savez(stream, array=result.array, **positions)

    def read(self, content: bytes, path: PathLike) -> None:
        """Return None: no file says that it holds a scan, what was scanned, and how."""

    def claim(self, result: Scanned) -> Scanned:
        """Return a scan at hand as what it claims."""
        return result

    def claimed(self, array: ArrayInput, claim: Scanned, path: PathLike) -> Scanned:
        """Return a scan as one of this array; whether it is exclusive or segmented is the scan's own affair."""
        own = claim.graph
        if array.elements != own.elements:
            raise MismatchError(f"the scan is one of {own.elements} elements, the array has {array.elements}")
        return replace(claim, graph=replace(array, exclusive=own.exclusive, heads=own.heads))


FILES = ScanFiles()
