"""Prefix sums and segmented minima of an array: the problem, its algorithms, its oracles and its certificates."""

from __future__ import annotations

import os
from typing import Any

import click

from gpugraph.base.errors import InputError
from gpugraph.problems import Command

DEFAULT_SIZE = "64MiB"

FILES = {
    **dict.fromkeys(("reduce-then-scan", "reduce-then-scan-multilevel", "scan-then-propagate"), "gpu_scan"),
    **dict.fromkeys(("brent-kung", "sklansky", "kogge-stone", "look-back", "cub"), "gpu_scan"),
    **dict.fromkeys(("cpu", "segmented-min"), "cpu_scan"),
}
"""Algorithm → the file that registers it, where that has another name."""


def _arrange(options: dict[str, Any]) -> dict[str, Any]:
    """Put the array's spec in the place of the options that say what it is.

    Raises InputError if an option says what the array says already, or the result would overwrite the array.
    """
    array, size, dtype, seed = (options.pop(name) for name in ("array", "size", "dtype", "seed"))
    exclusive, segments, output = options.pop("exclusive"), options.pop("segments"), options["output"]
    if array and output and os.path.exists(array) and os.path.exists(output) and os.path.samefile(array, output):
        raise InputError("is the array itself and would be overwritten", where=output, remedy="name another file")
    known = {"seed": seed, "exclusive": "yes" if exclusive else None, "segments": segments}
    how = [f"{key}={value}" for key, value in known.items() if value is not None]
    if array is None:
        spec = ",".join([f"array:size={size or DEFAULT_SIZE}", f"dtype={dtype or 'uint32'}", *how])
        return {"graph": spec, **options}
    for option, given in (("--size", size), ("--dtype", dtype)):
        if given is not None:
            raise InputError(f"{option} is that of a generated array", where=array, remedy=f"leave out {option}")
    if how:
        spec = array.removeprefix("array:") if array.startswith("array:") else f"file={array}"
        array = ",".join(["array:" + ",".join(how), spec])
    return {"graph": array, **options}


COMMAND = Command(
    help="""Scan ARRAY, time it and verify it: prefix sums, or minima of segments.

    ARRAY is a .npy file or a spec such as array:n=2^27,dtype=uint64; without one, --size and --dtype say what is
    generated. Sums of integers wrap. The result goes to a .npy file, with positions of minima to .npz.

    Example:
      gpugraph scan --size 16MiB --algo cpu --exclusive
    """,
    on_graph=False,
    options=(
        click.argument("array", required=False, metavar="[ARRAY]"),
        click.option(
            "--size", metavar="SIZE", help=f"Bytes of a generated array, e.g. 512MiB.  [default: {DEFAULT_SIZE}]"
        ),
        click.option(
            "--dtype", metavar="TYPE", help="uint32, int32, uint64, int64, float32, float64.  [default: uint32]"
        ),
        click.option("--seed", type=int, metavar="N", help="Of a generated array.  [default: 1]"),
        click.option("--exclusive", is_flag=True, help="Element i gets the sum of those before it, without itself."),
        click.option("--segments", metavar="LENGTH", help="Scan minima of segments of that average length, not sums."),
    ),
    arrange=_arrange,
)
