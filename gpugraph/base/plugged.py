"""What installed packages plug in: entry points of the groups ``gpugraph.algorithms``, ``.peers``, ``.formats``, …."""

import glob
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from gpugraph.base.errors import InputError, in_one_line

USED: dict[str, str] = {}
"""Distribution → version, of what has been plugged into this process; records name it."""


@cache
def offered(group: str) -> frozenset[str]:
    """Return the names that installed packages offer in a group, read from their metadata; nothing is imported.

    The command line asks at every start; importing ``importlib.metadata`` would take longer than all the files.
    """
    names: set[str] = set()
    for folder in sys.path:
        for path in glob.iglob(os.path.join(glob.escape(folder), "*-info", "entry_points.txt")):
            with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                section = file.read().partition(f"[gpugraph.{group}]")[2].partition("\n[")[0]
                names.update(line.partition("=")[0].strip() for line in section.splitlines() if "=" in line)
    return frozenset(names)


def plugged(group: str, name: str, kind: type) -> Any:
    """Return the object, of a kind, that a package offers by a name.  Raises InputError if it cannot be loaded."""
    from importlib.metadata import entry_points

    (entry, *_) = entry_points(group=f"gpugraph.{group}", name=name)
    note_use(entry)
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:
        found, why = None, in_one_line(error)
    else:
        why = f"it is a {type(found).__name__}, not a {kind.__name__}"
    if isinstance(found, kind) or (isinstance(found, type) and issubclass(found, kind)):
        return found
    where, remedy = f"entry point {entry.value}", "repair or uninstall the package that declares it"
    raise InputError(f"cannot load it: {why}", where=where, remedy=remedy)


def note_use(entry: Any) -> str:
    """Note the distribution of an entry point, if it has one, for the records; return its name and version."""
    if getattr(entry, "dist", None) is None:
        return str(entry.value)
    USED[entry.dist.name] = entry.dist.version
    return f"{entry.dist.name} {entry.dist.version}"
