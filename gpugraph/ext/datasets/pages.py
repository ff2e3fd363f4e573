"""The list of data sets, and all that is known of some of them, for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpugraph.base.quantities import in_units
from gpugraph.report.terminal import Line, columns, field, indented


def dataset_list(
    datasets: Sequence[Mapping[str, Any]], *, width: int = 80, table_width: int | None = None
) -> list[Line]:
    """Return the lines of a list of data sets, each as ``describe`` of ``ext/datasets/store.py`` gives it."""
    lines: list[Line] = []
    header = ("name", "vertices", "lines", "file", "cached", "checked by")
    for collection in dict.fromkeys(dataset["collection"] for dataset in datasets):
        own = [dataset for dataset in datasets if dataset["collection"] == collection]
        lines += [[("", "")]] if lines else []
        title = indented(own[0]["title"], len(collection) + 2, width=width)
        lines += [[(collection, "bold underline"), ("  ", ""), *title[0][1:]], *title[1:]]
        lines += indented(f"licence: {own[0]['licence'] or 'none stated'}", 2, width=width, style="dim")
        lines += indented(f"cite: {own[0]['citation']}", 2, width=width, style="dim") if own[0]["citation"] else []
        rows = [
            (
                dataset["name"],
                _counted(dataset["vertices"]),
                _counted(dataset["lines"]),
                _size_of(dataset),
                in_units(dataset["cached"]["bytes"]) if dataset["cached"]["bytes"] else "",
                dataset["checked_by"],
            )
            for dataset in own
        ]
        lines += columns(header, rows, right=(1, 2, 3, 4), width=table_width)
    return lines or [[("none of these is in the cache", "")]]


def dataset_page(datasets: Sequence[Mapping[str, Any]], *, width: int = 80) -> list[Line]:
    """Return all that is known of data sets, a paragraph each."""
    lines: list[Line] = []
    for dataset in datasets:
        lines += [[("", "")]] if lines else []
        held, pin = dataset["cached"], dataset["cached"]["pin"]
        size = [f"{_counted(dataset['vertices'])} vertices", f"{_counted(dataset['lines'])} lines"]
        kind = {True: "directed", False: "undirected", None: ""}[dataset["directed"]]
        facts = {
            "name": dataset["name"],
            "from": dataset["title"],
            "licence": dataset["licence"],
            "cite": dataset["citation"],
            "size": ", ".join([*(size if dataset["vertices"] else []), kind]).strip(", "),
            "file": _size_of(dataset),
            "asked for": " ".join(dataset["urls"]),
            "checked by": dataset["checked_by"],
            "SHA-256": dataset["sha256"] or pin.get("sha256") or "",
            "digest": dataset["digest"] or pin.get("digests", {}).get("") or "",
            "cached": f"{in_units(held['bytes'])} in {held['folder']}" if held["bytes"] else "no",
        }
        for label, text in facts.items():
            lines += field(label, text, width=width, style="bold cyan" if label == "name" else "") if text else []
    return lines


def _counted(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _size_of(dataset: Mapping[str, Any]) -> str:
    if dataset["bytes"] is None:
        return ""
    return ("~" if dataset["rounded"] else "") + in_units(dataset["bytes"])
