"""Provenance of a record: the commit of gpugraph, and a digest of the sources of the algorithm that ran.

The digest tells whether a stored time is still that of today's code: it covers the driver, what it imports of the
problems, of extensions and of ``gpugraph.base.compiled``, and its kernel files with all that they include.  Comments,
docstrings, layout, imports and the names of modules do not enter: code that moves is the same code.
"""

import ast
import contextlib
import functools
import hashlib
import importlib
import json
import os
import sys
from pathlib import Path

from gpugraph.base import code_cache
from gpugraph.base.errors import InputError
from gpugraph.base.files import file_state
from gpugraph.measure.environment import git_commit
from gpugraph.problems.algorithm import Algorithm

_PACKAGES = ("gpugraph.problems.", "gpugraph.ext.", "gpugraph.base.compiled")
_FRAMEWORK = {"gpugraph.problems.algorithm", "gpugraph.problems.contract", "gpugraph.problems.registry"}
"""Modules that define what an algorithm is; they are part of none."""


def provenance(algorithm: Algorithm) -> dict[str, object]:
    """Return the ``provenance`` object of a record: ``commit``, ``clean`` and ``sources_sha256``.

    ``commit`` and ``clean`` are None where no commit is known, ``sources_sha256`` for a peer, whose code is its own.
    """
    commit = git_commit()
    known: dict[str, object] = {
        "commit": commit and commit.rstrip("+"),
        "clean": None if commit is None else not commit.endswith("+"),
    }
    known["sources_sha256"] = None if algorithm.name.startswith("peer:") else sources_digest(algorithm)
    return known if algorithm.programs is None else {**known, "programs": algorithm.programs()}


def sources_digest(algorithm: Algorithm) -> str | None:
    """Return the SHA-256 of the sources of an algorithm, None where they cannot be read."""
    names: set[str] = set()
    for step in (algorithm.prepare, algorithm.run, algorithm.fetch, algorithm.finish, algorithm.compile):
        names |= modules_of(step)
    return _digest(frozenset(names - _FRAMEWORK))


def modules_of(step: object) -> set[str]:
    """Return the modules of a function, and of the functions that it wraps; none of Python's own, which differ."""
    if isinstance(step, functools.partial):
        inside = [step.func, *step.args, *step.keywords.values()]
    else:
        inside = [cell.cell_contents for cell in getattr(step, "__closure__", None) or ()]
    module = getattr(step, "__module__", None)
    own = {module} if isinstance(module, str) and not _is_pythons(module) else set()
    return own.union(*(modules_of(one) for one in inside if callable(one)))


def _is_pythons(module: str) -> bool:
    """Return whether a module is of Python's own library; a user's own may have the name of one."""
    file = getattr(sys.modules.get(module), "__file__", None) or os.__file__
    return module.partition(".")[0] in sys.stdlib_module_names and file.startswith(os.path.dirname(os.__file__))


@functools.cache
def _digest(roots: frozenset[str]) -> str | None:
    """Return the digest of modules and what belongs to them; kept between processes as long as no file changes."""
    files = sorted(str(getattr(sys.modules.get(name), "__file__", "")) for name in roots)
    kept_as = f"{hashlib.sha256(chr(0).join(files).encode()).hexdigest()}.tree"
    with contextlib.suppress(OSError, ValueError, KeyError):
        if (kept := code_cache.look_up("sources", kept_as)) is not None:
            known = json.loads(kept.content)
            if all([*file_state(path)] == state for path, state in known["files"].items()):
                return str(known["sha256"])
    try:
        parts, read = _parts(roots)
        text = "\0".join(sorted(" ".join(part.split()) for part in parts.values()))
        states = {str(one): file_state(one) for one in read}
        known = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "files": states}
    except (OSError, SyntaxError, ValueError, InputError):
        return None
    code_cache.keep_if_possible("sources", kept_as, json.dumps(known).encode())
    return str(known["sha256"])


def _parts(roots: frozenset[str]) -> tuple[dict[str, str], list[Path]]:
    """Return what the modules and kernel files of an algorithm say, by name, and all files that were read."""
    from gpugraph.devices.kernel_file import KernelFile
    from gpugraph.devices.kernel_source import files_of, load_source

    parts: dict[str, str] = {}
    read: list[Path] = []
    waiting = sorted(roots)
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        if name in parts or name in _FRAMEWORK or (file is None and name not in roots):
            continue
        path = Path(file or "")
        tree = ast.parse(path.read_bytes())
        for one in (value for value in vars(sys.modules[name]).values() if isinstance(value, KernelFile)):
            parts[one.name] = load_source(one.name).code
            read += files_of(one.name)
        waiting += _imported(tree)
        parts[name] = str(_plain(tree))
        read.append(path)
    return parts, read


def _imported(tree: ast.AST) -> list[str]:
    """Return the modules of algorithms that a module imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found if f"{name}.".startswith(_PACKAGES) and _is_module(name)]


def _is_module(name: str) -> bool:
    """Return whether a name is that of a module, and load it: what else a process has loaded must not count."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def _plain(node: object) -> object:
    """Return a syntax tree as lists, without docstrings and imports.

    It is the same on every version of Python: fields that are empty differ between them.
    """
    if isinstance(node, ast.JoinedStr):  # Python 3.12.0 ends some of them in an empty text
        node = ast.JoinedStr([one for one in node.values if getattr(one, "value", None) != ""])
    if isinstance(node, ast.AST):
        fields = [[name, _plain(value)] for name, value in ast.iter_fields(node)]
        return [type(node).__name__, *(pair for pair in fields if pair[1] not in (None, []))]
    if isinstance(node, list):
        return [_plain(one) for one in node if not (_is_text(one) or isinstance(one, ast.Import | ast.ImportFrom))]
    return repr(node) if node is not None else None


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
