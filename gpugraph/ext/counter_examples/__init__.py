"""What shows that a result is wrong: a part of its graph, small enough to be drawn."""
