from __future__ import annotations

import io
import re
import time

import pytest

from gpugraph.cli import output as module
from gpugraph.cli.output import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(module, "FIRST_S", 0.05)
    monkeypatch.setattr(module, "EVERY_S", 0.1)


def wait_for(stream: io.StringIO, text: str) -> None:
    deadline = time.monotonic() + 300
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(module, "FIRST_S", 60.0)
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        progress("working")
    assert stream.getvalue() == ""


def test_long_work_tells_what_it_does_and_how_far_it_is():
    stream = io.StringIO()
    with Progress(stream=stream) as progress:
        progress("drawing arcs", 0.25)
        wait_for(stream, "drawing arcs 25% (")
        progress("building rows")
        wait_for(stream, "building rows (")
    assert re.match(r"gpugraph: drawing arcs 25% \(\d+ s\)\n", stream.getvalue())
    assert "gpugraph: building rows (" in stream.getvalue()


def test_quiet_shows_nothing_however_long_it_takes():
    stream = io.StringIO()
    with Progress(quiet=True, stream=stream) as progress:
        progress("working")
        time.sleep(0.2)
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar():
    stream = Terminal()
    with Progress(stream=stream) as progress:
        progress("drawing arcs", 0.5)
        wait_for(stream, "drawing arcs")
    assert "drawing arcs" in stream.getvalue()


def fail_inside(stream: io.StringIO) -> None:
    with Progress(stream=stream):
        stream.close()
        time.sleep(0.1)
        raise ZeroDivisionError


def test_an_error_inside_passes_through_and_a_closed_stream_does_not_matter():
    with pytest.raises(ZeroDivisionError):
        fail_inside(io.StringIO())
