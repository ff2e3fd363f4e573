"""Randomly drawn specs: ``drawn:N`` is the spec that the number N draws.

Draw i of N is hash64(hash64(N) + i), its upper 53 bits as a real of [0, 1).  "By powers" is 2 to a power that is
uniform.  In this order: the family; vertices, by powers in ``least``..``most`` (2^17..2^24); the degree, by powers in
2..256, but at most 2^28 arcs; three numbers for the shape; the order of the vertices; the upper end
of the weights, by powers in 1..2^30; whether they are whole, float32 or float64; the seed.
"""

import math

from gpugraph.base.errors import InputError
from gpugraph.graph.counter_random import hash64_of
from gpugraph.graph.families import ORDERS
from gpugraph.graph.generators.family import Family, Parameter, Size

FAMILIES_DRAWN = ("rmat", "random", "ssca2", "regular", "grid", "road", "knn")
_MOST_ARCS, _MOST_DEGREE, _MOST_WEIGHT = 2**28, 256, 2**30


def drawn_spec(number: int, least: int = 2**17, most: int = 2**24, whole: bool = False) -> str:
    """Return the text of the spec that a number draws, of about ``least`` to ``most`` vertices, or raise InputError.

    ``whole``: weights that would be reals are whole numbers of the same range, for programs that take no others.
    """
    if not 16 <= least <= most:
        raise InputError(f"drawn graphs have least..most vertices, not {least}..{most}", remedy="16 <= least <= most")
    which, size, dense, first, second, third, order, heavy, kind, seed = (
        float((hash64_of(hash64_of(number) + i) >> 11) * 2.0**-53) for i in range(10)
    )
    family = FAMILIES_DRAWN[int(which * len(FAMILIES_DRAWN))]
    exponent = math.log2(least) + size * math.log2(most / least)
    scale = min(round(exponent), int(math.log2(most)))
    n = 2**scale if family in ("rmat", "ssca2") else round(2**exponent)
    degree = 2 * min(_MOST_DEGREE, _MOST_ARCS // n, n // 4) ** dense / 2**dense
    if family == "rmat":
        a = 25 + round(40 * first)
        b = round((100 - a) * (0.2 + 0.3 * second))
        c = round((100 - a) * (0.2 + 0.3 * third))
        text = f"rmat:{scale},ef={max(1, round(degree / 2))},a={a / 100},b={b / 100},c={c / 100}"
    elif family == "ssca2":
        text = f"ssca2:{scale},deg={round(degree)},inter={round(0.5 * first, 3)}"
    elif family == "random":
        text = f"random:n={n},m={round(n * degree / 2)}"
    elif family == "regular":
        text = f"regular:n={n},{'in' if first < 0.5 else 'out'}={round(degree)}"
    elif family == "knn":
        text = f"knn:n={n},k={max(2, round(min(degree, 32) / 1.5))}"
    else:
        width = max(2, round(math.sqrt(n) * 2 ** (6 * first - 3)))
        text = f"{family}:{width}x{max(2, n // width)}"
    text += f",order={ORDERS[int(order * len(ORDERS))]},seed={1 + int(seed * 2**32)}"
    if family == "knn":
        return text
    high = round(_MOST_WEIGHT**heavy)
    if whole or kind < 0.5:
        return f"{text},w=1..{high}"
    return f"{text},w=1.0..{high}.0,dtype={'float32' if kind < 0.75 else 'float64'}"


FAMILIES = (
    Family(
        "drawn",
        "the spec that a number draws",
        "drawn:7",
        (
            Parameter("number", "which", required=True, low=0),
            Parameter("least", "vertices at least", default=2**17, low=16, high=2**30),
            Parameter("most", "vertices at most", default=2**24, low=16, high=2**30),
            Parameter("whole", "no real weights", "flag", default=False),
        ),
        lambda _: Size(0, 0, 0),
        lambda _values, _seed, run: (*run.empty(0), None),
        respell=lambda values: drawn_spec(**values),
        places=1,
    ),
)
