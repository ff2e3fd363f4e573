"""Other libraries' interfaces to gpugraph, and a graph held ready for many calls."""
