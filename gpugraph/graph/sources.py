"""Where graphs come from beside files and specs on the host: extensions, each imported when such a source is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from gpugraph.graph.families import FAMILIES

if TYPE_CHECKING:
    from gpugraph.base.clock import HostClock
    from gpugraph.devices.base import Device
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.input_file import Source
    from gpugraph.graph.read_options import ReadOptions
    from gpugraph.graph.spec import Spec

SOURCES = {
    "file": "gpugraph.ext.formats.files",
    "data set": "gpugraph.ext.datasets.source",
    "object": "gpugraph.ext.python.inputs",
    "device": "gpugraph.ext.device_graphs.source",
    "weights": "gpugraph.ext.changes.weights",
}
"""Source → the module that opens it; ``Files``, ``DataSets``, ``Objects``, ``DeviceGraphs``, ``Weights``: its offer."""


class Files(Protocol):
    """Files of all formats; a ``.csr`` is read without them."""

    EXTENSIONS: Collection[str]
    """The endings of their names, with the dot, in lower case."""

    def named(self, name: str) -> Any:
        """Return the ``Format`` called ``name``.  Raises InputError if there is none."""

    def read_file(self, source: Source, form: Any, clock: HostClock, device: Device | None) -> CSRGraph:
        """Return the graph of a file in a format, or in the one that it is recognised as; see ``load_file``."""

    def lines_and_arcs(self, path: str) -> tuple[int, int, int | None]:
        """Return about how many lines a text of arcs has, how many arcs they are, and vertices by its header."""

    def named_sources(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> list[int]:
        """Return the vertices to search from where they go by name, or by a file; see ``problems/sources.py``."""


class DataSets(Protocol):
    """Graphs by name, ``snap:roadNet-CA``."""

    def is_collection(self, prefix: str) -> bool:
        """Tell whether the part before the colon names a collection of data sets."""

    def names(self, begun: str) -> Iterable[str]:
        """Return what a shell may offer: collections, and behind a colon their data sets."""

    def open_dataset(
        self, text: str, options: ReadOptions, clock: HostClock, tell: Callable[[str], None], device: Device | None
    ) -> CSRGraph:
        """Return the graph of a name; its first use fetches and converts it.  Raises InputError if there is none."""

    def local_csr(self, text: str) -> Path:
        """Return the ``.csr`` of a data set, fetched and converted if need be."""

    def size_before_fetching(self, text: str) -> tuple[int, int] | None:
        """Return vertices and lines of a data set that is not here yet, where the list of data sets has them."""


class Objects(Protocol):
    """Objects of Python: matrices, graphs of other libraries, tables, edges, tuples of arrays, open files."""

    def open_object(self, source: object, options: ReadOptions, device: Device | None) -> CSRGraph:
        """Return the graph of an object; its arrays are shared where it can be.  Raises InputError if it is none."""


class DeviceGraphs(Protocol):
    """Graphs made, built and changed on the device that will search them; OutOfMemory where it lacks the room."""

    def generate_on_device(self, spec: Spec, device: Device, remake: Callable[[], CSRGraph]) -> CSRGraph:
        """Return the graph of a spec; ``remake`` makes it on the host once the device is closed."""

    def symmetrize_on_device(self, graph: CSRGraph) -> CSRGraph:
        """Return a directed graph that lies on a device made undirected."""


class Weights(Protocol):
    """Other weights for a graph."""

    def transform_weights(self, graph: CSRGraph, text: str, seed: int = 1) -> CSRGraph:
        """Return the graph with the weights of ``--reweight``.  Raises InputError if there are none such."""


def other_files() -> Files:
    """Return what reads files of all formats."""
    return cast(Files, import_module(SOURCES["file"]))


def data_sets() -> DataSets:
    """Return what opens data sets."""
    return cast(DataSets, import_module(SOURCES["data set"]))


def objects() -> Objects:
    """Return what reads objects of Python."""
    return cast(Objects, import_module(SOURCES["object"]))


def device_graphs() -> DeviceGraphs:
    """Return what makes graphs on devices."""
    return cast(DeviceGraphs, import_module(SOURCES["device"]))


def changed_weights() -> Weights:
    """Return what gives a graph other weights."""
    return cast(Weights, import_module(SOURCES["weights"]))


def is_dataset(text: str) -> bool:
    """Tell whether a text names a data set, be it one that does not exist, and no file."""
    prefix, colon, _ = text.partition(":")
    if not colon or os.path.exists(text):
        return False
    return prefix not in FAMILIES and data_sets().is_collection(prefix)
