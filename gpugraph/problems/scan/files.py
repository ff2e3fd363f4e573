"""Result files of scans: a .npy file holds the sums, an .npz file what a segmented scan gives."""

from __future__ import annotations

import os
from typing import IO, Any

import numpy as np

from gpugraph.errors import InputError
from gpugraph.problems.scan.scanned import Scanned


def check_scan_name(path: str | os.PathLike[str], ending: str) -> str:
    """Return the ending of a result file's name; raise InputError unless a scan can be written to it."""
    if ending not in (".npy", ".npz"):
        raise InputError("a scan is written to .npy or .npz", where=path, remedy="name the file so")
    return ending


def write_scan(result: Scanned, ending: str, stream: IO[bytes]) -> None:
    """Write a scan: the array alone, or an archive of ``array`` and, for segments, ``index``."""
    if ending == ".npz":
        arrays: dict[str, Any] = {"array": result.array}
        if result.index is not None:
            arrays["index"] = result.index
        np.savez(stream, **arrays)
    else:
        np.save(stream, result.array)
