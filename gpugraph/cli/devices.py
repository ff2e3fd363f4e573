"""``gpugraph devices``."""

from __future__ import annotations

from typing import Any

import click

from gpugraph.cli.options import command, table_or_json


@command
@click.option("--probe/--no-probe", default=True, show_default=True, help="Run a kernel on each GPU and measure it.")
@table_or_json
def devices(probe: bool, style: str, quiet: bool) -> None:
    """List the devices, what is missing where one cannot be used, and what a GPU can do at most.

    Each usable GPU compiles and runs a kernel of one line, then its bandwidths and latencies are measured.

    Example:
      gpugraph devices
    """
    import json

    from gpugraph.cli.output import show, show_lines
    from gpugraph.cli.progress import Progress
    from gpugraph.devices.discovery import found_devices
    from gpugraph.report.listings import device_list

    with Progress(quiet=quiet) as progress:
        progress("looking for devices")
        found = found_devices()
        for device in found if probe else ():
            if device["kind"] == "cuda" and device["usable"]:
                progress(f"measuring {device['device']}")
                device |= _probed(device["device"])
    if style == "json":
        show(json.dumps(found, ensure_ascii=False))
    else:
        show_lines(device_list(found))


def _probed(name: str) -> dict[str, Any]:
    """Return what the probes of a GPU give, or that it is not usable and why."""
    from gpugraph.devices.discovery import select_device
    from gpugraph.devices.probes import run_probes
    from gpugraph.errors import GpuGraphError

    try:
        device, _ = select_device(name)
        try:
            return {"probes": run_probes(device).to_dict()}
        finally:
            device.close()
    except GpuGraphError as error:
        return {"usable": False, "detail": str(error)}
