"""Skip what needs a C++ compiler where there is none."""

from __future__ import annotations

import pytest

from gpugraph.base.errors import DeviceUnavailable
from gpugraph.ext.emulator.toolchain import find_compiler


def _missing() -> str:
    try:
        find_compiler()
    except DeviceUnavailable as error:
        return str(error)
    return ""


needs_compiler = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is a compiler")
