"""The libraries that gpugraph knows as peers; each is described in ``NAME_peer.py``."""

LIBRARIES = ("scipy", "networkx", "igraph", "networkit", "rustworkx", "cugraph")
