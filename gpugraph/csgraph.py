"""SciPy's names: ``gpugraph.csgraph.minimum_spanning_tree`` and the others, by ``gpugraph/ext/csgraph.py``."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("gpugraph.ext.csgraph")
