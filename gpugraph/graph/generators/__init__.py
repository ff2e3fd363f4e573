"""The families of graphs, a module per kind: parameters, size, and how host and device draw the arcs."""
