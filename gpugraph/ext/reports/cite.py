"""``gpugraph cite`` and ``explain``: the papers behind records, and how an algorithm works."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpugraph import __version__
from gpugraph.base.errors import unknown_name
from gpugraph.base.files import resource_dir
from gpugraph.cli.options import command
from gpugraph.cli.output import show, show_lines, tell
from gpugraph.problems.foreign import PEER
from gpugraph.report.terminal import Line, field, page_width

if TYPE_CHECKING:
    from gpugraph.problems.algorithm import Algorithm
    from gpugraph.records.record import Record


@command
@click.argument("results", nargs=-1, required=True, metavar="RESULTS...")
def cite(results: tuple[str, ...], quiet: bool) -> None:
    """Print BibTeX of everything in files of records: algorithms, programs and data sets.

    Example:
      gpugraph cite results.jsonl > used.bib
    """
    from gpugraph.records.record_file import read_records

    rows, notices = read_records(results)
    tell(notices, quiet=quiet)
    by_key = {entry.partition(",")[0]: entry for row in rows for entry in _entries(row)}  # a key twice is an error
    show("\n".join(by_key.values()))


def _entries(row: Record) -> Iterator[str]:
    """Yield the entries of a record; of a program whose authors are unknown its command."""
    ours = f"author = {{The gpugraph founders}}, title = {{gpugraph}}, note = {{Version {__version__}}}"
    yield f"@misc{{gpugraph, {ours}}}"
    source = row.shape.algorithm_source
    found = papers(str(source.get("authors") or ""))
    program = row.algorithm.removeprefix(PEER) if row.algorithm.startswith(PEER) else ""
    yield from found or [entry for begins, key in PROGRAMS.items() if program.startswith(begins) for entry in _of(key)]
    if not found and row.algorithm:
        note = ", ".join(_plain(source[name]) for name in ("authors", "year", "section") if source.get(name))
        key = re.sub(r"\W+", "-", row.algorithm)
        if not re.fullmatch(r"(peer:)?[a-z\d_-]+", row.algorithm):  # names that differ in signs or case need two keys
            key += f"-{hashlib.sha256(row.algorithm.encode()).hexdigest()[:6]}"
        yield f"@misc{{{key}, title = {{{_plain(row.algorithm.removeprefix('peer:'))}}}, note = {{{note}}}}}"
    yield from _of_data_set(row.graph_source)


def _of(key: str) -> list[str]:
    return [entry for entry in _papers() if f"{{{key}," in entry]


def _of_data_set(source: str) -> Iterator[str]:
    """Yield the entry of the collection of a data set, which is that of all its graphs."""
    from gpugraph.ext.datasets.registry import registry

    prefix = source.partition(":")[0]
    if (collection := registry().get(prefix)) is not None:
        title, note = (_plain(collection.table.get(name, "")) for name in ("title", "citation"))
        yield f"@misc{{{prefix}, title = {{{title}}}, note = {{{note}}}}}"


PROGRAMS = {
    "adds": "wang2021", "afforest": "sutton2018", "ecl-cc": "jaiganesh2018", "ecl-mst": "fallin2023",
    "gapbs": "beamer2015", "gunrock": "wang2016", "pasgal": "dong2021", "pbbs": "anderson2022",
}  # fmt: skip
"""Beginning of the name of an external program → the paper on it."""


@cache
def _papers() -> list[str]:
    return Path(__file__).with_name("papers.bib").read_text("utf-8").splitlines()


def papers(authors: str) -> list[str]:
    """Return the entries of ``papers.bib`` of the authors of an algorithm, groups of names divided by semicolons."""
    found = []
    for group in authors.replace("after ", "").replace(" et al.", "").split(";"):
        surnames = [name.split()[-1] for name in group.split(",") if name.strip()]
        for entry in _papers():
            known = [name.split()[-1] for name in _field(entry, "author").split(" and ")]
            if surnames and surnames[0] == known[0] and {*surnames} <= {*known}:
                found.append(entry)
    return found


def _field(entry: str, name: str) -> str:
    match = re.search(rf"\b{name} = {{(.*?)}}(?:, \w+ = |}}$)", entry)
    return match[1] if match else ""


def _plain(text: object) -> str:
    """Return a text that BibTeX takes."""
    plain = re.sub(r"([&%$#_])", r"\\\1", " ".join(re.sub(r"[{}\\]", "", str(text)).split()))
    return plain.replace("^", r"\textasciicircum{}").replace("~", r"\textasciitilde{}")


# ------------------------------------------------------------------ one algorithm


@command
@click.argument("name", metavar="ALGORITHM")
def explain(name: str, quiet: bool) -> None:
    """Explain an algorithm: the idea, its phases, where its source is, and its papers.

    Also a counter of the emulated device, such as sectors or atomics (--counters).

    Example:
      gpugraph explain boruvka
    """
    from gpugraph.ext.counters.table import WORDS
    from gpugraph.problems.registry import algorithms

    if name in WORDS:
        show_lines(field(name, WORDS[name], width=page_width()))
        return

    listed = algorithms()
    found = [one for one in listed if one.name == name]
    if not found:
        raise unknown_name("algorithm", name, sorted({one.name for one in listed} | WORDS.keys()))
    lines: list[Line] = []
    base = f"{Path(__file__).parents[3]}/"  # shown apart: a path that breaks at the end of a line cannot be copied
    for one in found:
        lines += [[]] if lines else []
        lines.append([(f"{one.problem} --algo {one.name}", "bold"), (f"  on {', '.join(one.devices)}", "dim")])
        for title, text in explanation(one).items():
            text = f"{text.replace(base, '')}, in {base}" if title == "source" and base in text else text
            lines += field(title, text, width=page_width())
    show_lines(lines)


_DRIVER = r"\.(cpu|gpu)_|distributed|frontier_|streamed_edges"
"""Modules that drive an algorithm, and mark its phases, by their names."""


def explanation(algorithm: Algorithm) -> Mapping[str, str]:
    """Return the parts of an explanation: title → text; those that are unknown are left out."""
    from gpugraph.devices.kernel_file import KernelFile
    from gpugraph.measure.provenance import modules_of

    own = sorted(modules_of(algorithm.run) | modules_of(algorithm.prepare))
    drivers = [sys.modules[name] for name in own if re.search(_DRIVER, name)]
    sources = [Path(module.__file__) for module in drivers if module.__file__]
    files = [one for module in drivers for one in vars(module).values() if isinstance(one, KernelFile)]
    kernels = [resource_dir("cuda_kernels") / name for name in dict.fromkeys(file.name for file in files)]
    texts = [
        *(inspect.getdoc(module) or "" for module in drivers),
        *(_first_comment(path) for path in kernels if path.is_file()),
    ]
    code = "".join(path.read_text("utf-8") for path in sources)
    marked = re.findall(r'\b(?:phase\(|add_beside\(\w+, )"(\w+)"', code)
    marked += re.findall(r'"(\w+)"', " ".join(re.findall(r"\badd_phases\(\w+, \(([^)]*)\)", code)))
    listed = [name for module in drivers for name in vars(module).get("_PHASES", ())]
    timed = [name for file in files if "FILE.phases" in code for name in file.phases if name != "end"]
    steps = list(dict.fromkeys([*marked, *listed, *timed]))
    read = [[_field(entry, name) for name in ("author", "year", "title")] for entry in papers(algorithm.authors)]
    of = [f"{authors}, {year}: {title}" for authors, year, title in read]
    parts = {
        "in short": algorithm.summary,
        "how": " ".join(_first_paragraph(text) for text in texts if text),
        "phases": ", ".join(steps),
        "source": ", ".join(map(str, [*sources, *kernels])),
        "papers": re.sub(r"[{}$\\]", "", "; ".join(of)) or f"{algorithm.authors}, {algorithm.year}",
        "see": f"{algorithm.section}",
    }
    return {title: text for title, text in parts.items() if text}


def _first_paragraph(text: str) -> str:
    """Return it on one line, without a last sentence that leads to the list after it."""
    return re.sub(r"(?<=\.) [^.]*:$", "", " ".join(text.split("\n\n")[0].split()))


def _first_comment(path: Path) -> str:
    found = re.match(r"/\*(.*?)\*/", path.read_text("utf-8"), re.S)
    return found[1].strip() if found else ""
