"""Tables of distances between two lists of vertices."""
