"""Find the files that travel with the package: ``cuda_kernels/`` and ``configs/``.

In a wheel they lie inside the package; in an editable install and in a plain source checkout they lie
beside it.
"""

from __future__ import annotations

from pathlib import Path

from gpugraph.errors import GpuGraphError

_PACKAGE = Path(__file__).resolve().parent


def resource_dir(name: str) -> Path:
    """Return the directory ``name`` ("cuda_kernels" or "configs").

    Raises:
        GpuGraphError: the installation is incomplete.
    """
    for base in (_PACKAGE, _PACKAGE.parent):
        if (base / name).is_dir():
            return base / name
    raise GpuGraphError(f"the directory {name}/ is missing from the installation", remedy="reinstall gpugraph")
