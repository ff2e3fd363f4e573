"""Errors in terms of Python: the arguments of a function in the place of options of the command line."""

import inspect
import re
from collections.abc import Callable, Container
from functools import wraps
from typing import Any, TypeVar, cast

from gpugraph.base.errors import GpuGraphError, installable_here

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FLAGS = {"directed": "directed=True", "undirected": "directed=False"}
_FLAGS |= {name: f"{name.replace('-', '_')}=True" for name in ("symmetrize", "keep-ids", "predecessors", "renumber")}
_NAMES = {"reweight": "weights"}
_OF_LOAD = ("columns", "directed", "input_format", "keep_ids", "seed", "symmetrize", "vertices", "weight", "weights")
_OPTION = re.compile(
    rf"(?<!gpugraph mst )--(?:({'|'.join(_FLAGS)})\b"
    r"|(algo|columns|device|input-format|output-format|repeat|reweight|save|seed|sources?|sums|verify|vertices|weight)\b"
    r"(?: (?!(?:and|are|as|first|for|in|is|leaves|or|out|says|takes|to|writes)\b)([\w.:,*@/-]*[\w*]))?)"
)
_OF_COMMANDS = re.compile(
    r"; --(?:save writes records.*|format json prints records|debug shows the trace)|--set (?=\w)"
)
"""What has no meaning in Python: options of files of records and of errors, and the one before an algorithm's own."""


def _as_argument(option: re.Match[str], own: Container[str]) -> str:
    """Return what an option of the command line is called in Python, for a function with its ``own`` arguments."""
    flag, name, value = option.groups()
    text = _FLAGS[flag] if flag else _NAMES.get(name, name.replace("-", "_")) + (f"={value!r}" if value else "")
    argument, is_set, _ = text.partition("=")
    if argument in own or argument not in _OF_LOAD:
        return text
    return f"gpugraph.load(…, {text if is_set else f'{text}=…'})"


def in_python_terms(function: _Function) -> _Function:
    """Let the errors of a function name its arguments where they would name options of the command line."""
    own = inspect.signature(function).parameters

    def in_terms(text: str) -> str:
        text = _OF_COMMANDS.sub("", text).replace("--segments LENGTH", "heads=…")
        text = _OPTION.sub(lambda found: _as_argument(found, own), text).replace("that -o wrote", "that save wrote")
        return installable_here(text)

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except GpuGraphError as error:
            error.what = in_terms(error.what)
            error.where = error.where and in_terms(error.where)
            error.remedy = error.remedy and in_terms(error.remedy)
            error.args = (str(error),)
            raise

    return cast(_Function, called)
