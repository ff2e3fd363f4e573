"""Damaged caches of compiled code: the answer is right all the same, and the next run finds the cache whole again."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from pathlib import Path

from tests.hostile.commands import check, ended, start
from tests.hostile.trials import Part, Trial
from tests.mutate import MUTATORS

COMMANDS = (
    ("mst", "grid:9x9", "--algo", "boruvka", "--device", "emulated", "--format", "json", "--repeat", "1"),
    ("mst", "grid:9x9", "--algo", "kruskal", "--device", "cpu", "--format", "json", "--repeat", "1"),
    ("sssp", "grid:9x9", "--device", "cpu", "--format", "json", "--repeat", "1"),
)


def try_cache(trial: Trial) -> str:
    """Damage files of the cache, or take it away, and let one command or four at once use it, twice."""
    draw, cache = trial.draw, trial.folder / "cache"
    words = draw.choice(COMMANDS)
    whole = trial.once("cache", _fill)
    how = draw.choice(("one", "one", "some", "all", "index", "empty", "held"))
    umask = draw.choice((0o000, 0o002, 0o022, 0o077))
    if how != "empty":
        shutil.copytree(whole, cache)
    if how == "held":
        return _try_held(words, cache)
    files = sorted(path for path in cache.rglob("*") if path.is_file() and (how != "index" or path.suffix == ".json"))
    chosen = draw.sample(files, {"one": 1, "some": len(files) // 3, "empty": 0}.get(how, len(files)))
    hurt = {path: _damage(trial, path) for path in chosen}
    processes = [
        start(words, trial.folder, {"GPUGRAPH_CACHE_DIR": str(cache)}, umask=umask)
        for _ in range(draw.choice((1, 1, 1, 4)))
    ]
    for process in processes:
        end = ended(process, 300)
        check(end, (0,))
        record = json.loads(end.out)
        assert record["verification"]["status"] == "passed"
        assert record["result"] == _expected(trial, words), "another answer"
    before = _stamps(cache)
    end = ended(start(words, trial.folder, {"GPUGRAPH_CACHE_DIR": str(cache)}, umask=umask), 300)
    check(end, (0,))
    assert "compil" not in end.err, f"umask {umask:03o}: {end.err}"
    assert not [path for path in cache.rglob("*") if path.stat().st_mode & 0o022], "others may write to the cache"
    assert _stamps(cache) == before, "the second run found the cache damaged still"
    assert all(path.exists() for path in hurt)
    return (
        f"{how} of its files damaged, made anew"
        if hurt
        else "filled by several at once"
        if len(processes) > 1
        else "filled"
    )


def _try_held(words: tuple[str, ...], cache: Path) -> str:
    """Hold every lock of a cache that everybody may write to: its code is not used, and its locks stop nobody."""
    with contextlib.ExitStack() as held:
        for path in [path for path in cache.rglob("*") if path.is_file()]:
            lock = held.enter_context(open(f"{path}.lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            path.parent.chmod(0o777)
        end = ended(start(words, cache.parent, {"GPUGRAPH_CACHE_DIR": str(cache)}), 300)
    check(end, (0,))
    assert "waiting for another" not in end.err, end.err
    assert "others may write to" in end.err, end.err
    return "locks held in a folder for everybody"


def _fill(cache: Path) -> None:
    """Let every command fill the cache, and keep what each found."""
    for i, words in enumerate(COMMANDS):
        end = ended(start(words, cache.parent, {"GPUGRAPH_CACHE_DIR": str(cache)}), 300)
        check(end, (0,))
        (cache.parent / f"found-{i}.json").write_text(json.dumps(json.loads(end.out)["result"]))


def _expected(trial: Trial, words: tuple[str, ...]) -> object:
    return json.loads((trial.shared / f"found-{COMMANDS.index(words)}.json").read_text())


def _damage(trial: Trial, path: Path) -> bytes:
    """Damage a file in one of the ways in which disks and people do, and return what it holds now."""
    draw, data = trial.draw, path.read_bytes()
    kind = draw.random()
    if kind < 0.15:
        data = b""
    elif kind < 0.3:
        data = data[: len(data) // 2 // 4096 * 4096]
    elif kind < 0.4:
        data = bytes(len(data))
    else:
        data = draw.choice(MUTATORS)(data, draw)
    os.unlink(path)  # a file of its own, as a copy may share what it holds
    path.write_bytes(data)
    return data


def _stamps(cache: Path) -> dict[str, int]:
    return {
        str(path.relative_to(cache)): path.stat().st_mtime_ns for path in sorted(cache.rglob("*")) if path.is_file()
    }


PART = Part(
    "caches",
    "damaged and empty caches of compiled code under four umasks, used by one or by four at once; locks of others",
    60,
    try_cache,
    1,
    900.0,
)
