"""Minimum spanning forests: the problem, its algorithms, its oracle and its certificate."""
