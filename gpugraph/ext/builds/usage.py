"""What compiled kernels use of a multiprocessor.

``python -m gpugraph.ext.builds.usage boruvka.cu -D INDEX_BITS=64 --arch sm_90`` prints registers and spills.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

from gpugraph.base.errors import GpuGraphError
from gpugraph.devices.base import KernelCompileError
from gpugraph.devices.kernels import KernelUsage, compile_kernels


def usage_table(kernels: Mapping[str, KernelUsage]) -> str:
    """Return registers, spills, stack and shared memory per kernel as aligned text."""
    width = max(map(len, kernels), default=6)
    rows = [f"{'kernel':<{width}}  registers  spill bytes  stack bytes  shared bytes"]
    for name, u in kernels.items():
        spills = u.spill_stores + u.spill_loads
        rows.append(f"{name:<{width}}  {u.registers:>9}  {spills:>11}  {u.stack_bytes:>11}  {u.shared_bytes:>12}")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile one file and print what its kernels use; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gpugraph.ext.builds.usage", description=main.__doc__)
    parser.add_argument("file")
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]")
    parser.add_argument("--arch", action="append", metavar="sm_90", help="may be given several times")
    options = parser.parse_args(arguments)
    defines = {name: value or "1" for name, _, value in (text.partition("=") for text in options.defines)}
    code = 0
    for arch in options.arch or ["sm_90"]:
        try:
            module = compile_kernels(options.file, defines, arch)
        except GpuGraphError as error:
            print(error.log if isinstance(error, KernelCompileError) else error, file=sys.stderr)
            code = error.exit_code
            continue
        warnings = [line for line in module.log.splitlines() if ": warning" in line]
        print("\n".join([f"{options.file} {arch}", *warnings, usage_table(module.kernels)]))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
