"""gpugraph: benchmark minimum spanning trees and shortest paths on GPUs, every result verified.

>>> import gpugraph
>>> graph = gpugraph.generate("rmat:8")                 # or gpugraph.load("roads.gr.gz")
>>> forest = gpugraph.mst(graph, device="cpu")
>>> forest.total_weight, forest.components              # exact
(37549773, 23)
>>> paths = gpugraph.sssp(graph, source=0, device="cpu")
>>> paths.distance[7:10].tolist()                       # vertex 9 is not reached
[567751, 393313, None]
>>> records = gpugraph.bench(graph, algo="boruvka,kruskal", device="cpu", max_seconds=0.1)
>>> gpugraph.report(records, "report.md").name
'report.md'

Everything imports lazily: ``import gpugraph`` costs milliseconds.
"""

import sys
from types import ModuleType

__version__ = "0.1.0"

_HOMES = {
    "ext.python.calls": (
        *("components", "from_edges", "generate", "load", "mst", "scan", "sssp"),
        *("to_networkx", "verify"),
    ),
    "ext.python.call_profile": ("last_call",),
    "ext.python.mst_many": ("Forests", "mst_many"),
    "ext.python.resident_graph": ("ResidentGraph", "on"),
    "ext.python.bench": ("bench",),
    "ext.python.conversions": ("save",),
    "ext.python.records": ("Measured", "Plot", "Records", "read_records", "report"),
    "base.errors": (
        *("DeviceUnavailable", "GpuGraphError", "GpuGraphWarning", "GraphFormatError"),
        *("InputError", "OutOfMemory", "VerificationFailed"),
    ),
    "graph.csr": ("CSRGraph",),
    "problems.contract": ("Verdict",),
    "problems.mst.forest": ("Forest",),
    "problems.sssp.distances": ("DistanceMatrix", "Distances"),
    "ext.components.labels": ("Components",),
    "ext.scan.scanned": ("Scanned",),
}
"""File → the public names that are there; their types are in ``__init__.pyi``."""

_HOME = {name: f"gpugraph.{file}" for file, names in _HOMES.items() for name in names}

__all__ = sorted(["__version__", "csgraph", *_HOME])

_READING = ("gpugraph.ext.python.records", "gpugraph.base.errors")
"""Where nothing is measured, so that any machine will do."""


class _Api(ModuleType):
    """The package, in which a function is not hidden by the folder of the same name once that is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Api


def __getattr__(name: str) -> object:
    """Return what the adapters offer, imported when it is first asked for."""
    from importlib import import_module

    if name in __all__ and _HOME.get(name) not in _READING and sys.platform != "linux":
        from gpugraph.base.host import NOT_LINUX

        raise ImportError(f"gpugraph.{name}: {NOT_LINUX}")
    if name == "csgraph":
        return import_module("gpugraph.csgraph")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'gpugraph' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion; what the module needs itself is left out."""
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__"])
