"""The printers of quantities, by the names that reports use."""

from gpugraph.quantities import count, counted, duration, percent, rate, value
from gpugraph.quantities import in_units as size

__all__ = ["count", "counted", "duration", "percent", "rate", "size", "value"]
