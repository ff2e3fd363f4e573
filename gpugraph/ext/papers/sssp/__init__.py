"""Shortest paths of papers."""
