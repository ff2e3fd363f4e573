"""LaTeX: a table for each problem, graphs × algorithms, with columns of siunitx and a row of geometric means."""

import math
from collections.abc import Sequence
from statistics import geometric_mean

from gpugraph.ext.comparing.cells import label
from gpugraph.ext.comparing.ranked import Named, sentences
from gpugraph.ext.comparing.ranking import Ranking
from gpugraph.ext.comparing.versions import explanation
from gpugraph.records.record import Record


def latex(rankings: Sequence[Ranking]) -> str:
    """Return a table of kernel times in ms for each problem; what samples say of each graph is in comments."""
    problems: dict[str, list[Ranking]] = {}
    for ranking in rankings:
        problems.setdefault(ranking.records[0].problem, []).append(ranking)
    return "\n\n".join(_table(*one) for one in problems.items())


def _table(problem: str, rankings: Sequence[Ranking]) -> str:
    cells = label([record for ranking in rankings for record in ranking.records])
    several = len({cell.device for cell in cells}) > 1
    names = iter([cell.series if several else cell.variant for cell in cells])
    rows: list[tuple[str, dict[str, Record | None]]] = []
    for ranking in rankings:
        timed = {id(record) for record in ranking.rows}
        found = [(next(names), record if id(record) in timed else None) for record in ranking.records]
        source = ranking.records[0].asked_source
        again = sum(one.records[0].graph_name == ranking.records[0].graph_name for one in rankings) > 1
        after = f", from {source}" if again and source is not None else ""
        rows.append((ranking.records[0].graph_name + after, dict(found)))
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    times = {name: [record.kernel_s for _, row in rows if (record := row.get(name))] for name in columns}
    whole = [row for _, row in rows if all(row.get(name) or not times[name] for name in columns)]
    head = " & ".join(["graph", *(f"{{{escape(name)}}}" for name in columns)])
    body = [" & ".join([escape(graph), *(_cell(row.get(name)) for name in columns)]) for graph, row in rows]
    means = []
    if len(whole) > 1:
        of = [geometric_mean([row[n].kernel_s * 1e3 for row in whole]) if times[n] else None for n in columns]  # type: ignore[union-attr, operator]
        shown = [_digits(mean, mean / 100) if mean else "{--}" for mean in of]
        means = [r"\midrule", " & ".join([f"geometric mean of {len(whole)}", *shown]) + r" \\"]
    caption = f"{problem}: median kernel time in ms, in brackets half its 95 % interval in units of the last digits"
    caption += f". {stale}" if (stale := explanation([one.record for one in cells])) else ""
    said = [(row[0], sentences(Named(ranking))) for row, ranking in zip(rows, rankings, strict=True)]
    notes = [" ".join(f"% {graph}: {sentence}".split()) for graph, several in said for sentence in several]
    return "\n".join([
        r"% needs \usepackage{booktabs,siunitx}",
        *notes,
        r"\begin{table}", r"\centering", rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{problem}}}",
        rf"\begin{{tabular}}{{l{'S' * len(columns)}}}", r"\toprule", rf"{head} \\", r"\midrule",
        *(rf"{line} \\" for line in body), *means, r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ])  # fmt: skip


def _cell(record: Record | None) -> str:
    """Return a median in ms with its uncertainty as siunitx writes it, ``14.40(12)``."""
    if record is None or not record.kernel_s:
        return "{--}"
    ms, half = record.kernel_s * 1e3, record.half_width
    if not half:
        return _digits(ms, ms / 100)
    places = _places(half * ms)
    return f"{ms:.{places}f}({round(half * ms * 10**places)})"


def _digits(value: float, half: float) -> str:
    return f"{value:.{_places(half)}f}"


def _places(half: float) -> int:
    """Return the decimals at which an uncertainty has two digits."""
    return max(0, 1 - math.floor(math.log10(half)))


_TEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "†": r"\textdagger{}"}
    | {"[": "{[}", "*": "{*}"}  # at the beginning of a row they would belong to the \\ before it
    | {"±": r"$\pm$", "×": r"$\times$", "µ": r"\textmu{}", "–": "--", "<": r"\textless{}", ">": r"\textgreater{}"}
)


def escape(text: str) -> str:
    """Return a text with what LaTeX would take for a command escaped."""
    return " ".join(text.translate(_TEX).split())
