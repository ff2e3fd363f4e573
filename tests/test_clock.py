from __future__ import annotations

import time

import numba

from gpugraph.clock import HostClock, compile_seconds


def test_a_phase_counts_work_and_no_compilation():
    @numba.njit
    def slow_to_compile(x: float) -> float:
        for _ in range(3):
            x = x * 2.0 + 1.0
        return x

    clock, compiled_before, start = HostClock(), compile_seconds(), time.perf_counter()
    with clock.phase("work"):
        slow_to_compile(1.0)
        time.sleep(0.01)
    elapsed, compiled = time.perf_counter() - start, compile_seconds() - compiled_before
    assert compiled > 0
    assert 0.01 <= clock.seconds["work"] <= elapsed - compiled
