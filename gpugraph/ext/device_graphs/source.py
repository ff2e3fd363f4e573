"""Graphs on devices as an input source of ``gpugraph.graph.sources``."""

from gpugraph.ext.device_graphs.device_build import symmetrize_on_device
from gpugraph.ext.device_graphs.device_generate import generate_on_device

__all__ = ["generate_on_device", "symmetrize_on_device"]
