"""The cache of data sets: fetched on the first use, converted to ``.csr``, and found there from then on.

``COLLECTION/NAME/`` in the folder of data sets holds the file as it was served, ``pin.json`` (the SHA-256 of the file
and the digests of the graphs made of it, which outlive both), and of each way of reading it ``graph*.csr`` with
``graph*.json``: what a ``.csr`` does not hold, the vertices' names, how it was read, and reference outputs.  The
JSON is written last, so that a graph without one is no graph yet.
"""

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from gpugraph.base.clock import HostClock
from gpugraph.base.code_cache import users_folder
from gpugraph.base.compression import codec_of_content, open_reader
from gpugraph.base.errors import GraphFormatError, InputError, reading, reason_of
from gpugraph.base.files import make_private_folder, replaced
from gpugraph.base.quantities import in_seconds
from gpugraph.devices.base import Device
from gpugraph.ext.compression import WrittenThrough
from gpugraph.ext.datasets import FOLDER
from gpugraph.ext.datasets.fetch import ROOM, Tell, changed, fetch, require_room, sources
from gpugraph.ext.datasets.registry import SHIPPED, Dataset, find
from gpugraph.ext.formats.checks import numbered_from_one
from gpugraph.ext.formats.files import save_file
from gpugraph.graph.csr import Answer, CSRGraph
from gpugraph.graph.load import load_file
from gpugraph.graph.read_options import AS_GIVEN, OFFLINE, STATED, ReadOptions


def convert(
    dataset: Dataset, options: ReadOptions, file: Path, path: Path, pin: dict[str, Any], key: str, tell: Tell
) -> dict[str, Any]:
    """Write the graph of a file as ``.csr``, and beside it what that does not hold; return what its JSON is to say.

    ``pin`` is what is known of an earlier one, ``key`` this way of reading among its digests, empty for the one that
    the registry means.  Raises InputError if the graph is another than it was.
    """

    def progress(done: int, whole: int) -> None:
        tell(f"converting {file.name} {done / max(whole, 1):.0%}")

    with _unpacked(dataset, file, tell) as source:
        try:
            graph = load_file(source, replace(options, input_format=dataset.format), progress=progress)
        except InputError as error:  # where it was unpacked to says nothing to anybody
            error.where = (error.where or "").replace(os.fspath(source.parent), str(dataset))
            raise
        if graph.arcs == 0:
            raise InputError("what was fetched has no edge", where=str(dataset), remedy="fetch it again")
        due, by = dataset.digest, "the registry"
        if key or due is None:
            due, by = pin.get("digests", {}).get(key), f"the pin of {pin.get('since', '')}"
        if due not in (None, graph.digest):
            what = f"its source has changed: the graph's digest is {graph.digest}, {by} says {due}"
            raise InputError(what, where=str(dataset), remedy=changed(dataset, by))
        says = "as requested" if dataset.directed is None else "as the list of data sets says"
        save_file(graph, path, renumber=True)
        names, kept = graph.vertex_names, None
        if names is not None:
            kept = "from 1" if np.array_equal(names, numbered_from_one(len(names))) else "file"
            if kept == "file":
                with replaced(path.with_suffix(".npy")) as raw:
                    np.save(WrittenThrough(raw), names, allow_pickle=False)
        for answer in graph.answers.values():
            with replaced(path.with_name(answer.path.name)) as raw, open(answer.path, "rb") as found:
                shutil.copyfileobj(found, raw, 1 << 20)
        return {
            "digest": graph.digest,
            "names": kept,
            "notes": list(graph.notes),
            "reading": graph.reading.replace("as requested", says),
            "negative_loop": graph.negative_loop,
            "answers": {name: [answer.path.name, answer.start] for name, answer in graph.answers.items()},
        }


class _Finite:
    """A stream that must not be read on and on behind its end, as tarfile does for a member said to have 2^50 bytes."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self._ended = stream, False

    def read(self, size: int) -> bytes:
        block = self._stream.read(size)
        if self._ended and not block:
            raise EOFError("a member is longer than the archive")
        self._ended = not block
        return block


@contextlib.contextmanager
def _unpacked(dataset: Dataset, file: Path, tell: Tell) -> Iterator[Path]:
    """Give the graph's own file: the one that is served, or a member of the archive that is, unpacked for a while."""
    if not dataset.member:
        yield file
        return
    remedy, found = "fetch it again", False
    for left in file.parent.glob("unpacked-*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="unpacked-", dir=file.parent) as folder, contextlib.ExitStack() as stack:
        with reading(file, remedy, "the archive is damaged or cut short"):
            raw = stack.enter_context(open(file, "rb"))
            head = raw.read(1 << 16)
            raw.seek(0)
            packed = _Finite(open_reader(raw, codec_of_content(head, file)))
            archive = stack.enter_context(tarfile.open(fileobj=cast(IO[bytes], packed), mode="r|"))
        while True:
            with reading(file, remedy, "the archive is damaged or cut short"):
                member = archive.next()
            if member is None:
                break
            name = os.path.basename(member.name)
            # Other members are what belongs to the graph: a matrix' right-hand sides stay packed.
            wanted = name == dataset.member or (dataset.member.endswith(".properties") and not name.startswith("."))
            if not member.isfile() or not wanted:
                continue
            tell(f"unpacking {name}")
            require_room(dataset, file.parent, member.size, "unpacked it needs")
            content = archive.extractfile(member)
            assert content is not None
            found |= name == dataset.member
            with open(os.path.join(folder, name), "wb") as written:
                while True:
                    with reading(file, remedy, "the archive is damaged or cut short"):
                        block = content.read(1 << 20)
                    if not block:
                        break
                    written.write(block)
        if not found:
            raise GraphFormatError(f"holds no file {dataset.member}", path=file, remedy="report it to gpugraph")
        yield Path(folder) / dataset.member


LONGEST_WAIT = 3600.0
"""Seconds; who fetches and converts a data set for longer has been stopped."""


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
    """Return what the cache holds of a data set.  Raises InputError if there is no cache: the user has no home."""
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
    known = asdict(dataset) | {"name": str(dataset), "urls": sources(dataset)}
    by = "SHA-256" if dataset.sha256 else "digest" if dataset.digest else "pin" if held.pin else "first download"
    kept = {"folder": str(held.folder), "bytes": held.bytes, "file": held.file and held.file.name, "pin": held.pin}
    return known | {"checked_by": by, "cached": kept | {"graphs": [path.name for path in held.graphs]}}


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
    text: str, options: ReadOptions, clock: HostClock, tell: Tell = lambda what: None, device: Device | None = None
) -> CSRGraph:
    """Return the graph of ``COLLECTION:NAME``; its first use fetches and converts it, in the phase ``fetch``.

    Raises:
        InputError: there is none, or it cannot be fetched, is another than it was, or may not be fetched.
        GraphFormatError, OutOfMemory: it cannot be made a graph.
    """
    dataset = find(text)
    options = _with_registry(dataset, options)
    for again in (False, True):
        path, facts, new = _converted(dataset, options, clock, tell, anew=again)
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
        reading=str(facts.get("reading", graph.reading)),
        negative_loop=facts["negative_loop"],
        answers=answers,
    )


def local_csr(text: str, tell: Tell = lambda what: None) -> Path:
    """Return the ``.csr`` of a data set, fetched and converted if need be; errors as those of ``open_dataset``."""
    dataset = find(text)
    return _converted(dataset, _with_registry(dataset, AS_GIVEN), HostClock(), tell)[0]


def _with_registry(dataset: Dataset, options: ReadOptions) -> ReadOptions:
    """Return how to read a file: as the user says, else as the registry does."""
    if options.directed is not None and dataset.directed not in (None, options.directed):
        kind = "directed" if dataset.directed else "undirected"
        remedy = f"leave --{'un' if dataset.directed else ''}directed out"
        raise InputError(f"is known to be {kind}", where=str(dataset), remedy=remedy)
    return replace(options, directed=dataset.directed) if options.directed is None else options


def _converted(
    dataset: Dataset, options: ReadOptions, clock: HostClock, tell: Tell, *, anew: bool = False
) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
    """Return the ``.csr``, what its JSON says, and notes on what is new; ``anew``: not the one that is there."""
    folder, plain = _folder(dataset), options == _with_registry(dataset, AS_GIVEN)
    stated = {name: getattr(options, name) for name in STATED}
    mark = "" if plain else "-" + hashlib.sha256(json.dumps(stated).encode()).hexdigest()[:12]
    path = folder / f"graph{mark}.csr"
    if not anew and (facts := _facts(path)):
        return path, facts, ()
    with clock.phase("fetch"), _in_cache(folder):
        _make_folder(folder)
        with _alone(folder, dataset, tell):
            if not anew and (facts := _facts(path)):  # another process has made it meanwhile
                return path, facts, ()
            pin = _pinned(folder)
            file, url = _file(dataset, folder, pin, tell)
            fresh = not (dataset.sha256 or pin)
            tell(f"converting {file.name}")
            try:
                facts = convert(dataset, options, file, path, pin, mark, tell)
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
    if dataset.shipped:
        with replaced(file) as raw, open(SHIPPED / dataset.shipped, "rb") as found:
            shutil.copyfileobj(found, raw)
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
        came = {"file": file.name, "url": url, "since": time.strftime("%Y-%m-%d", time.gmtime())}
        pin = {**came, "bytes": file.stat().st_size, "sha256": _sha256(file, lambda what: None), "digests": {}}
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
    folder = base / dataset.collection / dataset.name
    if pipe := next((one for one in folder.glob("*") if one.is_fifo()), None):
        raise InputError("is a pipe, which would be waited for", where=pipe, remedy="take it out of the folder")
    return folder


def _make_folder(folder: Path) -> None:
    """Make the folder of a data set: in the user's cache as compiled code's, in a chosen one as the umask has it."""
    if os.environ.get(FOLDER):
        folder.mkdir(parents=True, exist_ok=True)
    else:
        make_private_folder(folder)
        _make_private([folder, folder.parent, folder.parent.parent])


def _make_private(paths: Iterable[Path]) -> None:
    """Give files and folders of the user's cache to the user alone, whatever the umask; links stay as they are."""
    for path in paths:
        with contextlib.suppress(OSError):  # another user's, who has them
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)


@contextlib.contextmanager
def _in_cache(folder: Path) -> Iterator[None]:
    """Turn what the system says about the cache folder into an InputError."""
    try:
        yield
    except OSError as error:
        what = f"the cache cannot be written: {reason_of(error)}"
        raise InputError(what, where=error.filename or folder, remedy=ROOM) from error


@contextlib.contextmanager
def _alone(folder: Path, dataset: Dataset, tell: Tell) -> Iterator[None]:
    """Keep other processes from the folder while the block runs, where the file system has locks."""
    import fcntl  # which Windows lacks, where the sizes of data sets are looked up all the same

    with open(folder / ".lock", "ab") as lock:
        began, reported = time.monotonic(), False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not reported:
                    tell(f"another process is fetching {dataset}: waiting for it")
                    reported = True
            except OSError:
                break  # renaming still keeps every file whole
            if time.monotonic() - began > LONGEST_WAIT:
                what = f"another process has held its folder for {in_seconds(LONGEST_WAIT)}"
                remedy = f"end that process: fuser {shlex.quote(lock.name)}"
                raise InputError(what, where=str(dataset), remedy=remedy)
            time.sleep(0.05)
        try:
            yield
        finally:
            if not os.environ.get(FOLDER):
                _make_private(folder.iterdir())


def _read_json(path: Path) -> dict[str, Any]:
    """Return what a JSON file of ours says; nothing where it is absent or damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
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
        numbers = [facts["negative_loop"], *(start for _, start in facts["answers"].values())]
        whole = facts["names"] in (None, "from 1", "file") and all(type(one) in (int, type(None)) for one in numbers)
        whole = whole and all(isinstance(text, str) for text in [facts["digest"], *facts["notes"]])
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
    return facts if whole and all(one.is_file() for one in needed) else {}


def _sha256(file: Path, tell: Callable[[str], None]) -> str:
    tell(f"checking {file.name}")
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
