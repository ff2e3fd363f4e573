"""Where the cells of a sweep are measured: ``--on``.

=============================  ===================================================================================
``gpus:2``                     two workers here, a GPU and half of the processors each
``gpus:0,3``, ``gpus:all``     on those GPUs, on all of them
``cpus:2``                     two workers here, half of the processors each and no GPU
``slurm:gpus=1,time=30m``      jobs of a Slurm cluster, an array of them, through submitit
``dask:tcp://host:8786``       tasks for the workers of a Dask scheduler
=============================  ===================================================================================

A graph goes to one place with all its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from gpugraph.base.errors import check_name, errors_at
from gpugraph.bench.local_workers import LocalWorker

if TYPE_CHECKING:
    from gpugraph.bench.plan import Planned


class Engine(AbstractContextManager["Engine"], Protocol):
    """Measures cells on other machines."""

    def open(self, bench: Any) -> dict[str, Any]:
        """Return the devices of a ``Bench`` as a machine sees them, having stored what an earlier run has left.

        Raises DeviceUnavailable if none could tell.
        """

    def measure(self, runner: Any, units: Sequence[Sequence[Planned]]) -> None:
        """Have cells measured by their graphs, and ``end`` each by the ``Runner``."""


_HERE, _ELSEWHERE = "gpugraph.ext.engines.here", "gpugraph.ext.engines.engines"
PLACES = {"gpus": _HERE, "cpus": _HERE, "slurm": _ELSEWHERE, "dask": _ELSEWHERE}
"""Name → the module whose ``PLACES`` has it; it is imported when ``--on`` names it."""


def places_of(text: str, path: str) -> list[LocalWorker] | Engine:
    """Return the workers of this machine or the engine that ``--on`` names; jobs have files beside ``path``.

    Raises:
        InputError: it names nothing that there is, or a device twice.
        DeviceUnavailable: no such GPU; the engine is not installed, or does not answer.
    """
    kind, _, rest = text.partition(":")
    where = f"--on {text}"
    with errors_at(where):
        check_name("place", kind, PLACES)
    place: list[LocalWorker] | Engine = import_module(PLACES[kind]).PLACES[kind](rest.strip(), path, where)
    return place
