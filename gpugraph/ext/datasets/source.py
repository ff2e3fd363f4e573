"""Data sets as an input source of ``gpugraph.graph.sources``; the cache is imported when one is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gpugraph.ext.datasets.registry import find, listed, registry

if TYPE_CHECKING:
    from gpugraph.base.clock import HostClock
    from gpugraph.devices.base import Device
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.read_options import ReadOptions


def is_collection(prefix: str) -> bool:
    """Tell whether the part before the colon names a collection of data sets."""
    return prefix in registry()


def names(begun: str) -> Iterable[str]:
    """Return what a shell may offer: collections, and behind a colon their data sets."""
    if ":" in begun:
        return map(str, listed())
    return (f"{one.prefix}:" for one in registry().values() if not one.gone)


def open_dataset(
    text: str, options: ReadOptions, clock: HostClock, tell: Callable[[str], None], device: Device | None
) -> CSRGraph:
    """Return the graph of a name; see ``store.open_dataset``."""
    from gpugraph.ext.datasets import store

    return store.open_dataset(text, options, clock, tell, device)


def local_csr(text: str) -> Path:
    """Return the ``.csr`` of a data set, fetched and converted if need be."""
    from gpugraph.ext.datasets import store

    return store.local_csr(text)


def size_before_fetching(text: str) -> tuple[int, int] | None:
    """Return vertices and lines of a data set that is not here yet, where the list of data sets has them."""
    from gpugraph.ext.datasets.store import cached

    dataset = find(text)
    if dataset.vertices is None or dataset.lines is None or cached(dataset).graphs:
        return None
    return dataset.vertices, dataset.lines
