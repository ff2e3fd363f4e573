"""The phases of a call."""

from __future__ import annotations

import threading

import pytest

from gpugraph.adapters import calls


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that is moved by hand."""
    now = [0.0]
    monkeypatch.setattr(calls.time, "perf_counter", lambda: now[0])
    return now


def test_a_phase_inside_another_is_counted_once(clock):
    with calls.call("outer", "emulated"), calls.phase("convert"):
        clock[0] += 1
        with calls.phase("copy"):
            clock[0] += 2
            with calls.phase("convert"):
                clock[0] += 4
        with calls.phase("kernel"):
            clock[0] += 8
    found = calls.last_call()
    assert (found.function, found.device) == ("outer", "emulated")
    assert found.seconds == {"convert": 5, "copy": 2, "kernel": 8, "back": 0}


def test_what_is_converted_before_a_call_belongs_to_it(clock):
    with calls.phase("convert"):
        clock[0] += 3
    with calls.call("a function"):
        pass
    assert calls.last_call().seconds["convert"] == 3
    with calls.call("another"):
        pass
    assert calls.last_call().seconds["convert"] == 0


def test_a_call_inside_another_is_a_part_of_it_and_an_error_ends_both(clock):
    def failing() -> None:
        with calls.call("outer"), calls.call("inner"), calls.phase("kernel"):
            clock[0] += 1
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        failing()
    assert calls.last_call().function == "outer"
    assert calls.last_call().seconds["kernel"] == 1
    with calls.call("next"):
        pass
    assert calls.last_call().function == "next"


def test_every_thread_has_its_own_last_call():
    with calls.call("here"):
        pass
    found = []
    thread = threading.Thread(target=lambda: found.append(calls.last_call()))
    thread.start()
    thread.join()
    assert found == [None]
    assert calls.last_call().function == "here"
