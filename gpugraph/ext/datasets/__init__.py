"""Data sets by name, for instance ``snap:roadNet-CA``: the registry, fetching, and the cache.

The environment says what may differ from user to user, so that processes that are started know it too: see also
``gpugraph.graph.read_options``.
"""

FOLDER = "GPUGRAPH_DATA_DIR"
"""Names the folder that data sets are kept in; else it is ``datasets`` in the cache folder."""
