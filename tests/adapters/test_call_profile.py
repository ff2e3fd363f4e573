"""The phases of a call."""

from __future__ import annotations

import threading

import pytest

from gpugraph.base.clock import COMPILING
from gpugraph.ext.python import call_profile


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that is moved by hand."""
    now = [0.0]
    monkeypatch.setattr(call_profile.time, "perf_counter", lambda: now[0])
    return now


def test_a_phase_inside_another_is_counted_once(clock):
    with call_profile.call("outer", "emulated"), call_profile.phase("convert"):
        clock[0] += 1
        with call_profile.phase("copy"):
            clock[0] += 2
            with call_profile.phase("convert"):
                clock[0] += 4
        with call_profile.phase("kernel"):
            clock[0] += 8
    found = call_profile.last_call()
    assert (found.function, found.device) == ("outer", "emulated")
    assert found.seconds == {"convert": 5, "copy": 2, "compile": 0, "kernel": 8, "back": 0}


def compiling(clock, seconds):
    clock[0] += seconds
    COMPILING.seconds += seconds


def test_compiling_is_no_part_of_the_phase_that_needed_it(clock):
    with call_profile.call("outer", "emulated"), call_profile.phase("convert"):
        clock[0] += 1
        compiling(clock, 16)
        with call_profile.phase("kernel"):
            compiling(clock, 32)
            clock[0] += 2
        clock[0] += 4
    assert call_profile.last_call().seconds == {"convert": 5, "copy": 0, "compile": 48, "kernel": 2, "back": 0}
    assert str(call_profile.last_call()) == (
        "outer on emulated: convert 5000.000 ms, copy 0.000 ms, compile 48000.000 ms, kernel 2000.000 ms, back 0.000 ms"
    )


def test_the_phases_before_a_call_belong_to_it(clock):
    with call_profile.phase("convert"):
        clock[0] += 3
        with call_profile.phase("copy"):
            clock[0] += 4
            compiling(clock, 8)
    with call_profile.call("a function"):
        pass
    assert call_profile.last_call().seconds == {"convert": 3, "copy": 4, "compile": 8, "kernel": 0, "back": 0}
    with call_profile.call("another"):
        pass
    assert sum(call_profile.last_call().seconds.values()) == 0


def test_a_call_inside_another_is_a_part_of_it_and_an_error_ends_both(clock):
    def failing() -> None:
        with call_profile.call("outer"), call_profile.call("inner"), call_profile.phase("kernel"):
            clock[0] += 1
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        failing()
    assert call_profile.last_call().function == "outer"
    assert call_profile.last_call().seconds["kernel"] == 1
    with call_profile.call("next"):
        pass
    assert call_profile.last_call().function == "next"


def test_every_thread_has_its_own_last_call():
    with call_profile.call("here"):
        pass
    found = []
    thread = threading.Thread(target=lambda: found.append(call_profile.last_call()))
    thread.start()
    thread.join()
    assert found == [None]
    assert call_profile.last_call().function == "here"
