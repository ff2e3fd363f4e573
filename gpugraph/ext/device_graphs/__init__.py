"""Graphs made and built on a GPU."""
