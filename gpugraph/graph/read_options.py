"""``ReadOptions``: how a graph is read, and changed once it is read; and how data sets are fetched."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ReadOptions:
    """What a user states about a graph that its source does not state, and how it is changed.

    Attributes:
        input_format: the name of a file's format; None: recognised by content, else by name.
        keep_ids: a file that only lists ids has the vertices 0 to the largest, whether or not all occur.
        vertices: how many there are, those without an edge included; None where that is not said.
        directed: every line is an arc; False: an edge, both ways; None: an edge list in which every arc has its reverse
            is undirected, any other directed.  Of a tuple of arrays False asserts that every arc has its reverse.
        columns: of a table, ``"src,dst,weight"``: names, or numbers from 1 on; ``""``: the first two or three.
        weight: of edges with named attributes, the one that weighs them; None: ``weight``; ``""``: every edge weighs 1.
        weights: replaces the weights once the graph is read: ``"unit"``, ``"abs"``, ``"hash:LO..HI"`` or
            ``"uniform:LO..HI"``; ``"file"`` keeps them.
        symmetrize: makes a directed graph undirected once it is read; the lighter arc of a pair wins.
        seed: of uniform weights.
    """

    input_format: str | None = None
    keep_ids: bool = False
    vertices: int | None = None
    directed: bool | None = None
    columns: str = ""
    weight: str | None = None
    weights: str = "file"
    symmetrize: bool = False
    seed: int = 1

    @property
    def random_weights(self) -> bool:
        """Whether the seed decides the weights."""
        return self.weights.startswith("uniform")

    def of_file(self) -> "ReadOptions":
        """Return the options without those that change a graph once it is read.

        Where new weights replace those of a file, none of its attributes has to weigh.
        """
        replaced = self.weight is None and self.weights.partition(":")[0] not in ("file", "abs")
        weight = "" if replaced else self.weight
        return replace(self, weights="file", symmetrize=False, seed=1, weight=weight)


STATED = ("keep_ids", "vertices", "directed", "columns", "weight")
"""The options that say of a file what it does not say itself."""

AS_GIVEN = ReadOptions()
"""Nothing is stated, and nothing changed."""

OFFLINE = "GPUGRAPH_OFFLINE"
"""The variable that forbids fetching; ``--offline`` and the user's own defaults set it."""

MIRROR = "GPUGRAPH_MIRROR"
"""The variable that names a URL under which ``COLLECTION/NAME/FILE`` is asked for first."""

OWN = "GPUGRAPH_DATASETS"
"""The variable that names a user's own list of data sets."""

PREPARATIONS = ("sort-adjacency", "renumber", "rank-weights", "compress")
"""What a graph may go through before an algorithm gets it (``view.py``)."""
