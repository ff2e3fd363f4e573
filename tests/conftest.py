"""What all tests share: those marked ``gpu`` are skipped where no GPU is usable, those marked ``long`` come first."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, settings

from gpugraph.records.record import Record

os.environ["GPUGRAPH_CONFIG"] = ""  # not whatever the user of this machine likes
os.environ["GPUGRAPH_OFFLINE"] = "1"  # no test asks anybody but itself
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would each compile the same modules
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # nobody's threads spin while other tests wait for the processor
for _name in ("GPUGRAPH_MIRROR", "GPUGRAPH_DATASETS", "GPUGRAPH_DATA_DIR"):
    os.environ.pop(_name, None)

# No property fails because the machine is slow, in drawing an example or in trying it.
settings.register_profile("patient", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("patient")

# A shell that starts the tests in the background, or nohup, has them ignore signals, and so would all that they start.
for _signal, _handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGTERM, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _handler)


def gpu_trouble() -> str | None:
    """Return why no GPU can be used, or None if one can."""
    from gpugraph.base.errors import DeviceUnavailable
    from gpugraph.devices.discovery import select_device

    try:
        device, _ = select_device("cuda")
    except DeviceUnavailable as error:
        return str(error)
    device.close()
    return None


LONG_SECONDS = 1800
"""The limit of a test marked ``long`` or ``thorough``; any other test has the limit in pyproject.toml."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)  # others finish what is left beside them
    for item in items:
        if item.get_closest_marker("long") or item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (trouble := gpu_trouble()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=trouble))


gc.set_threshold(50_000)  # new objects that are looked over for cycles at once: most of what comes now stays


MANY = 1000
"""Tests from which on it pays to compile first what most of them need."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was collected out of what is looked over for cycles; let workers of xdist share what is compiled."""
    gc.freeze()
    worker, workers = (os.environ.get(f"PYTEST_XDIST_WORKER{end}", "") for end in ("", "_COUNT"))
    if worker and len(session.items) >= MANY:
        from tests.compile_first import compile_share

        compile_share(int(worker.removeprefix("gw")), int(workers))


@pytest.fixture(autouse=True)
def _no_program_of_another_test() -> Iterator[None]:
    """Forget the programs that a command, a sweep or a test has made known as peers: others would list them."""
    yield
    if peers := sys.modules.get("gpugraph.ext.peers"):
        peers.register_commands({})


_SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "record.schema.json"
_VALIDATOR = jsonschema.Draft202012Validator(json.loads(_SCHEMA.read_text("utf-8")))


@pytest.fixture(autouse=True)
def _every_record_fits_the_published_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    written, store = Record.to_json, sys.modules.get("gpugraph.bench.store")

    def checked(record: Record, *, indent: int | None = None) -> str:
        text = written(record, indent=indent)
        _VALIDATOR.validate(json.loads(text))
        return text

    monkeypatch.setattr(Record, "to_json", checked)
    if store is not None:
        line_of = store.json_text

        def checked_line(data: Any, **style: Any) -> str:
            text = str(line_of(data, **style))
            if "problem" in data and "algorithm" in data:
                _VALIDATOR.validate(json.loads(text))
            return text

        monkeypatch.setattr(store, "json_text", checked_line)
