"""When a record's MTEPS may be shown: verified, and measured on a device whose times mean something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EMULATED = "times on the emulated device are not performance; no MTEPS is given"
UNVERIFIED = "the result is not verified; no MTEPS is given"


def why_no_rates(data: Mapping[str, Any]) -> str | None:
    """Return the sentence that stands in place of MTEPS, or None if they may be shown."""
    if (data.get("verification") or {}).get("status") != "passed" or data.get("outcome", "ok") != "ok":
        return UNVERIFIED
    if (data.get("device") or {}).get("kind") == "emulated":
        return EMULATED
    return None


def shown_rate(data: Mapping[str, Any], which: str) -> float | None:
    """Return ``mteps.kernel`` or ``mteps.end_to_end``, or None where it must not be shown."""
    rate = (data.get("mteps") or {}).get(which)
    return None if rate is None or why_no_rates(data) else float(rate)
