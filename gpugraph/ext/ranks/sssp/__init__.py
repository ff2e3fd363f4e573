"""Shortest paths by several ranks."""
