"""Data sets by name, for instance ``snap:roadNet-CA``: the registry, fetching, and the cache.

The environment says what may differ from user to user, so that processes that are started know it too.
"""

OFFLINE = "GPUGRAPH_OFFLINE"
"""Forbids fetching; ``--offline`` and the user's own defaults set it."""

MIRROR = "GPUGRAPH_MIRROR"
"""Names a URL under which ``COLLECTION/NAME/FILE`` is asked for first."""

OWN = "GPUGRAPH_DATASETS"
"""Names a user's own list of data sets."""

FOLDER = "GPUGRAPH_DATA_DIR"
"""Names the folder that data sets are kept in; else it is ``datasets`` in the cache folder."""
