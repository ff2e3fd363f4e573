"""Forests of papers."""

FILES = {"prim-naive": "gpu_prim", "boruvka-streamed": "gpu_boruvka_hybrid", "boruvka-prim": "gpu_boruvka_scan"}
"""Algorithm → the file that registers it, where that has another name."""
