"""Prefix sums and segmented minima of an array: the problem, its algorithms, its oracles and its certificates."""

from collections.abc import Mapping
from typing import Any

import click

from gpugraph.base.errors import InputError
from gpugraph.base.quantities import duration, rate
from gpugraph.problems import TABLE, Column, Command, result_column

DEFAULT_SIZE = "64MiB"

FILES = {
    **dict.fromkeys(("reduce-then-scan", "reduce-then-scan-multilevel", "scan-then-propagate"), "gpu_scan"),
    **dict.fromkeys(("brent-kung", "sklansky", "kogge-stone", "look-back", "cub"), "gpu_scan"),
    **dict.fromkeys(("cpu", "segmented-min"), "cpu_scan"),
}
"""Algorithm → the file that registers it, where that has another name."""


def _arrange(options: dict[str, Any]) -> dict[str, Any]:
    """Put the array's spec in the place of the options that say what it is.

    Raises InputError if an option says what the array says already.
    """
    array, size, dtype, seed = (options.pop(name) for name in ("array", "size", "dtype", "seed"))
    exclusive, segments = options.pop("exclusive"), options.pop("segments")
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


def _speeds(found: Mapping[str, Any]) -> str:
    names = {"h2d": "to the device", "kernel": "the kernel", "d2h": "back"}
    parts = [f"{text} {rate(found[f'{key}_gb_s'])}" for key, text in names.items() if found[f"{key}_gb_s"]]
    return ", ".join(parts) + " of the array" if parts else "none: the array is empty"


def _transferred(cell: Any) -> Mapping[str, Any] | None:
    """Return the throughput of an array that went to a device and back."""
    found: Mapping[str, Any] = cell.record.shape.throughput
    return found if found.get("h2d_gb_s") else None


def _total(found: Mapping[str, Any]) -> str:
    shares = f"{found['transfers_share']:.0%} of it transfers"
    return f"{duration(found['total_s'])} with allocation and both transfers, {shares}"


COMMAND = Command(
    title="Prefix sums",
    help="""Scan ARRAY, time it and verify it: prefix sums, or minima of segments.

    ARRAY is a .npy file or a spec such as array:n=2^27,dtype=uint64; without one, --size and --dtype
    describe a generated array. Sums of integers wrap. The result goes to a .npy file, with positions of minima to .npz.

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
        click.option("--exclusive", is_flag=True, help="Element i gets the sum of the elements before it."),
        click.option("--segments", metavar="LENGTH", help="Compute minima of segments of this average length."),
    ),
    arrange=_arrange,
    columns=(
        result_column("elements"),
        result_column("last"),
        result_column("digest"),
        Column("throughput", "GB/s", text=_speeds, shown=(TABLE,)),
        Column("throughput.total_s", "total", _transferred, _total, shown=(TABLE,)),
    ),
)
