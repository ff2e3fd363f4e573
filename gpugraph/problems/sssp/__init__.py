"""Single-source shortest paths: the problem, its algorithms, its oracle and its certificate."""
