"""From the file of a sweep to the sweep, every key checked; docs/bench.md describes the file.

Nothing here opens a graph or a device.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpugraph.bench.blocks import read_blocks, table_of
from gpugraph.bench.document import Document
from gpugraph.bench.paper import SIZES, VALUES
from gpugraph.bench.settings import apply_settings, sampling_settings
from gpugraph.bench.sweep import Sweep
from gpugraph.errors import InputError, unknown_name
from gpugraph.quantities import parse_seconds
from gpugraph.resources import resource_dir

TOP = ("title", "about", "budget", "axes", "options", "cases", "skip", "limits", "sampling", "block", "paper", "peer")
PAPER = ("title", "authors", "year", "hardware", "note", "point", "claim")


def shipped() -> list[str]:
    """Return the names of the sweeps that come with gpugraph, ``papers/…`` last."""
    home = resource_dir("configs")
    names = [p.relative_to(home).with_suffix("").as_posix() for p in sorted(home.rglob("*.toml"))]
    return sorted((name for name in names if name != "default"), key=lambda name: ("/" in name, name))


def find_sweep(name: str) -> Path:
    """Return the file of a sweep: a path that exists or ends in .toml, or the name of one that is shipped.

    Raises:
        InputError: there is none; the nearest is suggested.
    """
    if name.endswith(".toml") or os.path.isfile(name):
        return Path(name)
    if name not in shipped():
        raise unknown_name("sweep", name, shipped())
    return resource_dir("configs") / f"{name}.toml"


def read_sweep(
    name: str,
    settings: Mapping[str, list[Any]] | None = None,
    budget: float | None = None,
    default_budget: float = math.inf,
) -> Sweep:
    """Return the sweep called ``name``.

    Args:
        name: of a shipped sweep, or a path.
        settings: ``--set``: values by axis, ``limits.KEY``, ``sampling.KEY`` or ``ALGORITHM.OPTION``.
        budget: seconds for each device, instead of the file's.
        default_budget: likewise, where the file says nothing.

    Raises:
        InputError: anything in it that makes no sense; the message names file, line and key.
    """
    path = find_sweep(name)
    document = Document(path if name.endswith(".toml") else _shown(path))
    tables = document.tables
    document.check_keys(tables, TOP)
    apply_settings(tables, settings or {}, document.path)
    for key in ("title", "about"):
        if not isinstance(tables.get(key, ""), str):
            raise InputError("is no text", where=document.where(key))
    with document.at("budget"):
        seconds = budget or (parse_seconds(tables["budget"]) if "budget" in tables else default_budget)
    return Sweep(
        name=name,
        title=tables.get("title", name),
        path=document.path,
        blocks=read_blocks(document),
        budget_s=seconds,
        sampling=_sampling(document),
        peers=_tables(document, "peer"),
        paper=_paper(document),
        document=document,
        settings=settings or {},
    )


def _shown(path: Path) -> Path:
    """Return a path as short as it can be shown."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path


def _tables(document: Document, key: str) -> dict[str, Mapping[str, Any]]:
    """Return the tables ``[key.NAME]``."""
    found = table_of(document, document.tables, key)
    for name, value in found.items():
        if not isinstance(value, dict):
            raise InputError("is no table", where=document.where(key, name), remedy=f"write [{key}.{name}]")
    return dict(found)


def _sampling(document: Document) -> dict[str, Any]:
    table = table_of(document, document.tables, "sampling")
    with document.at("sampling"):
        return sampling_settings(table)


def _paper(document: Document) -> Mapping[str, Any] | None:
    if "paper" not in document.tables:
        return None
    paper = table_of(document, document.tables, "paper")
    document.check_keys(paper, PAPER, "paper")
    points = paper.get("point", [])
    if not isinstance(points, list) or not all(isinstance(point, dict) for point in points):
        raise InputError("is no list of tables", where=document.where("paper", "point"), remedy="write [[paper.point]]")
    for turn, point in enumerate(points):
        if not any(key in point for key in VALUES):
            remedy = f"give {', '.join(VALUES[:-1])} or {VALUES[-1]}"
            where = document.where("paper", "point")
            raise InputError(f"number {turn + 1} states no value", where=where, remedy=remedy)
        for key in (*VALUES, *SIZES):
            value = point.get(key, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                where = document.where("paper", "point", key, turn=turn)
                raise InputError(f"{value!r} is no number above 0", where=where)
    claims = paper.get("claim", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise InputError("is no list of texts", where=document.where("paper", "claim"), remedy='write claim = ["…"]')
    for key in ("title", "hardware"):
        if not isinstance(paper.get(key), str):
            raise InputError(f"lacks '{key}'", where=document.where("paper"), remedy="name paper and hardware")
    return paper
