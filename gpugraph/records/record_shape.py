"""The table of all fields of a record that anything reads again: ``Shape``, which a stored record must have.

Fields that the table does not name are kept as they are.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

SCHEMA = 1

Outcome = Literal["ok", "failed", "out of memory", "timeout", "skipped", "refused", "wrong", "threw", "died"]
OUTCOMES = {
    "ok": "measured",
    "wrong": "the result does not hold",
    "refused": "the algorithm does not take this graph, these weights or these options",
    "out of memory": "it does not fit, on the device or on the host",
    "failed": "the device or the compiler could not do it, or the check failed",
    "threw": "its code raised an exception",
    "timeout": "stopped at the limit of its cell",
    "died": "its process ended, by a signal or by itself",
    "skipped": "not tried, for the reason its row names: the budget was spent or too small for it, it would not fit "
    "into memory, or a graph no larger of its series ran out of memory or time or ended its process",
}
"""How a cell ended, and what that means."""

Table = dict[str, Any]
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Processors = Annotated[int, msgspec.Meta(ge=1, le=2**16)]


class Amount(float):
    """A figure that is drawn and divided by: 0, or from 1e-18 to 1e18, so that no product or ratio overflows."""


class Positive(Amount):
    """An amount above 0."""


def _amount(kind: type, value: object) -> object:
    """Return a number as the kind of amount that the table asks for."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{shown(value)} is no number")
    if not (1e-18 <= value <= 1e18 or (value == 0 and kind is Amount)):
        words = ("no number above 0" if kind is Positive else "below 0") if value <= 0 else "out of range"
        raise ValueError(f"{shown(value)} is {words}")
    return kind(value)


class _Part(msgspec.Struct, kw_only=True, frozen=True):
    """An object of a record; any field may be absent or null."""


class DeviceShape(_Part, frozen=True, kw_only=True):
    """``device``."""

    kind: str | None = None
    name: str | None = None
    uuid: str | None = None
    ranks: Annotated[int, msgspec.Meta(ge=1, le=2**31)] | None = None
    threads: Processors | None = None
    compute_capability: str | None = None
    multiprocessors: Whole | None = None
    memory_bytes: Whole | None = None
    l2_bytes: Whole | None = None
    clock_khz: Whole | None = None
    driver_cuda: str | None = None
    runtime_cuda: str | None = None
    cupy: str | None = None


class GraphShape(_Part, frozen=True, kw_only=True):
    """``graph``."""

    name: str | None = None
    source: str | None = None
    digest: str | None = None
    vertices: Whole | None = None
    arcs: Whole | None = None
    edges: Whole | None = None
    directed: bool | None = None
    weight_dtype: str | None = None
    elements: Whole | None = None
    segments: Whole | None = None
    exclusive: bool | None = None


class ParametersShape(_Part, frozen=True, kw_only=True):
    """``parameters``: in addition to the algorithm's own."""

    preparations: list[str] | None = None
    repeat: Whole | None = None
    warmup: Whole | None = None


class CellShape(_Part, frozen=True, kw_only=True):
    """``cell``: its ids, and where it lies in its sweep."""

    id: str | None = None
    name: str | None = None
    series: str | None = None
    sweep: str | None = None
    title: str | None = None
    axes: Table | None = None
    input: Table | None = None


class ProgramShape(_Part, frozen=True, kw_only=True):
    """A program of somebody else: its file's name and SHA-256, and the version that it printed."""

    name: str | None = None
    sha256: str | None = None
    version: str | None = None


class ProvenanceShape(_Part, frozen=True, kw_only=True):
    """``provenance``: the commit of gpugraph, whether its files were unchanged, a digest of the algorithm's sources."""

    commit: str | None = None
    clean: bool | None = None
    sources_sha256: str | None = None
    programs: list[ProgramShape] = []


class SamplesShape(_Part, frozen=True, kw_only=True):
    """``samples_s``."""

    kernel: list[Amount] | None = None
    h2d: list[Amount] | None = None
    d2h: list[Amount] | None = None


class CallShape(_Part, frozen=True, kw_only=True):
    """``call``: seconds of runs on an idle GPU, launch included: between events, and by the host's clock."""

    samples_s: list[Amount] = []
    wall_s: list[Amount] = []


class IntervalsShape(_Part, frozen=True, kw_only=True):
    """``confidence_s``: of each phase the ends of its interval."""

    kernel: tuple[Amount, Amount] | None = None
    h2d: tuple[Amount, Amount] | None = None
    d2h: tuple[Amount, Amount] | None = None


class SamplingShape(_Part, frozen=True, kw_only=True):
    """``sampling``."""

    target: Amount | None = None
    reached: Amount | None = None
    min_samples: Whole | None = None
    max_samples: Whole | None = None
    warmup: Whole | None = None
    cold: bool | None = None
    processes: list[Whole] | None = None
    outliers: list[Whole] | None = None
    spent_s: Amount | None = None
    load: list[Amount | None] | None = None
    other_cores: Amount | None = None
    wall_s: list[Amount] | None = None
    cpu_s: list[Amount] | None = None
    switches: list[Whole] | None = None
    loads: list[Amount | None] | None = None
    stopped_by: str | None = None
    throttled_repeated: Whole | None = None
    sm_clock_mhz: list[Whole | None] | Table | None = None


class RatesShape(_Part, frozen=True, kw_only=True):
    """``mteps``."""

    kernel: Amount | None = None
    end_to_end: Amount | None = None
    count: Whole | Annotated[list[Whole], msgspec.Meta(min_length=1)] | None = None
    counted: str | None = None
    definition: str | None = None


class EnergyShape(_Part, frozen=True, kw_only=True):
    """``energy``."""

    joules_per_run: Amount | None = None
    net_joules_per_run: float | None = None
    """Below 0 where a run takes less than the noise of the idle power."""
    nanojoules_per_edge: Amount | None = None
    mean_w: Amount | None = None
    idle_w: Amount | None = None
    window_s: Amount | None = None
    runs: Whole | None = None
    per: str | None = None
    absent: str | None = None


class TrafficShape(_Part, frozen=True, kw_only=True):
    """``traffic``."""

    minimum_bytes: Amount | None = None
    copy_bytes_per_s: Amount | None = None
    share: Amount | None = None
    absent: str | None = None


class PriceShape(_Part, frozen=True, kw_only=True):
    """``price``: of an hour of a device, and what answers cost there, in one currency."""

    per_hour: Amount | None = None
    per_million_answers: Amount | None = None
    per_billion_edges: Amount | None = None
    absent: str | None = None


class WorkShape(_Part, frozen=True, kw_only=True):
    """``work``: what a run did on the emulated device, by counter (docs/counters.md)."""

    total: dict[str, Whole] = {}
    kernels: dict[str, dict[str, Whole]] = {}
    phases: dict[str, dict[str, Whole]] = {}
    runs: Whole | None = None
    absent: str | None = None


class VertexShape(_Part, frozen=True, kw_only=True):
    """A vertex of ``verification.counter_example``."""

    name: str = ""
    note: str = ""
    wrong: bool = False


class EdgeShape(_Part, frozen=True, kw_only=True):
    """An edge of it; both ends are positions in ``vertices``."""

    tail: Whole = msgspec.field(name="from")
    head: Whole = msgspec.field(name="to")
    text: str = ""
    mark: str = "other"


class CounterExampleShape(_Part, frozen=True, kw_only=True):
    """``verification.counter_example``: the graph, or the part of it, that shows what is wrong."""

    vertices: list[VertexShape] = []
    edges: list[EdgeShape] = []
    directed: bool = False
    whole: bool = False


class VerificationShape(_Part, frozen=True, kw_only=True):
    """``verification``."""

    status: str | None = None
    method: str | None = None
    detail: str | None = None
    sums_error: Amount | None = None
    counter_example: CounterExampleShape | None = None
    wrong_on_purpose: bool | None = None
    results: Whole | None = None


class PointShape(_Part, frozen=True, kw_only=True):
    """One value that a paper states."""

    scale: Positive | None = None
    vertices: Positive | None = None
    mteps: Positive | None = None
    kernel_s: Positive | None = None
    speedup: Positive | None = None
    label: str | None = None
    where: str | None = None
    over: str | None = None


class PaperShape(PointShape, frozen=True, kw_only=True):
    """``paper``; without ``points`` it states one value itself."""

    name: str | None = None
    hardware: str | None = None
    points: list[PointShape] | None = None
    claims: list[str] | None = None


class MemberShape(_Part, frozen=True, kw_only=True):
    """What ``ranks.members`` has of each rank."""

    host: str | None = None
    bytes_sent: Whole = 0
    device: DeviceShape = DeviceShape()


class RankPhaseShape(_Part, frozen=True, kw_only=True):
    """What ``ranks.phases`` has of each phase: the seconds of each rank."""

    work_s: list[Amount] = []
    wait_s: list[Amount] = []
    communication_s: list[Amount] = []


class RanksShape(_Part, frozen=True, kw_only=True):
    """``ranks``."""

    size: Annotated[int, msgspec.Meta(ge=1, le=2**31)] | None = None
    talk_through: str | None = None
    members: list[MemberShape] = []
    phases: dict[str, RankPhaseShape] = {}


class Shape(msgspec.Struct, kw_only=True, frozen=True):
    """A record: the types of all fields that are read again.

    A field that is absent or null has the value given here; infinities are the text "inf".
    """

    problem: str
    algorithm: str
    outcome: Outcome | None = None
    message: str = ""
    algorithm_source: Table = {}
    provenance: ProvenanceShape = ProvenanceShape()
    device: DeviceShape = DeviceShape()
    graph: GraphShape = GraphShape()
    parameters: ParametersShape = ParametersShape()
    cell: CellShape = CellShape()
    phases_s: dict[str, Amount | None] = {}
    samples_s: SamplesShape = SamplesShape()
    confidence_s: IntervalsShape = IntervalsShape()
    call: CallShape = CallShape()
    sampling: SamplingShape = SamplingShape()
    kernel_phases_s: dict[str, Amount | None] = {}
    kernel_phases_run_s: Amount | None = None
    kernel_phases_runs: Whole | None = None
    kernel_phases_shares: dict[str, tuple[Amount, Amount, Amount]] = {}
    compiled: Whole | None = None
    interpreter_s: Amount | None = None
    counters: Table = {}
    peak_device_bytes: Whole | None = None
    mteps: RatesShape = RatesShape()
    energy: EnergyShape = EnergyShape()
    traffic: TrafficShape = TrafficShape()
    work: WorkShape = WorkShape()
    price: PriceShape = PriceShape()
    result: Table = {}
    per_source: list[Table] = []
    rounds: Whole | None = None
    predecessors_s: Amount | None = None
    throughput: dict[str, Amount | None] = {}
    verification: VerificationShape = VerificationShape()
    environment: Table = {}
    paper: PaperShape | list[PaperShape] | None = None
    ranks: RanksShape | None = None
    graph500: dict[str, Amount | None] = {}
    time: str = ""


class InputShape(_Part, frozen=True, kw_only=True):
    """``cell.input``."""

    graph: str | None = None
    weights: str | None = None
    format: str | None = None
    symmetrize: bool | None = None
    keep_ids: bool | None = None
    directed: bool | None = None
    vertices: Whole | None = None
    columns: str | None = None
    weight: str | None = None
    seed: int | None = None


class ResultShape(_Part, frozen=True, kw_only=True):
    """``result``, and what ``per_source`` has of each source."""

    source: int | None = None
    source_name: int | str | None = None
    sources: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)] | None = None
    kernel_s: Amount | None = None
    total_weight: int | float | str | None = None
    distance_sum: int | float | str | None = None
    distance_max: int | float | str | None = None
    tree_edges: Whole | None = None
    components: int | None = None
    """Vertices less edges of a forest, and so below 0 for a wrong one with too many edges."""
    largest: Whole | None = None
    reached: Whole | None = None
    rounds: Whole | None = None
    elements: Whole | None = None
    edges_sha256: str | None = None
    distances_sha256: str | None = None
    labels_sha256: str | None = None
    digest: str | None = None
    tuples: Whole | None = None
    validation_s: Amount | None = None


class NvmlShape(_Part, frozen=True, kw_only=True):
    """``environment.gpu.nvml``."""

    sm_clock_max_mhz: Whole | None = None
    power_limit_w: Amount | None = None


class GpuShape(_Part, frozen=True, kw_only=True):
    """``environment.gpu``."""

    name: str | None = None
    driver_cuda: str | None = None
    runtime_cuda: str | None = None
    cupy: str | None = None
    nvml: NvmlShape | None = None


class EnvironmentShape(_Part, frozen=True, kw_only=True):
    """``environment``."""

    git_commit: str | None = None
    cores: Processors | None = None
    processor: str | None = None
    node: str | None = None
    command: list[str] | str | None = None
    gpu: GpuShape | None = None


class _CellTables(_Part, frozen=True, kw_only=True):
    input: InputShape | None = None


class _Tables(_Part, frozen=True, kw_only=True):
    """The types of those fields that are read of a ``Table``, which may have others besides."""

    result: ResultShape = ResultShape()
    per_source: list[ResultShape] = []
    environment: EnvironmentShape = EnvironmentShape()
    cell: _CellTables = _CellTables()


def shape_of(data: Mapping[str, object]) -> Shape:
    """Return what is read again of a record's JSON object; a ValueError names a field that is not of its type."""
    if (schema := data.get("schema", SCHEMA)) != SCHEMA:
        raise ValueError(f"its schema is {shown(schema)}, this gpugraph reads {SCHEMA}")
    try:
        given = {k: v for k, v in data.items() if v is not None}
        msgspec.convert(given, _Tables, dec_hook=_amount)
        return msgspec.convert(given, Shape, dec_hook=_amount)
    except msgspec.ValidationError as error:
        what, _, path = str(error).replace("`", "'").partition(" - at '$")
        named = path.rstrip("'").lstrip(".")
        for theirs, ours in (("Expected", "expected"), ("Object ", "it is "), ("Invalid enum", "unknown")):
            what = what.replace(theirs, ours, 1) if what.startswith(theirs) else what
        raise ValueError(f"'{named}': {what}" if named else what) from None


def shown(value: object) -> str:
    """Return a value as an error message shows it."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
