"""Which cells share a figure: those of a problem and a family over its scale, the rest by graph or by algorithm."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpugraph.problems.contract import PROBLEMS
from gpugraph.problems.registry import command_of
from gpugraph.records.columns import Labelled

SCALE = "scale (log2 of the number of vertices)"

LOG_BEYOND = 20
"""A value whose greatest is more than this many times its least is drawn on a logarithmic scale."""


@dataclass(frozen=True, eq=False)
class Panel:
    """The cells of one figure, by scale: of one family of graphs, or, with ``names``, each of a graph by itself.

    Where all cells are of one graph, that is ``alone``, and the abscissa is the algorithm.
    """

    problem: str
    family: str | None
    members: list[Labelled]
    names: bool
    alone: str = ""

    @property
    def key(self) -> str:
        """The panel's name in addresses."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.problem} {self.family or 'graphs'}".lower()).strip("-")

    @property
    def title(self) -> str:
        """The panel's name for people."""
        return f"{problem_name(self.problem)}, {self.family or self.alone or 'by graph'}"

    @property
    def x_title(self) -> str:
        """The title of its abscissa."""
        return "algorithm" if self.alone else "graph" if self.names else SCALE

    def x(self, cell: Labelled) -> str | float:
        """Return the place of a cell on the abscissa."""
        if self.alone:
            return cell.series if len({one.device for one in self.members}) > 1 else cell.variant
        return cell.record.graph_name if self.names else float(cell.record.scale or 0.0)


def problem_name(problem: str) -> str:
    """Return a problem's name for people."""
    return command_of(problem).title if problem in PROBLEMS else problem


def panels(cells: Sequence[Labelled]) -> list[Panel]:
    """Return the figures that cells fall into, in the order of their first cells."""
    groups: dict[tuple[str, str], list[Labelled]] = {}
    families: dict[tuple[str, str | None], str] = {
        (c.record.problem, c.record.shape.cell.series): c.record.family
        for c in cells
        if c.record.shape.cell.series and c.record.graph_facts
    }
    for cell in cells:  # a cell that never opened its graph belongs where its series does
        family = cell.record.family
        if not cell.record.graph_facts:
            family = families.get((cell.record.problem, cell.record.shape.cell.series), family)
        groups.setdefault((cell.record.problem, family), []).append(cell)
    found: list[Panel] = []
    single: dict[str, list[Labelled]] = {}
    for (problem, family), members in groups.items():
        scales = {member.record.scale for member in members} - {None}
        if len(scales) > 1:
            placed = [member for member in members if member.record.scale is not None]
            found.append(Panel(problem, family, sorted(placed, key=lambda m: m.record.scale or 0.0), names=False))
        else:
            single.setdefault(problem, []).extend(members)
    for problem, members in single.items():
        graphs = list(dict.fromkeys(member.record.graph_name for member in members))
        alone = graphs[0] if len(graphs) == 1 < len(members) else ""
        found.append(Panel(problem, None, members, names=True, alone=alone))
    return found
