# Made by python -m tests.stub; what each function does is said where it is.

from typing import Any, Literal, SupportsIndex, overload

from gpugraph import csgraph as csgraph
from gpugraph.base.errors import DeviceUnavailable as DeviceUnavailable
from gpugraph.base.errors import GpuGraphError as GpuGraphError
from gpugraph.base.errors import GpuGraphWarning as GpuGraphWarning
from gpugraph.base.errors import GraphFormatError as GraphFormatError
from gpugraph.base.errors import InputError as InputError
from gpugraph.base.errors import OutOfMemory as OutOfMemory
from gpugraph.base.errors import VerificationFailed as VerificationFailed
from gpugraph.ext.components.labels import Components as Components
from gpugraph.ext.python.bench import bench as bench
from gpugraph.ext.python.call_profile import last_call as last_call
from gpugraph.ext.python.calls import from_edges as from_edges
from gpugraph.ext.python.calls import generate as generate
from gpugraph.ext.python.calls import load as load
from gpugraph.ext.python.calls import to_networkx as to_networkx
from gpugraph.ext.python.calls import verify as verify
from gpugraph.ext.python.conversions import save as save
from gpugraph.ext.python.mst_many import Forests as Forests
from gpugraph.ext.python.mst_many import mst_many as mst_many
from gpugraph.ext.python.records import Measured as Measured
from gpugraph.ext.python.records import Plot as Plot
from gpugraph.ext.python.records import Records as Records
from gpugraph.ext.python.records import read_records as read_records
from gpugraph.ext.python.records import report as report
from gpugraph.ext.python.resident_graph import ResidentGraph as ResidentGraph
from gpugraph.ext.python.resident_graph import on as on
from gpugraph.ext.scan.scanned import Scanned as Scanned
from gpugraph.graph.csr import CSRGraph as CSRGraph
from gpugraph.problems.contract import Verdict as Verdict
from gpugraph.problems.mst.forest import Forest as Forest
from gpugraph.problems.sssp.distances import DistanceMatrix as DistanceMatrix
from gpugraph.problems.sssp.distances import Distances as Distances

__version__: str
__all__ = [
    "CSRGraph",
    "Components",
    "DeviceUnavailable",
    "DistanceMatrix",
    "Distances",
    "Forest",
    "Forests",
    "GpuGraphError",
    "GpuGraphWarning",
    "GraphFormatError",
    "InputError",
    "Measured",
    "OutOfMemory",
    "Plot",
    "Records",
    "ResidentGraph",
    "Scanned",
    "Verdict",
    "VerificationFailed",
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
def mst(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: bool, **options: Any
) -> Forest | Measured: ...
@overload
def sssp(
    graph: object,
    source: SupportsIndex | None = ...,
    *,
    sources: None = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    predecessors: bool = ...,
    sums: str = ...,
    time: Literal[False] = ...,
    **options: Any,
) -> Distances: ...
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
    time: bool,
    **options: Any,
) -> Distances | list[Distances] | DistanceMatrix | Measured: ...
@overload
def components(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[False] = ..., **options: Any
) -> Components: ...
@overload
def components(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: Literal[True], **options: Any
) -> Measured: ...
@overload
def components(
    graph: object, *, algo: str = ..., device: str = ..., verify: str = ..., time: bool, **options: Any
) -> Components | Measured: ...
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
@overload
def scan(
    values: object,
    *,
    exclusive: bool = ...,
    heads: object = ...,
    algo: str = ...,
    device: str = ...,
    verify: str = ...,
    time: bool,
    **options: Any,
) -> Scanned | Measured: ...
