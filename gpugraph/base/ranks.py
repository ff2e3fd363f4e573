"""Whether this process is one of several ranks, or a command line asks for some: a look that imports nothing.

Ranks themselves are ``gpugraph.ext.ranks``, imported only where there are several.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any

RANK = "GPUGRAPH_RANK"
"""Of a rank that gpugraph has started: ``RANK/SIZE LIFELINE OTHER:SOCKET …``, file descriptors but for the first."""

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
"""What Open MPI, MPICH, Intel MPI and srun tell every process that they start."""

LOST = 76
"""The exit code of a rank that has lost another, for its starter alone, which ends as the lost one did."""


def expected_world_size(environment: Mapping[str, str]) -> int:
    """Return how many processes an mpiexec or srun has started together with this one; 1 without any."""
    return max(_numbers(environment, SIZES), default=1)


def mpi_rank(environment: Mapping[str, str]) -> int:
    """Return this process's number among those; 0 without any."""
    if expected_world_size(environment) == 1:
        return 0
    return next(iter(_numbers(environment, RANKS)), 0)


def _numbers(environment: Mapping[str, str], names: Sequence[str]) -> list[int]:
    values = [environment.get(name, "") for name in names]
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 10]


def is_own_rank() -> bool:
    """Tell whether gpugraph itself has started this process as a rank."""
    return RANK in os.environ


def is_rank() -> bool:
    """Tell whether this process is one of several ranks, whoever has started them."""
    return is_own_rank() or expected_world_size(os.environ) > 1


def world() -> Any:
    """Return the ranks that this process is one of, a ``HostComm``; None where it is alone (``ext/ranks/world.py``)."""
    return import_module("gpugraph.ext.ranks.world").world() if is_rank() else None


def device_of_ranks(words: Sequence[str], commands: Collection[str], default: str = "") -> str | None:
    """Return the device of several ranks, or None, that ``words`` name for one of ``commands``, else ``default``."""
    first = next((word for word in words if word[:1] != "-"), "")
    if is_rank() or first not in commands or {"-h", "--help", "--help-all"} & set(words):
        return None
    named = default
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--device" or word.startswith("--device="):
            named = following if word == "--device" else word.removeprefix("--device=")
    return named if any(mark in named for mark in ("*", ",", ":all")) else None
