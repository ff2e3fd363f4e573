"""Forests of papers."""

FILES = {"boruvka-streamed": "gpu_boruvka_hybrid", "boruvka-prim": "gpu_boruvka_scan"}
"""Algorithm → the file that registers it, where that has another name."""
