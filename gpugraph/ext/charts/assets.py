"""Files of ``report/html``, and Jinja templates among them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def asset(name: str) -> str:
    """Return the text of a file."""
    return resources.files(__package__).joinpath("html", name).read_text("utf-8")


@cache
def template(name: str) -> Template:
    """Return a file as a template, which escapes all that is put into it.

    Filters of its own: ``capitalize_first``, and ``f`` for a number with one digit behind the point.
    """
    from jinja2 import Environment, StrictUndefined

    known = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    known.filters |= {"capitalize_first": lambda text: text[:1].upper() + text[1:], "f": "{:.1f}".format}
    return known.from_string(asset(name))
