"""Connected components: labels, algorithms, oracle and certificate."""

from gpugraph.problems import Command, result_column

COMMAND = Command(
    title="Connected components",
    help="""Find the connected components of GRAPH, time them and verify them.

    GRAPH is a file, a spec such as rmat:20 or a data set such as snap:roadNet-CA (default: `gpugraph config`).
    A directed graph has weakly connected components. The label of a vertex is the smallest vertex of its
    component.

    Example:
      gpugraph components rmat:12 --repeat 10 -o labels.npz
    """,
    columns=(result_column("components"), result_column("largest"), result_column("labels_sha256", identifies=True)),
)
