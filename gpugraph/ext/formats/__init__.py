"""Formats of other programs' graph files."""
