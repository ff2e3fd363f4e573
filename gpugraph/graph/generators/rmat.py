"""R-MAT: each edge falls down the quadrants of the adjacency matrix, one bit of both endpoints a level.

Edge i draws from the SplitMix64 stream that starts at s = hash64(seed) ^ hash64(i + 77): draw k is
mix(s + k * 0x9E3779B97F4A7C15), k = 1, 2, …  A draw serves four levels, 16 bits each from the low end; with
x such 16 bits the quadrant is the number of thresholds ⌊p * 2^16 + 1/2⌋ that are ≤ x, for p = a, a + b and
a + b + c.  The quadrant's high bit goes to the tail, its low bit to the head, most significant level first.
Both ids are shuffled.  Loops and repeats are left to the builder.

Source: Chakrabarti, Zhan & Faloutsos 2004, R-MAT: a recursive model for graph mining.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from gpugraph.base.compiled import njit
from gpugraph.base.errors import InputError
from gpugraph.graph.chunks import Runner
from gpugraph.graph.counter_random import hash64, shuffle, shuffle_keys
from gpugraph.graph.digest import mix
from gpugraph.graph.generators.family import SCALE, Drawn, Family, Parameter, Size, Values, edges, probability


@njit
def _draw(start: int, stop: int, begin: int, scale: int, seed: Any, limits: Any, tails: Any, heads: Any) -> None:
    """Draw the edges of [start, stop) into arrays that begin with edge ``begin``."""
    keys, base = shuffle_keys(seed), hash64(seed)
    first, second, third = limits[0], limits[1], limits[2]
    for i in range(start, stop):
        state = base ^ hash64(np.uint64(i) + np.uint64(77))
        u = v = np.uint64(0)
        bits = np.uint64(0)
        for level in range(scale):
            if level & 3 == 0:
                state += np.uint64(0x9E3779B97F4A7C15)
                bits = mix(state)
            x = bits & np.uint64(0xFFFF)
            bits >>= np.uint64(16)
            quadrant = np.uint64(x >= first) + np.uint64(x >= second) + np.uint64(x >= third)
            u = (u << np.uint64(1)) | (quadrant >> np.uint64(1))
            v = (v << np.uint64(1)) | (quadrant & np.uint64(1))
        tails[i - begin] = shuffle(u, keys, scale)
        heads[i - begin] = shuffle(v, keys, scale)


def _size(values: Values) -> Size:
    a, b, c = (values[key] for key in "abc")
    if a + b + c > 1:
        raise InputError(f"a + b + c is {float(a + b + c):g}, more than 1", remedy="give shares that leave room for d")
    return edges(1 << values["scale"], values["ef"] << values["scale"])


def _limits(values: Values) -> list[int]:
    sums = (values["a"], values["a"] + values["b"], values["a"] + values["b"] + values["c"])
    return [int(p * 2**16 + Fraction(1, 2)) for p in sums]


def _arcs(values: Values, seed: int, run: Runner) -> Drawn:
    scale, limits, samples = values["scale"], np.array(_limits(values), np.uint64), values["ef"] << values["scale"]
    begin, end = run.range_of(samples)
    tails, heads = run.empty(end - begin)
    run(lambda lo, hi: _draw(lo, hi, begin, scale, np.uint64(seed), limits, tails, heads), samples, "drawing edges")
    return tails, heads, None


def _launch(on: Any) -> None:
    v = on.values
    on.add("rmat", v["ef"] << v["scale"], on.rule, np.int32(v["scale"]), on.seed, *map(np.uint32, _limits(v)))


FAMILIES = (
    Family(
        "rmat",
        "recursive matrix graph, ids shuffled (the Graph500 parameters)",
        "rmat:20,ef=16",
        (
            SCALE,
            Parameter("ef", "edges drawn per vertex", default=16),
            *(probability("a", "0.57"), probability("b", "0.19"), probability("c", "0.19")),
        ),
        _size,
        _arcs,
        _launch,
        places=1,
    ),
)
