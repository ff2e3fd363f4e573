"""How an object shows itself: one short line, and in a notebook what ``ext/python/html.py`` makes of the same facts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Shown:
    """What shows itself by its facts; whoever inherits says which.  Dataclasses need ``repr=False``."""

    def _title(self) -> str:
        """Return what it is, e.g. ``"Forest of rmat:8"``."""
        return type(self).__name__

    def _facts(self) -> list[tuple[str, Any]]:
        """Return what is to be known of it: names and values, integers to be shown with separators."""
        return []

    def _values(self) -> tuple[str, NDArray[Any]] | None:
        """Return numbers whose distribution is worth a picture, with their name; None where there are none."""
        return None

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
