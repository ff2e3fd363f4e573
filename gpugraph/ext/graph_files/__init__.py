"""Graphs made, written, described and checked, without a measurement."""
