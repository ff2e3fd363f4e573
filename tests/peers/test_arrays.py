"""Whether float64 holds a number is known exactly."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpugraph.peers.libraries import holds_exactly


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_what_float64_holds_is_known_exactly(values: list[int]) -> None:
    values += [v << k for v in (3, 2**53 - 1) for k in (0, 5, 9)]
    assert holds_exactly(np.array(values, np.int64)).tolist() == [int(float(v)) == v for v in values]
