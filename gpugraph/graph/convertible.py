"""How graphs and answers show themselves, and what they offer to other libraries, by extensions imported when used."""

from importlib import import_module
from typing import Any

from numpy.typing import NDArray


class Shown:
    """What shows itself by its facts: in one short line, and in a notebook.  Whoever inherits says which.

    Dataclasses need ``repr=False``.
    """

    def _title(self) -> str:
        """Return what it is, e.g. ``"Forest of rmat:8"``."""
        return type(self).__name__

    def _facts(self) -> list[tuple[str, Any]]:
        """Return what is to be known of it: names and values, integers to be shown with separators."""
        return []

    def _values(self) -> tuple[str, NDArray[Any]] | None:
        """Return numbers whose distribution is worth a picture, with their name; None where there are none."""
        return None

    def __eq__(self, other: object) -> bool:
        """Tell whether an answer says the same of the same graph as another; all else equals itself alone."""
        one: Any = self
        two: Any = other
        if type(one) is not type(two) or not hasattr(one, "fingerprint"):
            return NotImplemented
        return bool(one.fingerprint() == two.fingerprint() and one.graph.digest == two.graph.digest)

    def __hash__(self) -> int:
        return hash(self.fingerprint()) if hasattr(self, "fingerprint") else object.__hash__(self)

    def __repr__(self) -> str:
        facts = ", ".join(f"{name} {fact_text(value)}" for name, value in self._facts())
        return f"<{self._title()}: {facts}>" if facts else f"<{self._title()}>"

    def _repr_html_(self) -> str:
        """Return the same as a notebook shows it."""
        html: str = import_module("gpugraph.ext.python.html").of_facts(self._title(), self._facts(), self._values())
        return html


def fact_text(value: object) -> str:
    """Return a value as text, an integer with separators."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _conversions() -> Any:
    return import_module("gpugraph.ext.python.conversions")


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
