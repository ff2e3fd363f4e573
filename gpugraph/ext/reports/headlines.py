"""A report in short: a sentence on its cells, the best throughput of each problem, and the gain of GPUs over CPUs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from gpugraph.base.quantities import counted, duration, rate
from gpugraph.ext.reports.panels import problem_name
from gpugraph.ext.reports.versus import Gain, machine, times_as_fast
from gpugraph.records.columns import Labelled
from gpugraph.records.record import Record


@dataclass(frozen=True)
class Headline:
    """A subject, figures of the kernel and of the answer each with what it is, and the line below."""

    subject: str
    figures: tuple[tuple[str, str], ...]
    detail: str


def lead(cells: Sequence[Labelled]) -> str:
    """Return what the page is about in two sentences."""
    rows = [cell.record for cell in cells]
    devices = list(dict.fromkeys(cell.record.device for cell in cells if cell.record.shape.device.name))
    problems = list(dict.fromkeys(problem_name(row.problem).lower() for row in rows))
    algorithms = {(row.problem, row.algorithm) for row in rows}
    where = f" on {_listed(devices)}" if devices else ""
    text = f"{_listed(problems).capitalize()}: {counted(len(algorithms), 'algorithm')} in {counted(len(rows), 'cell')}"
    text += f"{where}, measured {_days(rows)}. "
    verified = sum(row.ok and row.status == "passed" for row in rows)
    some = f"{verified:,} of the results {'is' if verified == 1 else 'are'} verified"
    text += "Every result is verified." if verified == len(rows) else some
    missing = Counter(row.outcome for row in rows if not row.ok)
    unchecked = sum(row.ok and row.status != "passed" for row in rows)
    parts = [f"{number} {outcome}" for outcome, number in missing.items()]
    parts += [f"{unchecked} not verified"] if unchecked else []
    return text + (f"; the others: {', '.join(parts)}." if verified < len(rows) else "")


def headlines(cells: Sequence[Labelled], gains: Sequence[Sequence[Gain]]) -> list[Headline]:
    """Return the best throughput of each problem, and what the best GPU gains over the best CPU."""
    found = []
    for problem in dict.fromkeys(cell.record.problem for cell in cells):
        rated = [cell for cell in cells if cell.record.problem == problem and cell.record.mteps is not None]
        if not rated:
            continue
        best = max(rated, key=lambda cell: cell.record.mteps or 0.0)
        row = best.record
        mteps = row.mteps or 0.0
        short = f"{mteps:,.0f}" if mteps >= 100 else rate(mteps)
        figures = [(f"{short} MTEPS", f"kernel alone, {duration(row.kernel_s or 0.0)}")]
        if row.answer_s is not None:
            figures.append((duration(row.answer_s), "time to answer"))
        elif row.transfers and row.end_to_end is not None:
            figures.append((duration((row.kernel_s or 0.0) + row.transfer_s), "kernel and transfers"))
        detail = f"{best.variant} on {row.graph_name}, {machine(row)}" + (f", {row.few}" if row.few else "")
        found.append(Headline(problem_name(problem), tuple(figures), detail))
    for problem in dict.fromkeys(group[0].gpu.problem for group in gains):
        mine = [one for group in gains if group[0].gpu.problem == problem for one in group]
        by = list(dict.fromkeys(one.by for one in mine))
        means = {name: geometric_mean(one.factor for one in mine if one.by == name) for name in by}
        graphs = {name: counted(sum(one.by == name for one in mine), "graph") for name in by}
        same = len(set(graphs.values())) == 1
        detail = f"the best GPU algorithm ({_who(one.gpu for one in mine)}) over the best CPU algorithm "
        detail += f"({_who(one.cpu for one in mine)})"
        detail += f", geometric mean over {graphs[by[0]]}" if same else ", geometric means"
        figures = [(times_as_fast(means[name]), name if same else f"{name}, {graphs[name]}") for name in by]
        found.append(Headline(f"{problem_name(problem)}, GPU over CPU", tuple(figures), detail))
    return found


def _who(rows: Iterable[Record]) -> str:
    """Return whose figures they are: the algorithms on each machine."""
    on: dict[str, list[str]] = {}
    for row in rows:
        on.setdefault(machine(row), []).append(row.marked)
    return "; ".join(f"{_listed(list(dict.fromkeys(names)))} on {place}" for place, names in on.items())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)


def _days(rows: Sequence[Record]) -> str:
    days = sorted({row.shape.time[:10] for row in rows} - {""})
    if not days:
        return "on a day not recorded"
    return f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
