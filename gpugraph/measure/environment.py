"""The environment of a record: what a reader needs to judge or repeat a measurement."""

import os
import platform
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from gpugraph import __version__
from gpugraph.base.host import processor_name, total_memory, usable_cores
from gpugraph.base.plugged import USED

_PACKAGES = (
    *("numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x", "nvidia-cuda-nvrtc"),
    *("networkx", "igraph", "python-igraph", "networkit", "rustworkx", "logtwothirds", "cugraph-cu12", "cugraph-cu13"),
    *("pylibcugraph-cu12", "pylibcugraph-cu13", "pylibcugraph"),
)
"""Packages whose version a reader may need: what gpugraph computes with, and what it is compared with."""


def _versions() -> dict[str, str]:
    """Return the versions of ``_PACKAGES`` that are installed, by the names of their folders of metadata.

    Reading the metadata itself would take longer than many a graph is searched.
    """
    wanted = {package.replace("-", "_"): package for package in _PACKAGES}
    found: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            package, _, version = name.removesuffix(".dist-info").removesuffix(".egg-info").partition("-")
            package = wanted.get(package.lower(), "")
            if package and version and name.endswith((".dist-info", ".egg-info")):
                found.setdefault(package, version)
    return {package: found[package] for package in _PACKAGES if package in found}


@cache
def _static() -> dict[str, Any]:
    return {
        "gpugraph": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "node": platform.node(),
        "processor": processor_name(),
        "cores": usable_cores(),
        "memory_bytes": total_memory(),
        "packages": _versions(),
        "git_commit": git_commit(),
    }


def environment() -> dict[str, object]:
    """Return the ``environment`` object of a record."""
    found = _static()
    return {**found, "packages": {**found["packages"], **USED}, "command": command_line()}


def command_line() -> list[str]:
    """Return the words that started this process, as its user would type them."""
    words = list(sys.argv)
    if words and os.path.basename(words[0]) == "__main__.py":
        package = os.path.basename(os.path.dirname(words[0]))
        return ["python", "-m", package, *words[1:]]
    return words


@cache
def git_commit() -> str | None:
    """Return the commit of a source checkout, or that which the build wrote into a package (``hatch_build.py``).

    It ends in ``+`` where files were changed; None if no commit is known.
    A new file counts, but for records: the first file that a sweep saves does not make the next one's tree unclean.
    Asked once in a process: a measurement does not wait for it again.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return text.read_text("utf-8").strip() if (text := root / "gpugraph" / "commit.txt").exists() else None
    try:
        # Nothing is written, so that no signal tears it.  Named, it may be another user's, and GIT_DIR has no say.
        git = ["git", "--no-optional-locks", "-C", str(root), "--git-dir=.git", "--work-tree=."]
        words = [*git, "status", "--porcelain=v2", "--branch"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid")), "(initial)")
    changed = any(re.match(r'#|\? .*\.jsonl"?$', line) is None for line in lines)
    return None if commit == "(initial)" else commit[:12] + ("+" if changed else "")
