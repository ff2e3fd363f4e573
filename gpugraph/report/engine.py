"""The drawing engine: Vega-Lite through vl-convert, which draws without a browser and carries the page's script."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from gpugraph.errors import InputError
from gpugraph.measure.record_shape import encodable, jsonable

_REMEDY = "pip install 'gpugraph[report]'"


def _engine() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise InputError(f"drawing needs vl-convert, which is not usable ({error})", remedy=_REMEDY) from None
    return vl_convert


def check_engine() -> None:
    """Check that drawing is possible.

    Raises:
        InputError: what it needs is not installed; the message says how to install it.
    """
    _engine()


def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that needs no network and defines ``vegaEmbed``.

    Raises:
        InputError: the library is not installed.
    """
    script: str = _engine().javascript_bundle()
    return script


def vega_license() -> str:
    """Return whose the script is and on which terms it may be handed on, as its license asks.

    The terms are the BSD 3-Clause License, as the distribution that carries the script has them.
    """
    owner = "Vega, Vega-Lite and vega-embed: copyright (c) 2015-2025, University of Washington Interactive Data Lab."
    try:
        files = metadata.files("vl-convert-python") or []
        texts = [file.read_text("utf-8") for file in files if file.name == "LICENSE"]
    except (metadata.PackageNotFoundError, OSError):
        texts = []
    return "\n\n".join([owner + " BSD 3-Clause License.", *texts])


LONGEST = 1000
"""Letters of a text in a figure: the library measures each again and again to make it fit."""


def _drawable(text: str) -> str:
    """Return a text that the library can draw: a control character would abort the process, a huge one hang it."""
    clean = encodable(text)
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1]}…"


def draw(spec: dict[str, Any], ending: str, *, scale: float = 2.0) -> bytes:
    """Return a Vega-Lite figure as ``.svg``, ``.pdf`` or ``.png``.

    Args:
        spec: the figure.
        ending: of the file.
        scale: of the pixels of a ``.png``.

    Raises:
        InputError: the library is not installed, or cannot draw this.
    """
    engine, clean = _engine(), jsonable(spec, _drawable)
    try:
        if ending == ".svg":
            return str(engine.vegalite_to_svg(clean)).encode()
        drawn: bytes = engine.vegalite_to_pdf(clean) if ending == ".pdf" else engine.vegalite_to_png(clean, scale=scale)
    except ValueError as error:
        raise InputError(f"the figure cannot be drawn: {error}", remedy="write it as .json and look at it") from error
    return drawn
