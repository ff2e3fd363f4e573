"""Which devices ranks work on: the list that ``--device`` names, and the one of them that is this rank's.

================  ===============================================================
``cuda:0,1``      two ranks, a GPU each
``cuda:all``      a rank for every GPU
``cpu*3``         three ranks on this machine's processors
``emulated*4``    four ranks with an emulated device each (``emulated:7*4``: seed 7)
================  ===============================================================

Under mpiexec or srun the ranks are there already, and ``cuda``, ``cpu`` or ``emulated`` is what each of them takes; of
several GPUs a rank takes the one of its number among the ranks of its machine.
"""

from __future__ import annotations

from gpugraph.errors import DeviceUnavailable, InputError

MOST_RANKS = 1024


def devices_of(text: str) -> list[str] | None:
    """Return the devices of the ranks that a text asks for, a name for each; None where it names one device.

    Raises:
        InputError: a device is named twice, or a number is none.
        DeviceUnavailable: there is no such GPU, or none at all.
    """
    name = text.strip().lower()
    where = f"--device {text}"
    if "*" in name:
        device, _, count = name.partition("*")
        if device.partition(":")[0] == "cuda":
            remedy = "write --device cuda:all, or e.g. cuda:0,1"
            raise InputError("GPUs are named one by one: a rank has one of its own", where=where, remedy=remedy)
        if not (count.isascii() and count.isdigit()) or not 1 <= int(count) <= MOST_RANKS:
            raise InputError(f"'{count}' is no number of ranks from 1 to {MOST_RANKS}", where=where)
        return [device] * int(count)
    kind, _, rest = name.partition(":")
    if kind != "cuda" or not ("," in rest or rest == "all"):
        return None
    if rest == "all":
        return [f"cuda:{index}" for index in range(gpus())]
    parts = [part.strip() for part in rest.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise InputError(f"'{part}' is not the index of a GPU", where=where, remedy="write e.g. cuda:0,1")
        if [int(other) for other in parts].count(int(part)) > 1:
            raise InputError(f"cuda:{int(part)} is named twice", where=where, remedy="a rank needs a GPU of its own")
    there = gpus()
    for part in parts:
        if int(part) >= there:
            known = f"there {'is one' if there == 1 else f'are {there}'}, counted from 0"
            raise DeviceUnavailable(f"there is no GPU {int(part)}: {known}", where=where)
    return [f"cuda:{int(part)}" for part in parts]


def device_of_rank(text: str, local: int, of: int) -> str:
    """Return the device of one of the ranks that an MPI has started.

    Args:
        text: what ``--device`` says.
        local: the rank's number among those of its machine.
        of: how many they are.

    Raises:
        InputError: there are more ranks on the machine than devices.
        DeviceUnavailable: there is no GPU.
    """
    if "*" in text:
        remedy = f"write --device {text.partition('*')[0]}"
        raise InputError("the ranks have been started already", where=f"--device {text}", remedy=remedy)
    kind = text.strip().lower()
    devices = devices_of(text)
    if devices is None:
        if kind != "cuda" or of == 1:
            if kind.startswith("cuda:") and of > 1:
                remedy = "write --device cuda: every rank takes a GPU of its own"
                raise InputError(f"{of} ranks cannot share {kind}", where=f"--device {text}", remedy=remedy)
            return kind
        devices = [f"cuda:{index}" for index in range(gpus())]
    if of > len(devices):
        raise InputError(
            f"{of} ranks on this machine, and {len(devices)} GPU{'' if len(devices) == 1 else 's'} for them",
            where=f"--device {text}",
            remedy=f"start {len(devices)} on it",
        )
    return devices[local]


def gpus() -> int:
    """Return how many GPUs there are.

    Raises:
        DeviceUnavailable: none, or CuPy is missing.
    """
    from gpugraph.devices.cuda_runtime import gpu_count, import_cupy
    from gpugraph.devices.discovery import check_installed

    check_installed()
    return int(gpu_count(import_cupy()))
