"""Graphs made, built and kept on a GPU."""
