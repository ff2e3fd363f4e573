"""Ours beside other people's programs: which records may be compared, and what comes of it.

A ratio is of one run where one command of one commit measured both on one device.  Any other is marked with a ‡ and is
no headline; a † marks what an earlier version of our code has measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from math import inf
from statistics import geometric_mean
from typing import Any

from gpugraph.base.errors import InputError
from gpugraph.ext.comparing.cells import of_several_runs
from gpugraph.ext.comparing.claims import has_one_sample
from gpugraph.ext.comparing.versions import OUR_COMMANDS, explanation, version
from gpugraph.problems.foreign import PEER, is_foreign
from gpugraph.records.record import NO_LARGER, STALE, Record

NAMES = {
    "adds": "ADDS", "afforest-cuda": "Afforest", "cugraph": "cuGraph", "doublegraph": "doubleGraph", "ecl": "ECL",
    "ecl-cc": "ECL-CC", "ecl-mst": "ECL-MST", "gapbs": "GAPBS", "gunrock": "Gunrock", "near-far": "near-far",
    "igraph": "igraph", "networkit": "NetworKit", "pasgal": "PASGAL", "pbbs": "PBBS", "raft": "RAFT", "scipy": "SciPy",
    "wasp": "Wasp",
}  # fmt: skip
"""Programs by what the names of their peers begin with; the longest that fits counts."""

CLOCKS = "§ Our time is the kernel's, without its launch, which the others' times contain."

FAILURES = {"timeout": "hang", "threw": "crash", "died": "crash", "skipped": "not tried after a failure"}
"""What a program's outcome is called, if not by its own name."""


def program(row: Record) -> str:
    """Return the program that a peer runs, whatever its settings."""
    name = row.algorithm.removeprefix(PEER)
    return NAMES.get(max((one for one in NAMES if name.startswith(one)), key=len, default=""), name)


def is_other(row: Record) -> bool:
    """Tell whether a record is of another program, and not of gpugraph as a whole command."""
    return row.algorithm.startswith(PEER) and not row.algorithm.startswith(OUR_COMMANDS)


def has_failed(row: Record) -> bool:
    """Tell whether a record is of another program that gave no right answer, or did not on a graph no larger."""
    return is_other(row) and not row.ok and (row.outcome != "skipped" or row.message.endswith(NO_LARGER))


def _graph(row: Record) -> str:
    """Return the spec of a record's graph with sorted words: one that was never opened has them as they were given."""
    head, *words = row.graph_source.split(",")
    return ",".join([head, *sorted(words)])


def without_answer(rows: Iterable[Record]) -> list[Record]:
    """Return the records of programs that failed on a graph and, in no setting, gave a right answer on it."""
    known = [(row, (row.problem, _graph(row), program(row))) for row in rows if is_other(row)]
    right = {key for row, key in known if row.ok}
    return [row for row, key in known if has_failed(row) and key not in right]


def lacks_launch(row: Record) -> bool:
    """Tell whether a time of ours on a GPU is known without its launch alone, which other programs' times contain."""
    return row.device_kind == "cuda" and row.ok and not is_foreign(row.algorithm) and not row.shape.call.samples_s


def marks(rows: Iterable[Record], *, one_run: bool = True) -> str:
    """Return the marks that follow a row: † of changed code; ‡ of several runs, and § of two clocks, if compared."""
    known = list(rows)
    clocks = one_run and any(map(is_other, known)) and any(map(lacks_launch, known))
    apart = " ‡" if one_run and of_several_runs(known) else ""
    return (STALE if any(map(version, known)) else "") + apart + (" §" if clocks else "")


def note(rows: Iterable[Record]) -> str:
    """Return a line that names the algorithms of ours which have changed since they were measured; none, nothing."""
    text = explanation(rows, version, "`")
    return f"\n\n*{text}*" if text else ""


def lead(
    rows: Sequence[Record], ours: Mapping[str, str], graphs: str = "*", known: Sequence[Record] = ()
) -> dict[str, Any]:
    """Compare algorithms of ours, by problem, with the fastest verified other program on each graph.

    Args:
        rows: the records that are compared, by ``call_s``.
        ours: of each problem our algorithm.
        graphs: a pattern that the source of a graph must match.
        known: all records there are, which tell the programs that exist.

    Returns:
        ``mean`` (geometric), ``least`` and ``most`` of the time of the fastest other program over ours, the ``count``
        of graphs, ``without`` the mean of those on which no program failed (None if none did) and their number
        ``sound``, whether a ratio is ``apart``, of several runs, on how many graphs one time is a ``single`` sample,
        the ``worst`` graph, the ``peers`` that were fastest somewhere, ``missing`` programs that were run on such a
        device but not here, or not on all of these graphs, the ``commits`` of our times, and the ``marks`` † and ‡.  A
        ratio that is apart, or of single samples, is no headline.  Only verified times of the same graph, by its
        digest, on the same kind of device are compared, and none of the emulated device.

    Raises:
        InputError: no graph was solved by both.
    """
    cells: dict[tuple[str, str, str | None, str], list[Record]] = {}
    for row in rows:
        if row.problem in ours and fnmatchcase(row.graph_source, graphs) and _counts(row):
            key = row.problem, row.graph_source, row.shape.graph.digest, str(row.asked_source)
            cells.setdefault(key, []).append(row)
    failing = {(row.problem, _graph(row)) for row in without_answer(rows)}
    ratios: dict[str, float] = {}
    failed, apart, used, single = set[str](), False, list[Record](), 0
    peers, compared = set[str](), set[tuple[str, str]]()
    for (problem, graph, _, _), cell in cells.items():
        mine = [row for row in cell if row.algorithm == ours[problem]]
        kinds = {row.device_kind for row in mine}
        others = [row for row in cell if is_other(row) and row.device_kind in kinds]
        if not (mine and others):
            continue
        best, fastest = min(mine, key=_call_s), min(others, key=_call_s)
        compared.add((problem, graph))
        name = f"{graph}, {problem}" if len(ours) > 1 else graph
        ratios[name] = _call_s(fastest) / _call_s(best)
        peers.add(program(fastest))
        used.append(best)
        apart = apart or of_several_runs([best, *others]) or not all(map(_is_traceable, (best, *others)))
        single += has_one_sample(best) or has_one_sample(fastest)
        if (problem, _graph(best)) in failing:
            failed.add(name)
    if not ratios:
        raise InputError(f"no record has a graph that both '{', '.join(ours.values())}' and a peer have solved")
    worst = min(ratios, key=ratios.__getitem__)
    sound = [ratio for name, ratio in ratios.items() if name not in failed]
    like = {(row.problem, row.device) for row in used}
    exist = {(row.problem, program(row)) for row in known if is_other(row) and (row.problem, row.device) in like}
    return {
        "mean": geometric_mean(ratios.values()), "least": ratios[worst], "most": max(ratios.values()),
        "count": len(ratios), "without": geometric_mean(sound) if sound and failed else None, "sound": len(sound),
        "apart": apart, "single": single, "worst": worst, "peers": sorted(peers),
        "missing": _missing(exist, compared, rows),
        "commits": sorted({str(row.shape.environment.get("git_commit") or "unknown")[:7] for row in used}),
        "marks": marks(used, one_run=False) + (" ‡" if apart else "") + (" §" if any(map(lacks_launch, used)) else ""),
    }  # fmt: skip


def _counts(row: Record) -> bool:
    """Tell whether a record has a verified time of a real device."""
    return row.ok and row.status == "passed" and row.kernel_s is not None and row.device_kind != "emulated"


def _is_traceable(row: Record) -> bool:
    """Tell whether a record is known to be of a commit without changes."""
    return row.shape.provenance.clean is True and bool(row.shape.environment.get("git_commit"))


def _missing(exist: set[tuple[str, str]], compared: set[tuple[str, str]], rows: Iterable[Record]) -> list[str]:
    """Return the programs, each known with a problem, that were not run on all graphs which are compared."""
    run = {(row.problem, program(row), row.graph_source) for row in rows if is_other(row) and row.outcome != "skipped"}
    here: dict[str, list[bool]] = {}
    for problem, name in exist:
        here.setdefault(name, []).extend((of, name, graph) in run for of, graph in compared if of == problem)
    return [
        name + (f" on {ran.count(False)} of {len(ran)}" if any(ran) else "")
        for name, ran in sorted(here.items())
        if not all(ran)
    ]


def ratio(found: Mapping[str, Any]) -> str:
    """Return a ``lead`` as text: the mean, in bold where it is a headline, its range, and the mean without failures."""
    mean = f"{found['mean']:.2g}{' ‡' if found['apart'] else ''}"
    mean = mean if found["apart"] or found["single"] else f"**{mean}**"
    ends = f" ({found['least']:.2f} to {found['most']:.2f})" if found["count"] > 1 else ""
    sound = f"; {found['without']:.2g} on the {found['sound']} without a failure" if found["without"] else ""
    sound = sound or ("" if found["sound"] else "; a program failed on each graph")
    return mean + ends + sound + (f"; one sample on {found['single']}" if found["single"] else "")


def _call_s(row: Record) -> float:
    return row.call_s or inf


def failures(rows: Iterable[Record]) -> list[list[str]]:
    """Return other programs that failed: program, problem, kind of failure, number of graphs, and which these are.

    A program has settings, and fails if none of them is right.  Of graphs that it refused, the last are its reasons.
    """
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in without_answer(rows):
        graph = row.graph_source
        name = graph.rpartition("/")[2].partition(".")[0] if "/" in graph else graph
        reason = row.message.removeprefix(f"{row.algorithm}: ").partition(" — ")[0]
        key = (program(row), row.problem, FAILURES.get(row.outcome, row.outcome))
        found.setdefault(key, {})[name] = reason if row.outcome == "refused" else f"`{name}`"
    return [
        [*key, str(len(of)), ("; " if key[2] == "refused" else ", ").join(sorted(set(of.values())))]
        for key, of in sorted(found.items())
    ]
