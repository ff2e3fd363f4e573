"""Turn a flattened ``.cu`` file into the C++ translation unit that the emulator compiles.

The one construct that C++ cannot be taught by a macro, ``extern __shared__ T name[];``, is rewritten; everything else
is compiled as it stands.  The list of kernels goes behind it, and C++ itself deduces their parameter types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+__shared__\s+((?:__align__\s*\([^()]*\)|alignas\s*\([^()]*\)|[\w:<>,\s])+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_ALIGNMENT = re.compile(r"(?:__align__|alignas)\s*\([^()]*\)")
_KERNEL = re.compile(r"[^;{}]*\b__global__\b[^;{}]*[;{]")
_SIGNATURE = re.compile(r"\bvoid\s+(\w+)\s*\(")
_BLANKED = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_SCOPE = re.compile(r"(\bnamespace\b[^;{}()]*|\bextern\s*)?\{|\}")

KERNEL_LIST = "kernel list"
"""What diagnostics call the part of a translation unit that is nobody's file."""


@dataclass(frozen=True)
class KernelName:
    """A kernel found in a file: its name and the first argument of its ``__launch_bounds__`` (or ``"0"``)."""

    name: str
    max_threads: str = "0"


def rewrite_dynamic_shared(text: str) -> str:
    """Replace ``extern __shared__ T name[];`` by a pointer, or at namespace scope by an object that acts as one.

    Line breaks inside the declaration are kept, so that line numbers stay.
    """
    masked = _BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    pieces: list[str] = []
    end = 0
    for match in _DYNAMIC_SHARED.finditer(masked):
        element = " ".join(_ALIGNMENT.sub("", match[1]).split())
        inside = _inside_function(masked[: match.start()])
        pieces.append(text[end : match.start()])
        pieces.append(
            f"{element}* const {match[2]} = static_cast<{element}*>(simt_dynamic_shared());"
            if inside
            else f"static const simt::DynamicShared<{element}> {match[2]};"
        )
        pieces.append("\n" * match[0].count("\n"))
        end = match.end()
    return "".join(pieces) + text[end:]


def _inside_function(before: str) -> bool:
    """Tell whether a position is inside braces other than those of a namespace or a linkage block."""
    open_braces: list[bool] = []
    for match in _SCOPE.finditer(before):
        if match[0] != "}":
            open_braces.append(match[1] is None)
        elif open_braces:
            open_braces.pop()
    return any(open_braces)


def find_kernels(preprocessed: str) -> list[KernelName]:
    """Return the kernels of a preprocessed text, templates left out, in the order they stand."""
    found: dict[str, KernelName] = {}
    for match in _KERNEL.finditer(preprocessed):
        if re.search(r"\btemplate\b", match[0]):
            continue
        head, bound = _cut_launch_bounds(match[0])
        signature = _SIGNATURE.search(head)
        if signature:
            found.setdefault(signature[1], KernelName(signature[1], bound))
    return list(found.values())


def _cut_launch_bounds(statement: str) -> tuple[str, str]:
    """Return the statement without ``__launch_bounds__(...)``, and the bound on threads in it."""
    start = statement.find("__launch_bounds__")
    if start < 0:
        return statement, "0"
    opening = statement.index("(", start)
    depth, comma = 0, None
    for at in range(opening, len(statement)):
        depth += {"(": 1, ")": -1}.get(statement[at], 0)
        if statement[at] == "," and depth == 1 and comma is None:
            comma = at
        if depth == 0:
            return statement[:start] + statement[at + 1 :], statement[opening + 1 : comma or at].strip()
    return statement, "0"


def translation_unit(text: str, kernels: Sequence[KernelName]) -> str:
    """Return the C++ text to compile: the shim, the kernel file, and the list of its kernels."""
    entries = ",\n".join(
        f'    simt::Entry<&{k.name}>::describe_as("{k.name}", static_cast<uint32_t>({k.max_threads}))' for k in kernels
    )
    registry = (
        f'#line 1 "{KERNEL_LIST}"\n'
        'extern "C" {\n'
        f"extern const simt::Kernel simt_kernels[] = {{\n{entries}\n}};\n"
        f"extern const uint32_t simt_kernel_count = {len(kernels)};\n"
        "}\n"
    )
    return f'#include "device_code.h"\n{text}\n{registry}'
