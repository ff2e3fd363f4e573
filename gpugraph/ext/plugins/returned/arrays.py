"""What a user's algorithm returned, taken in: nothing of it is trusted, and nobody else holds the copy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpugraph.base.errors import InputError


def numbers(returned: object) -> Any:
    """Return a list or a tuple of numbers, or of pairs of them, as an array; anything else as it is."""
    if isinstance(returned, list | tuple):
        array = np.array(returned if len(returned) else np.zeros(0, np.int64))
        return array if array.dtype.kind in "iuf" else returned
    return returned


def plain_array(returned: object, dtypes: str, shape: tuple[int, ...] | None, wanted: str, remedy: str) -> NDArray[Any]:
    """Return a copy of an array in native byte order: nobody else holds it, and no subclass has a say in it.

    Its dtype is one of ``dtypes``, names or kinds separated by blanks; ``shape`` None is any one dimension.  ``wanted``
    is what it should have been, for the message, and ``remedy`` what to return instead.  Raises InputError for anything
    else.
    """
    if isinstance(returned, np.ndarray):
        array = np.array(returned, returned.dtype.newbyteorder("="), order="C", copy=True, subok=False)
        fits = array.ndim == 1 if shape is None else array.shape == shape
        if fits and (array.dtype.name in dtypes.split() or array.dtype.kind in dtypes.split()):
            return array
        returned = array
    what = f"{returned.dtype} of shape {returned.shape}" if isinstance(returned, np.ndarray) else None
    raise InputError(f"run returned {what or f'a {type(returned).__name__}'}, not {wanted}", remedy=remedy)
