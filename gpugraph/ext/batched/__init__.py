"""Shortest paths from several sources in one run."""
