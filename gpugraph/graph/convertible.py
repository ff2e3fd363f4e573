"""What graphs and answers about them offer to other libraries, by an extension that is imported when it is used."""

import importlib
from typing import Any

from gpugraph.base.shown import Shown


def _conversions() -> Any:
    return importlib.import_module("gpugraph.ext.python.conversions")


class Convertible(Shown):
    """A graph or an answer that other libraries take; each method raises InputError where its library is missing."""

    def to_scipy(self) -> Any:
        """Return what SciPy has in its place.

        A graph is a ``csr_array`` that shares its arrays, a forest one with each edge once, distances are an array of
        float64, infinite where not reached, and components their number and (n,) labels from 0 on.
        """
        return _conversions().to_scipy(self)

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``, a row for each edge or vertex, with the columns of the ``.csv`` that holds it."""
        return _conversions().to_arrow(self)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` of the same columns; a distance that is not there is missing or infinite."""
        return _conversions().to_pandas(self)

    def to_networkx(self) -> Any:
        """Return a graph of NetworkX; see ``gpugraph.to_networkx``."""
        return _conversions().to_networkx(self)
