"""Sources as the functions of Python take them."""

import numpy as np

from gpugraph.base.errors import InputError, shown
from gpugraph.ext.formats.named_sources import by_node
from gpugraph.graph.csr import CSRGraph
from gpugraph.problems import SourceList
from gpugraph.problems.sources import ALL, SOURCE_FILES


class Vertices(SourceList):
    """Sources by their numbers: a node may be called ``"index:17"``, too."""

    __slots__ = ()


def source_list(sources: object) -> SourceList | str:
    """Return a list or an array of sources, ``"all"`` or ``"random:K"`` as a source; raise InputError for others."""
    if isinstance(sources, str):
        return sources
    if isinstance(sources, np.ndarray) and sources.ndim == 1:
        sources = sources.tolist()
    if not isinstance(sources, list | tuple | range) or not len(sources):
        what = f"sources is {shown(sources)}"
        raise InputError(what, remedy="give a list or an array of them, 'random:K' or 'all'")
    refuse_missing(*sources)
    return SourceList(sources)


def refuse_missing(*sources: object) -> None:
    """Raise InputError where one of several sources, or the end of a path, is not said: None, or masked."""
    if any(source is None or source is np.ma.masked for source in sources):
        raise InputError("a vertex is missing: None", remedy="name each vertex")


def one_of(source: object, sources: object) -> None:
    """Refuse one source and several at once."""
    if source is not None and sources is not None:
        raise InputError("both source and sources are given", remedy="give one of them")
    if isinstance(source, list) or (isinstance(source, np.ndarray) and source.ndim):
        raise InputError(f"source is {shown(source)}", remedy="give several as sources=…")


def is_several(graph: CSRGraph, source: object) -> bool:
    """Tell whether a source is a text that may mean several vertices, and no node that is called so."""
    if not isinstance(source, str) or by_node(graph, source) is not None:
        return False
    kind, colon, _ = source.strip().partition(":")
    if colon and kind.rstrip() in ("name", "index"):
        return False
    return kind.rstrip() in (("random", "wide") if colon else (ALL,)) or source.lower().rstrip().endswith(SOURCE_FILES)
