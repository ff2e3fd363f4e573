"""Whether float64 holds a number is known exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpugraph.ext.peers.libraries import holds_exactly
from tests.tiers import drawn


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@drawn(60)
def test_what_float64_holds_is_known_exactly(values: list[int]) -> None:
    values += [v << k for v in (3, 2**53 - 1) for k in (0, 5, 9)]
    assert holds_exactly(np.array(values, np.int64)).tolist() == [int(float(v)) == v for v in values]
