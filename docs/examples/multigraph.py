"""Run a program on a graph with loops and duplicate edges: multigraph.py PROGRAM ARGUMENT...

The argument that ends in .egr names a simple graph. The program gets another file in its place, in which every vertex
has a loop of weight 1 and every edge a copy before it that weighs 1 more. The weight of a forest, distances and
components are those of the simple graph.
"""

import os
import sys
from array import array


def doubled(path: str) -> str:
    """Write the graph of an .egr file with loops and duplicate edges to a file beside it; return its path."""
    with open(path, "rb") as simple:
        numbers = array("i", simple.read())
    vertices, arcs = numbers[:2]
    offsets, ends = numbers[2 : vertices + 3], numbers[vertices + 3 :]
    targets, weights = array("i"), array("i")
    for vertex in range(vertices):
        targets.append(vertex)
        weights.append(1)
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            targets.extend((ends[arc], ends[arc]))
            weights.extend((ends[arcs + arc] + 1, ends[arcs + arc]))
    starts = array("i", (2 * offset + vertex for vertex, offset in enumerate(offsets)))
    with open(f"{path}.multigraph.egr", "wb") as file:
        for part in (array("i", (vertices, len(targets))), starts, targets, weights):
            part.tofile(file)
    return file.name


if __name__ == "__main__":
    words = [doubled(word) if word.endswith(".egr") else word for word in sys.argv[1:]]
    os.execvp(words[0], words)
