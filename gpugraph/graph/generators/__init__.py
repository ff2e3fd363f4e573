"""The generators, a file per kind of graph: ``arcs_of_<family>(values, seed, run) -> (tails, heads, weights)``.

Every draw is a hash of (seed, index), so that a spec gives the same graph bit for bit whatever the number of
threads, and a device can compute the same (formulas in ``hashing.py`` and in each generator's docstring).

Weights None stands for hashed ones, as the spec says.
"""
