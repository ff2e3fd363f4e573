"""What a kernel can do wrong while it runs."""

from __future__ import annotations

from gpugraph.errors import GpuGraphError


class KernelFault(GpuGraphError):
    """A kernel could not go on: a deadlock, a divergent barrier, a bad mask, an endless wait, a failed assertion."""
