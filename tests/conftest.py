"""What all tests share: those marked ``gpu`` are skipped where no GPU is usable."""

from __future__ import annotations

import os

import pytest

os.environ["GPUGRAPH_CONFIG"] = ""  # not whatever the user of this machine likes


def gpu_trouble() -> str | None:
    """Return why no GPU can be used, or None if one can."""
    from gpugraph.devices.discovery import select_device
    from gpugraph.errors import DeviceUnavailable

    try:
        device, _ = select_device("cuda")
    except DeviceUnavailable as error:
        return str(error)
    device.close()
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (trouble := gpu_trouble()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=trouble))
