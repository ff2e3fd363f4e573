"""What users' algorithms return, taken in by the ``accept(graph, query, returned)`` of a file for each problem."""
