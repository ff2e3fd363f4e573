"""Constants that a driver repeats from its kernel file are the same in both."""

from __future__ import annotations

import re
from itertools import count

import pytest

import gpugraph.problems.mst.gpu_boruvka as boruvka
import gpugraph.problems.mst.gpu_filter_boruvka as filter_boruvka
import gpugraph.problems.mst.gpu_prim as prim
import gpugraph.problems.mst.gpu_verify as verify
from gpugraph.devices.source import load_source


def text_of(file: str) -> str:
    """Return a kernel file and all it includes, without comments."""
    return re.sub(r"//.*", "", load_source(file).text)


def constant(file: str, name: str) -> int:
    """Return the value of ``constexpr TYPE NAME = VALUE;``."""
    (found,) = set(re.findall(rf"constexpr \w+ {name} = (\w+);", text_of(file)))
    return int(found, 0)


def enumerators(file: str, name: str) -> dict[str, int]:
    """Return the values of an enum; an expression may use constants of the file and enumerators before it."""
    (body,) = set(re.findall(rf"enum {name} \{{(.*?)\}}", text_of(file), re.DOTALL))
    values: dict[str, int] = {}
    following = count()
    for entry in filter(None, map(str.strip, body.split(","))):
        key, _, expression = map(str.strip, entry.partition("="))
        if expression:
            words = set(re.findall(r"[A-Z_]+", expression)) - values.keys()
            following = count(eval(expression, {}, values | {word: constant(file, word) for word in words}))
        values[key] = next(following)
    return values


@pytest.mark.parametrize("name", ["BLOCK", "TILE"])
def test_filter_boruvka_launches_what_its_kernel_expects(name: str) -> None:
    assert getattr(filter_boruvka, name) == constant("filter_boruvka.cu", name)


def test_filter_boruvka_reads_the_words_that_its_kernel_writes() -> None:
    control = enumerators("filter_boruvka.cu", "Control")
    assert control["CONTROL_WORDS"] == filter_boruvka.CONTROL_WORDS
    assert (control["FOREST"], control["ROUNDS"]) == (filter_boruvka.FOREST, filter_boruvka.ROUNDS)
    phases = enumerators("filter_boruvka.cu", "Phase")
    assert tuple(name.lower() for name in phases) == filter_boruvka.PHASES
    assert list(phases.values()) == list(range(len(phases)))


@pytest.mark.parametrize("name", ["SEGMENT_ARCS", "JUMPS"])
def test_boruvka_repeats_its_kernels_constants(name: str) -> None:
    assert getattr(boruvka, name) == constant("boruvka.cu", name)


def test_the_certificate_repeats_its_kernels_constants() -> None:
    assert constant("verify_forest.cu", "JUMPS") == verify.JUMPS
    assert constant("verify_forest.cu", "TILE") == verify.TILE_ARCS_PER_THREAD * constant("verify_forest.cu", "WARP")


def test_prims_blocks_fit_its_shared_memory() -> None:
    assert max(prim.BLOCK_SIZES) == constant("prim.cu", "MAX_THREADS")
