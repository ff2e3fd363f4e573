"""``Problem``, the interface of problems, and ``Input``, ``Verdict`` and ``Result``, which it works with."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

from gpugraph.graph.read_options import AS_GIVEN, STATED, ReadOptions

if TYPE_CHECKING:
    from gpugraph.base.clock import HostClock
    from gpugraph.devices.base import Device
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.graph.view import ResidentView
    from gpugraph.problems import Command

PROBLEMS = {
    "mst": "gpugraph.problems.mst",
    "sssp": "gpugraph.problems.sssp",
    "scan": "gpugraph.ext.scan",
    "components": "gpugraph.ext.components",
}
"""Name → package of a problem, imported when the name is used."""

METHODS = ("auto", "reference", "certificate", "both")
"""How a result can be verified."""

REFERENCE_LIMIT = 2**22
"""``--verify auto`` may use the reference up to this many edges: where that is quicker, or all there is to ask."""

METHODS_OF_A_RUN = (*METHODS, "none")
"""How a run can be: or not at all."""

TYPES_OF_SUMS = ("float64", "float32")
"""In which shortest paths may add float32 weights; the first is what is taken."""

TRANSFERS = ("together", "separate")
"""How the way to the device is timed: as a whole, or the copy into pinned memory apart from the bus."""


class CounterExample(Protocol):
    """A part of a graph that shows that a result is wrong."""

    def to_json(self) -> dict[str, Any]:
        """Return the ``verification.counter_example`` object of a record."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        status: ``"passed"``, ``"failed"`` or ``"skipped"``.
        method: ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        detail: one sentence; of a failed check it names the first counter-example.
        counter_example: of a failed check the graph, or a part of it, that can be drawn.
        sums_error: of shortest paths summed in float32 the greatest relative difference of a distance from its sum in
            float64, infinite where float32 does not reach it; None of all others.
    """

    status: str
    method: str
    detail: str
    counter_example: CounterExample | None = field(default=None, compare=False)
    sums_error: float | None = None

    @property
    def passed(self) -> bool:
        """True only for a check that was made and holds."""
        return self.status == "passed"


def verdict_of(verdicts: Sequence[Verdict], method: str) -> Verdict:
    """Return what the checks that ``method`` asks for say together; an oracle may be unable to hold the graph."""
    for verdict in verdicts:
        if verdict.status == "failed":
            return Verdict("failed", method, verdict.detail)
    passed = [verdict for verdict in verdicts if verdict.passed]
    if not passed:
        return verdicts[0]
    used = method if len(passed) == len(verdicts) else passed[0].method
    errors = [verdict.sums_error for verdict in passed if verdict.sums_error is not None]
    detail = "; ".join(verdict.detail for verdict in verdicts)
    return Verdict("passed", used, detail, sums_error=max(errors, default=None))


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the first that failed, else the first that was not checked, else that of the greatest error of sums."""
    order = ("failed", "skipped", "passed")
    return min(verdicts, key=lambda verdict: (order.index(verdict.status), -(verdict.sums_error or 0.0)))


@dataclass(frozen=True, eq=False)
class Input:
    """What a cell is measured on, and how it is read: the identity of an input.

    Inputs are equal if what they name, a path, a spec or an object, is the same: the same text, or the same object.
    """

    problem: str
    source: Any
    read: ReadOptions = AS_GIVEN

    @property
    def path(self) -> str | None:
        """The path or the spec that names it; None of an object."""
        return os.fsdecode(self.source) if isinstance(self.source, str | os.PathLike) else None

    def _key(self) -> tuple[Any, ...]:
        return self.problem, self.read, self.path or id(self.source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Input) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def stamp(self) -> list[int] | None:
        """Return a file's size, the time of its last change in ns and its inode; None of what is no file."""
        try:
            state = os.stat(self.path or "")
        except (OSError, ValueError):
            return None
        return [state.st_size, state.st_mtime_ns, state.st_ino]

    def describe(self) -> dict[str, Any]:
        """Return the ``cell.input`` object of a record: equal for equal inputs, unequal once a file has changed."""
        stamp = self.stamp()
        given = {name: getattr(self.read, name) for name in STATED}
        return {
            "graph": str(self.source),
            "stamp": None if stamp is None else stamp[:2],
            "weights": self.read.weights,
            "format": self.read.input_format,
            "symmetrize": self.read.symmetrize,
            **{name: value for name, value in given.items() if value != getattr(AS_GIVEN, name)},
            "seed": self.read.seed if self.read.random_weights else None,
        }


@dataclass(frozen=True)
class ViewSize:
    """The ``InputSizes`` of a view that is not there yet."""

    vertices: int
    arcs: int
    index_bits: int
    weight_bytes: int
    nbytes: int


@dataclass(frozen=True)
class InputSize:
    """What is known of an input before it is made or read.

    Attributes:
        vertices, arcs: of an array both its elements.
        weight_bytes: of one weight, or of one element.
        exact: both counts are those of the input, or an upper bound; else about.
        making_bytes: of host memory at the peak of making or reading it.
        nbytes: of its arrays on the host.
        state_bytes: about what a GPU algorithm takes besides, where neither the algorithm nor a record tells.
        extra_bytes: what a device needs of it in addition to its view's ``nbytes``.
        fed_bytes: of host memory at the peak where a GPU makes it, or builds it of what is read; None: as those.
    """

    vertices: int
    arcs: int
    weight_bytes: int
    exact: bool
    making_bytes: int
    nbytes: int
    state_bytes: int
    extra_bytes: int = 0
    fed_bytes: int | None = None


class Result(Protocol):
    """What every problem's result offers to the measurement."""

    @property
    def graph(self) -> Any:
        """The input that it is a result of."""

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if the results are equal."""


class ProblemInput(Protocol):
    """How the input of a problem is recognised, opened, and handed to algorithms."""

    def size(self, source: str, weights: str) -> InputSize:
        """Return the size of what a file or a spec will give, with these weights; raise InputError if there is none."""

    def view_size(self, size: InputSize, preparations: Sequence[str], index_bits: int | None) -> ViewSize:
        """Return the sizes that the view of an input of that size will have after the preparations."""

    def series(self, source: str) -> str:
        """Return a file or spec with what makes it large left open: ``rmat:{scale},ef=8``."""

    def open(
        self, input_: Input, clock: HostClock, progress: Callable[[str], None], device: Device | None = None
    ) -> Any:
        """Return the input itself; ``clock`` times ``load``, ``build`` and ``check``.

        A GPU that will work on it may be asked to make it, and then does, and keeps it, if it can.
        """

    def admit(self, graph: Any) -> Any:
        """Return the graph the algorithms get (mst symmetrises); raise InputError for one they cannot take."""

    def view(self, graph: Any, preparations: Sequence[str], index_bits: int | None, unsigned: bool = False) -> Any:
        """Return the input as an algorithm on the CPU gets it, after the preparations; see ``GraphView.of``."""

    def to_device(self, view: Any, device: Device) -> tuple[Any, float, float]:
        """Return the view on a device, and the seconds of ``stage`` and ``h2d``."""


class ProblemRuns(Protocol):
    """What a run of a problem answers, and what is counted of it."""

    query_fields: tuple[str, ...]
    """The fields of a cell that choose its queries, e.g. ``("source",)``."""
    counted: str
    """What MTEPS counts, e.g. ``"undirected edges"``."""
    definition: str
    """The definition of MTEPS, one sentence, printed beside the figure."""

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the runs to make: each tuple is passed to ``run`` after the clock."""

    def batch(self, queries: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the one query that combines several, for an algorithm that answers them in one run."""

    def query_of(self, result: Any) -> tuple[Any, ...]:
        """Return the query that a result answers."""

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the name of the algorithm that measurements say is fastest for such a graph."""

    def add_optional_outputs(
        self, result: Any, cell: Any, resident: Any, device: Device, progress: Callable[[str], None]
    ) -> tuple[Any, float] | None:
        """Return a result with what an option of the cell adds after the run, and the seconds that took.

        None where there is nothing to add.  Compilation is left out of the seconds; ``resident`` is the input on the
        device, or None.  Raises InputError if the algorithm's result has no such thing.
        """

    def work(self, graph: CSRGraph, result: Any) -> int:
        """Return the number that MTEPS counts for this result."""

    def figures(self, graph: Any, phases: Mapping[str, float]) -> dict[str, Any]:
        """Return what the record of a verified run holds besides, by name, given the median seconds of each phase."""


class ProblemResults(Protocol):
    """How results are recorded and verified."""

    recorded: tuple[str, ...]
    """Fields of a record that every program's result of this problem fills."""
    recorded_of_ours: tuple[str, ...]
    """And those that our own algorithms' results fill besides."""
    cheaper_check: str
    """``"certificate"`` or ``"reference"``: the check that takes less time, imports included."""
    counter_examples: str
    """The module whose ``counter_example(graph, query, result)`` returns what shows that a result is wrong, None if
    nothing does; no text: there is none."""

    @property
    def result(self) -> type[Any] | tuple[type[Any], ...]:
        """The class of its results, or the classes."""

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Any, by: str = "") -> Verdict:
        """Check a result against an oracle that is not the code of the algorithm ``by``."""

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check a result without an oracle, in near-linear time."""


class Problem(ProblemInput, ProblemRuns, ProblemResults, Protocol):
    """What a problem must offer; ``gpugraph.problems.<name>.problem.PROBLEM`` is the instance."""

    name: str
    command: Command
    """What is known of it without its other parts, title, columns and command: ``registry.command_of``."""


@runtime_checkable
class CertifiesOnDevice(Protocol):
    """What a problem may offer besides: the certificate where the graph already is."""

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Any
    ) -> Verdict | None:
        """Check a result of ``view.host.graph`` on the device; None where the view does not suit or has no room."""


@runtime_checkable
class JudgesItself(Protocol):
    """What a result may offer besides: its own check, where more than one answer is right (see ``peers``)."""

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict by ``method``, one of reference, certificate and both."""


class ResultFiles(Protocol):
    """Results written to files."""

    def check_result_name(self, path: str, problem: Problem) -> str:
        """Return the ending of a file's name; raise InputError if the problem's results have no such format."""

    def write_result(self, result: Any, path: str) -> None:
        """Write a result to a file, whole or not at all; raise InputError for a bad name, or no such place."""


def result_files() -> ResultFiles:
    """Return what writes result files, imported when it is first used."""
    return cast(ResultFiles, importlib.import_module("gpugraph.ext.results.files"))


def problem_called(name: str) -> Problem:
    """Return one of the problems there are without its algorithms."""
    problem: Problem = importlib.import_module(f"{PROBLEMS[name]}.problem").PROBLEM
    return problem
