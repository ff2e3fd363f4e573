"""The defaults of the command line, from ``configs/default.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpugraph.errors import InputError, unknown_name
from gpugraph.resources import resource_dir

_KEYS: dict[str, dict[str, type]] = {
    "default": {"graph": str},
    "measure": {"repeat": int, "warmup": int, "verify": str},
    "bench": {"budget": str},
}


@dataclass(frozen=True)
class Defaults:
    """What a command does when it is not told.

    Attributes:
        graph: a path or a spec.
        repeat: samples.
        warmup: runs before the first sample.
        verify: the method of verification.
        budget: of a sweep's cells on each device, as ``--budget`` takes it.
        origin: the file that says so.
    """

    graph: str
    repeat: int
    warmup: int
    verify: str
    budget: str
    origin: str


@cache
def defaults() -> Defaults:
    """Return the defaults of the installation."""
    return read_defaults(resource_dir("configs") / "default.toml")


def read_defaults(path: Path) -> Defaults:
    """Return the defaults that a file gives.

    Raises:
        InputError: it cannot be read, or a key is unknown, missing or of the wrong type.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path) from None
    values: dict[str, Any] = {}
    for table, content in tables.items():
        if table not in _KEYS or not isinstance(content, dict):
            raise unknown_name(f"table in {path}", table, _KEYS)
        for key, value in content.items():
            if key not in _KEYS[table]:
                raise unknown_name(f"key in [{table}] of {path}", key, _KEYS[table])
            if type(value) is not _KEYS[table][key]:
                raise InputError(f"{table}.{key} is {value!r}, not of type {_KEYS[table][key].__name__}", where=path)
            values[key] = value
    missing = [f"{table}.{key}" for table, keys in _KEYS.items() for key in keys if key not in values]
    if missing:
        raise InputError(f"lacks {', '.join(missing)}", where=path)
    return Defaults(**values, origin=f"configs/{path.name}")
