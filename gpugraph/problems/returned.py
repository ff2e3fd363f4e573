"""What a user's own algorithm returned, before it becomes a result: plain arrays, or an error that says what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.errors import InputError


def plain_array(returned: Any, dtypes: str, shape: tuple[int, ...] | None, wanted: str, remedy: str) -> NDArray[Any]:
    """Return a copy of an array in native byte order: nobody else holds it, and no subclass has a say in it.

    Args:
        returned: what came back.
        dtypes: names of the dtypes it may have, or kinds (``"iu"``), separated by blanks.
        shape: what it must have; None for any one dimension.
        wanted: what it should have been, for the message.
        remedy: what to return instead.

    Raises:
        InputError: it is something else.
    """
    if isinstance(returned, np.ndarray):
        array = np.array(returned, returned.dtype.newbyteorder("="), order="C", copy=True, subok=False)
        fits = array.ndim == 1 if shape is None else array.shape == shape
        if fits and (array.dtype.name in dtypes.split() or array.dtype.kind in dtypes.split()):
            return array
        returned = array
    what = f"{returned.dtype} of shape {returned.shape}" if isinstance(returned, np.ndarray) else None
    raise InputError(f"run returned {what or f'a {type(returned).__name__}'}, not {wanted}", remedy=remedy)
