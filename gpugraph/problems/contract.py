"""What a problem must offer: its input, its result, its oracle and its certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from gpugraph.devices.base import Device
    from gpugraph.devices.resident import ResidentView
    from gpugraph.graph.csr import CSRGraph
    from gpugraph.measure.record import Cell

PROBLEMS = ("mst", "sssp", "scan")

METHODS = ("auto", "reference", "certificate", "both")
"""How a result can be verified."""

METHODS_OF_A_RUN = (*METHODS, "none")
"""How a run can be: or not at all."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        status: ``"passed"``, ``"failed"`` or ``"skipped"``.
        method: ``"reference"``, ``"certificate"``, ``"both"`` or ``"none"``.
        detail: one sentence; of a failed check it names the first counter-example.
    """

    status: str
    method: str
    detail: str

    @property
    def passed(self) -> bool:
        """True only for a check that was made and holds."""
        return self.status == "passed"


class Result(Protocol):
    """What every problem's result offers to the measurement."""

    @property
    def graph(self) -> Any:
        """The input that it is a result of."""
        ...

    def summary(self) -> dict[str, Any]:
        """Return the ``result`` object of a record."""
        ...

    def fingerprint(self) -> str:
        """Return a digest that equals another result's exactly if the results are equal."""
        ...


class Problem(Protocol):
    """What a problem must offer; ``gpugraph.problems.<name>.problem.PROBLEM`` is the instance."""

    name: str
    title: str
    counted: str
    """What MTEPS counts, e.g. ``"undirected edges"``."""
    definition: str
    """The definition of MTEPS, one sentence, printed beside the figure."""
    result: type[Any]
    """The class of its results."""
    result_noun: str
    """What a message calls a result, e.g. ``"a forest"``."""
    result_endings: tuple[str, ...]
    """Of the files that hold a result, compression aside."""
    csv_columns: tuple[str, ...]
    """What a .csv file of a result has always; it tells one problem's files from another's."""

    def open(self, cell: Cell, phases: dict[str, float], progress: Callable[[str], None]) -> Any:
        """Return the input that a cell names, and add the seconds of ``load`` and ``build`` to ``phases``."""
        ...

    def view(self, graph: Any, preparations: Sequence[str], index_bits: int | None) -> Any:
        """Return the input as an algorithm on the CPU gets it, after the preparations."""
        ...

    def to_device(self, view: Any, device: Device) -> tuple[Any, float, float]:
        """Return the view on a device, and the seconds of ``stage`` and ``h2d``."""
        ...

    def admit(self, graph: CSRGraph) -> CSRGraph:
        """Return the graph the algorithms get (mst symmetrises); raise InputError for one they cannot take."""
        ...

    def queries(self, graph: CSRGraph, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Return the runs to make: each tuple is passed to ``run`` after the clock."""
        ...

    def work(self, graph: CSRGraph, result: Any) -> int:
        """Return the number that MTEPS counts for this result."""
        ...

    def auto(self, graph: CSRGraph, device_kind: str) -> str:
        """Return the name of the algorithm that measurements say is fastest for such a graph."""
        ...

    def accept(self, graph: CSRGraph, query: tuple[Any, ...], returned: Any) -> Result:
        """Return the result that a user's own algorithm means by what it returned; whether it holds is checked later.

        Raises:
            InputError: it can be none; the message says what came back and what to return.
        """
        ...

    def query_of(self, result: Any) -> tuple[Any, ...]:
        """Return the query that a result answers."""
        ...

    def complete(
        self, result: Any, cell: Cell, resident: Any, device: Device, progress: Callable[[str], None]
    ) -> tuple[Any, float] | None:
        """Return a result with what an option of the cell adds after the run, and the seconds that took.

        None where there is nothing to add.  Compilation is left out of the seconds; ``resident`` is the input on the
        device, or None.

        Raises:
            InputError: the algorithm's result has no such thing.
        """
        ...

    def write(self, result: Any, ending: str, stream: IO[bytes]) -> None:
        """Write a result in the format of one of ``result_endings``."""
        ...

    def read(self, content: bytes, path: str | os.PathLike[str]) -> Any:
        """Return the claim of a file's content, nothing of it believed yet; None if it is of another problem.

        Raises:
            GraphFormatError: it lacks a part, or has one too many; whatever else is thrown says that it is damaged.
        """
        ...

    def claim(self, result: Any) -> Any:
        """Return a result at hand as if a file had held it."""
        ...

    def claimed(self, data: Any, claim: Any, path: str | os.PathLike[str]) -> Result:
        """Return the result of an input that a claim stands for; whether it holds is checked later.

        Raises:
            MismatchError: it can be none of this input (``problems/result_files.py``).
            InputError: the file at ``path`` cannot be understood.
        """
        ...

    def reference(self, graph: CSRGraph, query: tuple[Any, ...], result: Any, by: str = "") -> Verdict:
        """Check a result against an oracle that is not the code of the algorithm ``by``."""
        ...

    def certificate(self, graph: CSRGraph, query: tuple[Any, ...], result: Any) -> Verdict:
        """Check a result without an oracle, in near-linear time."""
        ...


@runtime_checkable
class CertifiesOnDevice(Protocol):
    """What a problem may offer besides: the certificate where the graph already is."""

    def certificate_on_device(
        self, view: ResidentView, device: Device, query: tuple[Any, ...], result: Any
    ) -> Verdict | None:
        """Check a result of ``view.host.graph`` on the device; None where the view does not suit or has no room."""
        ...


@runtime_checkable
class BecomesNetworkx(Protocol):
    """What a problem may offer besides: its results as NetworkX graphs."""

    name: str
    result_noun: str

    def to_networkx(self, result: Any) -> Any:
        """Return a result as a NetworkX graph, its nodes named by ``nodes_of``; NetworkX is known to be there."""
        ...


@runtime_checkable
class JudgesItself(Protocol):
    """What a result may offer besides: its own check, where more than one answer is right (see ``peers``)."""

    def judge(self, query: tuple[Any, ...], method: str) -> Verdict:
        """Return the verdict by ``method``, one of reference, certificate and both."""
        ...
