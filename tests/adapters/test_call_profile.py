"""The phases of a call."""

from __future__ import annotations

import threading

import pytest

from gpugraph.adapters import call_profile


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
    assert found.seconds == {"convert": 5, "copy": 2, "kernel": 8, "back": 0}


def test_what_is_converted_before_a_call_belongs_to_it(clock):
    with call_profile.phase("convert"):
        clock[0] += 3
    with call_profile.call("a function"):
        pass
    assert call_profile.last_call().seconds["convert"] == 3
    with call_profile.call("another"):
        pass
    assert call_profile.last_call().seconds["convert"] == 0


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
