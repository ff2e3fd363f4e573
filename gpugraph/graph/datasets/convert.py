"""From the file of a data set, as it was served, to the ``.csr`` that is used: unpacked, read, held to its digest."""

from __future__ import annotations

import contextlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.compression import codec_of_content, open_reader
from gpugraph.errors import GraphFormatError, InputError, reading
from gpugraph.files import replaced
from gpugraph.graph.datasets.fetch import Tell, changed, require_room
from gpugraph.graph.datasets.registry import Dataset
from gpugraph.graph.formats.input_file import Reading


def convert(
    dataset: Dataset, told: Reading, file: Path, path: Path, pin: dict[str, Any], key: str, tell: Tell
) -> dict[str, Any]:
    """Write the graph of a file as ``.csr``, and beside it what that does not hold; return what its JSON is to say.

    Args:
        dataset: which.
        told: how to read it.
        file: as it was served.
        path: of the ``.csr``.
        pin: what is known of an earlier one.
        key: of this way of reading among the pin's digests; empty for the one that the registry means.
        tell: called with a few words now and then.

    Raises:
        InputError: the graph is another than it was.
    """
    from gpugraph.graph.load import load_file, save_file

    def progress(done: int, whole: int) -> None:
        tell(f"converting {file.name} {done / max(whole, 1):.0%}")

    with _unpacked(dataset, file, tell) as source:
        try:
            graph = load_file(source, input_format=dataset.format, told=told, progress=progress)
        except InputError as error:  # where it was unpacked to says nothing to anybody
            where = (error.where or "").replace(os.fspath(source.parent), str(dataset))
            if isinstance(error, GraphFormatError):
                raise GraphFormatError(error.what, path=where, remedy=error.remedy) from error
            raise InputError(error.what, where=where, remedy=error.remedy) from error
        due, by = (None if key else dataset.digest), "the registry"
        due, by = (due, by) if due else (pin.get("digests", {}).get(key), f"the pin of {pin.get('since', '')}")
        if due not in (None, graph.digest):
            what = f"its source has changed: the graph's digest is {graph.digest}, {by} says {due}"
            raise InputError(what, where=str(dataset), remedy=changed(dataset, by))
        save_file(graph, path, renumber=True)
        names = graph.vertex_names
        from_one = names is not None and names.dtype.kind in "iu" and _counts_from_one(names)
        if names is not None and not from_one:
            with replaced(path.with_suffix(".npy")) as raw:
                np.save(raw, names, allow_pickle=False)
        for answer in graph.answers.values():
            with replaced(path.with_name(answer.path.name)) as raw, open(answer.path, "rb") as found:
                shutil.copyfileobj(found, raw, 1 << 20)
        return {
            "digest": graph.digest,
            "names": None if names is None else "from 1" if from_one else "file",
            "notes": list(graph.notes),
            "negative_loop": graph.negative_loop,
            "answers": {name: [answer.path.name, answer.start] for name, answer in graph.answers.items()},
        }


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
            archive = stack.enter_context(
                tarfile.open(fileobj=open_reader(raw, codec_of_content(head, file)), mode="r|")
            )
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


def _counts_from_one(names: NDArray[Any]) -> bool:
    return np.array_equal(names, np.arange(1, len(names) + 1))
