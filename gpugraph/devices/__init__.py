"""Devices: where kernels come from, where they run, and what there is."""
