"""Algorithms for shortest paths from several sources in one run."""
