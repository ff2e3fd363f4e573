"""Errors in terms of Python: the arguments of a function in the place of options of the command line."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from gpugraph.base.errors import GpuGraphError

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FLAGS = {"directed": "directed=True", "undirected": "directed=False"}
_FLAGS |= {name: f"{name.replace('-', '_')}=True" for name in ("symmetrize", "keep-ids", "renumber")}
_NAMES = {"reweight": "weights"}
_OPTION = re.compile(
    rf"--(?:({'|'.join(_FLAGS)})\b|(algo|columns|device|input-format|output-format|reweight|seed|source|vertices|weight)\b"
    r"(?: (?!(?:and|are|as|for|in|is|or|out|says|takes|to)\b)([\w.:,*]*[\w*]))?)"
)


def _as_argument(option: re.Match[str]) -> str:
    """Return what an option of the command line is called in Python."""
    flag, name, value = option.groups()
    if flag:
        return _FLAGS[flag]
    return _NAMES.get(name, name.replace("-", "_")) + (f"={value!r}" if value else "")


def in_python_terms(function: _Function) -> _Function:
    """Let the errors of a function name its arguments where they would name options of the command line."""

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except GpuGraphError as error:
            error.what = _OPTION.sub(_as_argument, error.what)
            error.remedy = error.remedy and _OPTION.sub(_as_argument, error.remedy)
            error.args = (str(error),)
            raise

    return cast(_Function, called)
