"""Provenance of a record: the commit of gpugraph, and a digest of the sources of the algorithm that ran.

The digest tells whether a stored time is still that of today's code: it covers the driver, what it imports of
``gpugraph.problems`` and ``gpugraph.compiled``, and its kernel files with all that they include; comments, docstrings
and layout do not enter.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from gpugraph import code_cache
from gpugraph.devices.kernel_file import KernelFile, load_source
from gpugraph.errors import InputError
from gpugraph.problems.algorithm import Algorithm

_PACKAGES = ("gpugraph.problems.", "gpugraph.compiled")
_FRAMEWORK = {"gpugraph.problems.algorithm", "gpugraph.problems.contract", "gpugraph.problems.registry"}
"""Modules that define what an algorithm is; they are part of none."""


def provenance(algorithm: Algorithm) -> dict[str, Any]:
    """Return the ``provenance`` object of a record: ``commit``, ``clean`` and ``sources_sha256``.

    ``commit`` and ``clean`` are None outside a source checkout, ``sources_sha256`` for a peer, whose code is its own.
    """
    commit = git_commit()
    known = {"commit": commit and commit.rstrip("+"), "clean": None if commit is None else not commit.endswith("+")}
    return {**known, "sources_sha256": None if algorithm.name.startswith("peer:") else sources_digest(algorithm)}


def sources_digest(algorithm: Algorithm) -> str | None:
    """Return the SHA-256 of the sources of an algorithm, None where they cannot be read."""
    names: set[str] = set()
    for step in (algorithm.prepare, algorithm.run, algorithm.fetch, algorithm.finish, algorithm.compile):
        names |= _modules_of(step)
    return _digest(frozenset(names - _FRAMEWORK))


def _modules_of(step: Any) -> set[str]:
    """Return the modules of a function, and of the functions that it wraps."""
    if isinstance(step, functools.partial):
        inside = [step.func, *step.args, *step.keywords.values()]
    else:
        inside = [cell.cell_contents for cell in getattr(step, "__closure__", None) or ()]
    own = {step.__module__} if isinstance(getattr(step, "__module__", None), str) else set()
    return own.union(*(_modules_of(one) for one in inside if callable(one)))


@functools.cache
def _digest(roots: frozenset[str]) -> str | None:
    parts: dict[str, str] = {}
    waiting = sorted(roots)
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        if name in parts or name in _FRAMEWORK or (file is None and name not in roots):
            continue
        try:
            source = Path(file or "").read_bytes()
            parts |= {one.name: load_source(one.name).code for one in _kernel_files(name)}
            parts[name], imported = _read(source)
        except (OSError, SyntaxError, ValueError, InputError):
            return None
        waiting += [one for one in imported if one in sys.modules]
    text = "\0".join(f"{name}\0{' '.join(part.split())}" for name, part in sorted(parts.items()))
    return hashlib.sha256(text.encode()).hexdigest() if parts else None


def _read(source: bytes) -> tuple[str, list[str]]:
    """Return a digest of what a module says, and the modules of algorithms that it imports; kept between processes."""
    name = f"{hashlib.sha256(source).hexdigest()}-{sys.version_info[0]}.{sys.version_info[1]}.json"
    kept = code_cache.find("sources", name)
    if kept is not None:
        digest, imported = json.loads(kept.content)
        return digest, imported
    tree = ast.parse(source)
    imported = _imported(tree)
    digest = hashlib.sha256(ast.dump(_without_docstrings(tree)).encode()).hexdigest()
    code_cache.keep_if_possible("sources", name, json.dumps([digest, imported]).encode())
    return digest, imported


def _kernel_files(module: str) -> list[KernelFile]:
    return [value for value in vars(sys.modules[module]).values() if isinstance(value, KernelFile)]


def _imported(tree: ast.AST) -> list[str]:
    """Return the modules of algorithms that a module imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found if f"{name}.".startswith(_PACKAGES)]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [one for one in body if not _is_text(one)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@functools.cache
def git_commit() -> str | None:
    """Return the commit of a source checkout, with ``+`` where files were changed; None elsewhere."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        # Nothing is written, so that no signal tears it.
        git = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain=v2", "--branch"]
        done = subprocess.run(git, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    facts = [line.split() for line in done.stdout.splitlines()]
    commit = next((words[2] for words in facts if words[:2] == ["#", "branch.oid"]), "(initial)")
    changed = any(words[0] != "#" for words in facts)
    return None if commit == "(initial)" else commit[:12] + ("+" if changed else "")
