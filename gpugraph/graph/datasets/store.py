"""Graphs by name: fetched on the first use, converted to ``.csr``, and found in the cache from then on.

``COLLECTION/NAME/`` in the folder of data sets holds the file as it was served, ``pin.json`` (the SHA-256 of the file
and the digests of the graphs made of it, which outlive both), and of each way of reading it ``graph*.csr`` with
``graph*.json``: what a ``.csr`` does not hold, the vertices' names, the notes of loading, and reference outputs.  The
JSON is written last, so that a graph without one is no graph yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gpugraph.clock import HostClock
from gpugraph.code_cache import users_folder
from gpugraph.devices.base import Device
from gpugraph.errors import GraphFormatError, InputError
from gpugraph.files import replaced
from gpugraph.graph.csr import Answer, CSRGraph
from gpugraph.graph.datasets import FOLDER, OFFLINE
from gpugraph.graph.datasets.convert import convert
from gpugraph.graph.datasets.fetch import Tell, fetch, sources
from gpugraph.graph.datasets.registry import Dataset, find
from gpugraph.graph.formats.base import numbered_from_one
from gpugraph.graph.formats.input_file import Reading

_PLAIN = Reading()


@dataclass(frozen=True)
class Cached:
    """What the cache holds of a data set.

    Attributes:
        folder: where.
        file: the file as it was served, or None.
        pin: ``pin.json``: ``sha256``, ``bytes``, ``url``, ``since`` and ``digests``; empty where nothing is pinned.
        graphs: the converted graphs.
        bytes: what all of it takes.
    """

    folder: Path
    file: Path | None
    pin: dict[str, Any]
    graphs: tuple[Path, ...]
    bytes: int


def cached(dataset: Dataset) -> Cached:
    """Return what the cache holds of a data set.

    Raises:
        InputError: there is no cache: the user has no home.
    """
    folder = _folder(dataset)
    file = folder / dataset.file
    try:
        held = [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        held = []
    graphs = tuple(sorted(path for path in held if path.suffix == ".csr" and path.with_suffix(".json") in held))
    taken = sum(path.stat().st_size for path in held if path.name not in (".lock", "pin.json"))
    return Cached(folder, file if file in held else None, _pinned(folder), graphs, taken)


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return all that is known of a data set, as JSON's types."""
    held = cached(dataset)
    told = asdict(dataset) | {"name": str(dataset), "urls": sources(dataset)}
    by = "SHA-256" if dataset.sha256 else "digest" if dataset.digest else "pin" if held.pin else "its first use pins"
    kept = {"folder": str(held.folder), "bytes": held.bytes, "file": held.file and held.file.name, "pin": held.pin}
    return told | {"checked_by": by, "cached": kept | {"graphs": [path.name for path in held.graphs]}}


def remove(dataset: Dataset, *, pin: bool) -> int:
    """Remove what the cache holds of a data set, its pin only if asked to; return the bytes freed."""
    found = cached(dataset)
    if not found.folder.is_dir():
        return 0
    with _alone(found.folder, dataset, lambda what: None):
        for path in found.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != ".lock" and (pin or path.name != "pin.json"):
                path.unlink(missing_ok=True)
    return found.bytes - cached(dataset).bytes


def open_dataset(
    text: str, told: Reading, clock: HostClock, tell: Tell = lambda what: None, device: Device | None = None
) -> CSRGraph:
    """Return the graph of ``COLLECTION:NAME``; its first use fetches and converts it, in the phase ``fetch``.

    Args:
        text: the name.
        told: what the user says of the file.
        clock: what the phases are timed by.
        tell: called with a few words whenever something new begins.
        device: holds and checks the rows, where it can.

    Raises:
        InputError: there is none, or it cannot be fetched, is another than it was, or may not be fetched.
        GraphFormatError, OutOfMemory: it cannot be made a graph.
    """
    from gpugraph.graph.load import load_file

    dataset = find(text)
    told = _told(dataset, told)
    for again in (False, True):
        path, facts, new = _converted(dataset, told, clock, tell, anew=again)
        try:
            graph = load_file(path, clock=clock, device=device)
            break
        except GraphFormatError:
            if again:
                raise
    names = facts["names"]
    if names == "from 1":
        vertex_names: Any = numbered_from_one(graph.vertices)
    else:
        vertex_names = None if names is None else np.asarray(np.load(path.with_suffix(".npy"), mmap_mode="r"))
    answers = {name: Answer(path.with_name(file), start) for name, (file, start) in facts["answers"].items()}
    return graph.renamed(
        name=dataset.last,
        source=text,
        vertex_names=vertex_names,
        notes=(*new, *facts["notes"]),
        negative_loop=facts["negative_loop"],
        answers=answers,
    )


def local_csr(text: str, tell: Tell = lambda what: None) -> Path:
    """Return the ``.csr`` of a data set, fetched and converted if it is not there; only mapped, it is no whole graph.

    Raises:
        InputError, GraphFormatError, OutOfMemory: as ``open_dataset``.
    """
    dataset = find(text)
    return _converted(dataset, _told(dataset, _PLAIN), HostClock(), tell)[0]


def _told(dataset: Dataset, told: Reading) -> Reading:
    """Return how to read a file: as the user says, else as the registry does."""
    if told.directed is not None and dataset.directed not in (None, told.directed):
        kind = "directed" if dataset.directed else "undirected"
        remedy = f"leave --{'un' if dataset.directed else ''}directed out"
        raise InputError(f"is known to be {kind}", where=str(dataset), remedy=remedy)
    return replace(told, directed=dataset.directed) if told.directed is None else told


def _converted(
    dataset: Dataset, told: Reading, clock: HostClock, tell: Tell, *, anew: bool = False
) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
    """Return the ``.csr``, what its JSON says, and notes on what is new; ``anew``: not the one that is there."""
    folder, plain = _folder(dataset), told == _told(dataset, _PLAIN)
    mark = "" if plain else "-" + hashlib.sha256(json.dumps(asdict(told)).encode()).hexdigest()[:12]
    path = folder / f"graph{mark}.csr"
    if not anew and (facts := _facts(path)):
        return path, facts, ()
    with clock.phase("fetch"), _in_cache(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder, dataset, tell):
            if not anew and (facts := _facts(path)):  # another process has made it meanwhile
                return path, facts, ()
            pin = _pinned(folder)
            file, url = _file(dataset, folder, pin, tell)
            fresh = not (dataset.sha256 or pin)
            tell(f"converting {file.name}")
            try:
                facts = convert(dataset, told, file, path, pin, mark, tell)
            except GraphFormatError:
                if fresh and url:
                    file.unlink(missing_ok=True)  # nobody vouches for it: the next use fetches it again
                raise
            new = _pin(dataset, file, url, pin, mark, facts["digest"])
            _write_json(path.with_suffix(".json"), facts)
            return path, facts, new


def _file(dataset: Dataset, folder: Path, pin: dict[str, Any], tell: Tell) -> tuple[Path, str]:
    """Return the file as it is served, and the URL it has now been fetched from, ``""`` if it was there."""
    file = folder / dataset.file
    due, by = (dataset.sha256, "the registry") if dataset.sha256 else (pin.get("sha256"), "the pin of its first use")
    there = file.is_file()
    if there and (due is None or _sha256(file, tell) == due):
        return file, ""
    if is_offline():
        what = f"{file} is not the file that {by} knows" if there else "it is not in the cache"
        remedy = (
            f"'gpugraph datasets {dataset} --fetch' where there is a network, or put {dataset.urls[0]} into {folder}"
        )
        raise InputError(f"{what}, and gpugraph is offline", where=str(dataset), remedy=remedy)
    tell(f"fetching {file.name}")
    return file, fetch(dataset, folder, due, by, tell)


def is_offline() -> bool:
    """Tell whether nothing may be fetched."""
    return os.environ.get(OFFLINE, "").strip().lower() not in ("", "0", "no", "false", "off")


def _pin(dataset: Dataset, file: Path, url: str, pin: dict[str, Any], key: str, digest: str) -> tuple[str, ...]:
    """Keep what tells whether the file or its graph is another the next time; return what the user is to know."""
    first = not pin
    if first:
        told = {"file": file.name, "url": url, "since": time.strftime("%Y-%m-%d", time.gmtime())}
        pin = {**told, "bytes": file.stat().st_size, "sha256": _sha256(file, lambda what: None), "digests": {}}
    if key not in pin["digests"]:
        pin["digests"][key] = digest
        _write_json(file.with_name("pin.json"), pin)
    if not first or dataset.sha256 or dataset.digest:
        return ()
    return (f"no checksum of {dataset} is known: what came is pinned by its SHA-256, {pin['sha256'][:16]}…",)


# ------------------------------------------------------------------ the folder


def _folder(dataset: Dataset) -> Path:
    own, cache = os.environ.get(FOLDER), users_folder()
    if not own and cache is None:
        remedy = f"set {FOLDER} to a folder of yours"
        raise InputError("there is no folder to keep data sets in", where=str(dataset), remedy=remedy)
    base = Path(own).expanduser().absolute() if own else cache / "datasets"  # type: ignore[operator]
    return base / dataset.collection / dataset.name


@contextlib.contextmanager
def _in_cache(folder: Path) -> Iterator[None]:
    """Turn what the system says about the cache folder into an InputError."""
    try:
        yield
    except OSError as error:
        remedy = "free some space there, or set GPUGRAPH_DATA_DIR to a folder that you may write to"
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the cache cannot be written: {reason}", where=error.filename or folder, remedy=remedy
        ) from error


@contextlib.contextmanager
def _alone(folder: Path, dataset: Dataset, tell: Tell) -> Iterator[None]:
    """Keep other processes from the folder while the block runs, where the system has locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            import fcntl

            lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
            stack.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell(f"another process is fetching {dataset}: waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError:
                pass  # a file system without locks: renaming still keeps every file whole
        yield


def _read_json(path: Path) -> dict[str, Any]:
    """Return what a JSON file of ours says; nothing where it is absent or damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    with replaced(path) as raw:
        raw.write(json.dumps(content, indent=1, ensure_ascii=False).encode())


def _pinned(folder: Path) -> dict[str, Any]:
    """Return the pin of a data set, or nothing where there is none that makes sense."""
    pin = _read_json(folder / "pin.json")
    whole = isinstance(pin.get("sha256"), str) and isinstance(pin.get("digests"), dict)
    return pin if whole else {}


def _facts(path: Path) -> dict[str, Any]:
    """Return what is kept beside a ``.csr``, or nothing where one of both is missing or makes no sense."""
    facts = _read_json(path.with_suffix(".json")) if path.is_file() else {}
    try:
        needed = [path.with_name(file) for file, _ in facts["answers"].values()]
        needed += [path.with_suffix(".npy")] if facts["names"] == "file" else []
        whole = {"digest", "negative_loop"} <= facts.keys() and isinstance(facts["notes"], list)
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
    return facts if whole and all(one.is_file() for one in needed) else {}


def _sha256(file: Path, tell: Callable[[str], None]) -> str:
    tell(f"checking {file.name}")
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
