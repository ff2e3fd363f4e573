"""The NetworkX backend: ``nx.minimum_spanning_tree(G, backend="gpugraph")``."""
