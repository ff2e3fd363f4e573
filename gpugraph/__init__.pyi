# Made by python -m tests.stub; what each function does is said where it is.

from typing import Any, Literal, overload

from gpugraph import csgraph as csgraph
from gpugraph.ext.components.labels import Components
from gpugraph.ext.python.bench import bench as bench
from gpugraph.ext.python.call_profile import last_call as last_call
from gpugraph.ext.python.calls import from_edges as from_edges
from gpugraph.ext.python.calls import generate as generate
from gpugraph.ext.python.calls import load as load
from gpugraph.ext.python.calls import to_networkx as to_networkx
from gpugraph.ext.python.calls import verify as verify
from gpugraph.ext.python.conversions import save as save
from gpugraph.ext.python.mst_many import mst_many as mst_many
from gpugraph.ext.python.records import Measured
from gpugraph.ext.python.records import read_records as read_records
from gpugraph.ext.python.records import report as report
from gpugraph.ext.python.resident_graph import on as on
from gpugraph.ext.scan.scanned import Scanned
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances

__version__: str
__all__ = [
    "__version__",
    "bench",
    "components",
    "csgraph",
    "from_edges",
    "generate",
    "last_call",
    "load",
    "mst",
    "mst_many",
    "on",
    "read_records",
    "report",
    "save",
    "scan",
    "sssp",
    "to_networkx",
    "verify",
]

@overload
def mst(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[False] = ..., **options: Any
) -> Forest: ...
@overload
def mst(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[True], **options: Any
) -> Measured: ...
@overload
def sssp(
    graph: object,
    source: object = ...,
    *,
    sources: None = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    predecessors: bool = ...,
    sums: str = ...,
    time: Literal[False] = ...,
    **options: Any,
) -> Distances | list[Distances]: ...
@overload
def sssp(
    graph: object,
    source: None = ...,
    *,
    sources: Any,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    predecessors: bool = ...,
    sums: str = ...,
    time: Literal[False] = ...,
    **options: Any,
) -> DistanceMatrix: ...
@overload
def sssp(
    graph: object,
    source: object = ...,
    *,
    sources: object = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    predecessors: bool = ...,
    sums: str = ...,
    time: Literal[True],
    **options: Any,
) -> Measured: ...
@overload
def components(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[False] = ..., **options: Any
) -> Components: ...
@overload
def components(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[True], **options: Any
) -> Measured: ...
@overload
def scan(
    values: object,
    *,
    exclusive: bool = ...,
    heads: object = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    time: Literal[False] = ...,
    **options: Any,
) -> Scanned: ...
@overload
def scan(
    values: object,
    *,
    exclusive: bool = ...,
    heads: object = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    time: Literal[True],
    **options: Any,
) -> Measured: ...
