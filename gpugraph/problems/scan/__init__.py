"""Prefix sums and segmented minima of an array: the problem, its algorithms, its oracles and its certificates."""
