"""What options change of a graph: other weights, and other orders and forms for algorithms."""
