# Made by python -m tests.stub; what each function does is said where it is.

from typing import Any, Literal, overload

from gpugraph import csgraph as csgraph
from gpugraph.adapters.bench import bench as bench
from gpugraph.adapters.call_profile import last_call as last_call
from gpugraph.adapters.calls import generate as generate
from gpugraph.adapters.calls import load as load
from gpugraph.adapters.calls import to_networkx as to_networkx
from gpugraph.adapters.calls import verify as verify
from gpugraph.adapters.mst_many import mst_many as mst_many
from gpugraph.adapters.records import Measured
from gpugraph.adapters.records import read_records as read_records
from gpugraph.adapters.records import report as report
from gpugraph.adapters.resident_graph import on as on
from gpugraph.problems.components.labels import Components
from gpugraph.problems.mst.forest import Forest
from gpugraph.problems.scan.scanned import Scanned
from gpugraph.problems.sssp.distances import DistanceMatrix, Distances

__version__: str
__all__ = [
    "__version__",
    "bench",
    "components",
    "csgraph",
    "generate",
    "last_call",
    "load",
    "mst",
    "mst_many",
    "on",
    "read_records",
    "report",
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
