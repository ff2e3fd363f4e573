"""From a CUDA source to a cubin on disk: flattened, compiled by NVRTC, kept in the cache of compiled code.

The cache key covers all that the machine code depends on: flattened source with its defines, options,
compiler version and architecture.  A run on a GPU and the compile check without one call the same function.

``python -m gpugraph.devices.kernels boruvka.cu -D INDEX_BITS=64 --arch sm_90`` prints registers and spills.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gpugraph import code_cache
from gpugraph.devices.base import Defines, KernelCompileError
from gpugraph.devices.cuda_source import Source, define_lines, load_source
from gpugraph.devices.nvrtc import compiler, parameter_sizes
from gpugraph.errors import DeviceUnavailable, GpuGraphError

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false", "-lineinfo", "--ptxas-options=-v")

_ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
_NUMBER = {
    "registers": re.compile(r"Used (\d+) registers"),
    "spill_stores": re.compile(r"(\d+) bytes spill stores"),
    "spill_loads": re.compile(r"(\d+) bytes spill loads"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "shared_bytes": re.compile(r"(\d+) bytes smem"),
}
_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.+)$", re.M)


@dataclass(frozen=True)
class KernelUsage:
    """What one kernel takes of a multiprocessor: registers per thread, the rest in bytes; 0 where nobody told."""

    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    stack_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True)
class CompiledModule:
    """A kernel file compiled for one architecture and one set of defines.

    Attributes:
        cubin_path: the cubin in the cache.
        kernels: usage by kernel name, in the assembler's order.
        log: what the compiler said.
        cached: True if nothing had to be compiled.
    """

    cubin_path: Path
    arch: str
    kernels: dict[str, KernelUsage]
    log: str
    cached: bool


def compile_kernels(file: str | os.PathLike[str], defines: Defines | None, arch: str) -> CompiledModule:
    """Compile a kernel file, or find it compiled in the cache.

    Args:
        file: a name inside ``cuda_kernels/``, or the path of a user's own .cu file.
        defines: preprocessor defines; they stand on top of the source.
        arch: the architecture, e.g. ``"sm_90"``.

    Raises:
        DeviceUnavailable: NVRTC is missing, or does not know the architecture.
        KernelCompileError: the source does not compile; ``log`` holds every diagnostic.
        InputError: no such file, or a define that is none.
    """
    source = load_source(file)
    text = define_lines(defines) + source.text
    options = (*OPTIONS, f"--gpu-architecture={arch}")
    nvrtc = compiler()
    key = hashlib.sha256(repr((options, nvrtc.version, source.name, text)).encode()).hexdigest()
    stem = f"{source.path.stem}-{arch}-{key[:32]}"
    found = _from_cache(f"{stem}.cubin", arch)
    if found is not None:
        return found
    result = nvrtc.compile(text, source.name, options)
    if result.status != "ok":
        raise _compile_error(source, arch, result.status, result.log, nvrtc.version)
    return _to_cache(f"{stem}.cubin", arch, result.cubin, result.log)


def architecture_for(capability: int) -> str:
    """Return the architecture to compile for on a GPU of a compute capability, 90 for 9.0.

    It is the GPU's own, or where the compiler is older than the GPU the nearest below of the same major
    number, whose code the GPU runs.

    Raises:
        DeviceUnavailable: NVRTC is missing, or knows none.
    """
    nvrtc = compiler()
    able = [a for a in nvrtc.architectures if a // 10 == capability // 10 and a <= capability]
    if not able:
        raise _unknown_architecture(f"sm_{capability}", nvrtc.version)
    return f"sm_{max(able)}"


def parse_usage(log: str) -> dict[str, KernelUsage]:
    """Return what each kernel uses, from the assembler's verbose log."""
    entries = list(_ENTRY.finditer(log))
    usage = {}
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        end = following.start() if following else len(log)
        part = log[entry.end() : end]
        numbers = {name: pattern.search(part) for name, pattern in _NUMBER.items()}
        usage[entry[1]] = KernelUsage(**{name: int(m[1]) if m else 0 for name, m in numbers.items()})
    return usage


def _from_cache(name: str, arch: str) -> CompiledModule | None:
    """Return the module in the cache; None if it is not there as it was written."""
    entry = code_cache.find("cubins", name)
    if entry is None:
        return None
    try:
        kernels = {name: KernelUsage(**usage) for name, usage in entry.facts["kernels"].items()}
        return CompiledModule(entry.path, arch, kernels, entry.facts["log"], cached=True)
    except (AttributeError, KeyError, TypeError):
        return None


def _to_cache(name: str, arch: str, cubin: bytes, log: str) -> CompiledModule:
    # NVRTC may keep what it compiled before, under other defines: then the assembler says nothing, and only the cubin
    # tells which kernels there are.
    kernels = dict.fromkeys(parameter_sizes(cubin), KernelUsage()) | parse_usage(log)
    facts = {"kernels": {name: asdict(usage) for name, usage in kernels.items()}, "log": log}
    path = code_cache.keep("cubins", name, cubin, facts)
    return CompiledModule(path, arch, kernels, log, cached=False)


def _compile_error(source: Source, arch: str, status: str, log: str, version: tuple[int, int]) -> GpuGraphError:
    if status == "invalid option" and "architecture" in log:
        return _unknown_architecture(arch, version)
    first = _DIAGNOSTIC.search(log)
    where = f"{first['file']} line {first['line']}" if first else source.name
    said = first["text"] if first else (log.splitlines() or ["the compiler gave no reason"])[0]
    remedy = "report this with the whole log" if source.ours else "correct the kernel"
    again = f"see all with: python -m gpugraph.devices.kernels {source.path} --arch {arch}"
    return KernelCompileError(
        f"does not compile for {arch}: {said}", where=where, remedy=f"{remedy}; {again}", log=log, ours=source.ours
    )


def _unknown_architecture(arch: str, version: tuple[int, int]) -> DeviceUnavailable:
    number = re.match(r"sm_(\d+)", arch)
    if number is not None and int(number[1]) < 75:
        remedy = "GPUs older than sm_75 need the CUDA 12 compiler: pip install 'gpugraph[cuda12]'"
    else:
        remedy = "give an architecture as sm_90, or update the compiler: pip install -U 'gpugraph[cuda13]'"
    return DeviceUnavailable(f"NVRTC {version[0]}.{version[1]} cannot compile for {arch}", remedy=remedy)


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
    parser = argparse.ArgumentParser(prog="python -m gpugraph.devices.kernels", description=main.__doc__)
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
