"""Where compiled kernels are kept: a directory of the user's, content-addressed, safe to share between processes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from gpugraph.errors import GpuGraphError


def cache_dir() -> Path:
    """Return the directory of compiled kernels: ``$GPUGRAPH_CACHE_DIR/emulated``, else in the user's cache directory.

    Where that cannot be written, a directory that lasts as long as the process.
    """
    chosen = os.environ.get("GPUGRAPH_CACHE_DIR")
    base = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpugraph"
    directory = base / "emulated"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if os.access(directory, os.W_OK | os.X_OK):
            return directory
    except OSError:
        pass
    return Path(_process_dir().name)


@cache
def _process_dir() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gpugraph-emulated-")


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file ``name`` in the cache, calling ``make(temporary path)`` first if it is not there.

    Two processes may make the same file at once; each renames its own into place, and both are the same.

    Raises:
        GpuGraphError: the file cannot be written.
    """
    target = cache_dir() / name
    if target.exists():
        return target
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as work:
            made = Path(work) / target.name
            make(made)
            made.replace(target)
    except OSError as error:
        raise GpuGraphError(
            f"cannot write the kernel cache: {error.strerror}",
            where=target.parent,
            remedy="free some space or set GPUGRAPH_CACHE_DIR",
        ) from None
    return target
