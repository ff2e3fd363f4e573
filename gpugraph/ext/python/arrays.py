"""Arrays of any library, and lists, as ids, weights and rows.

Every number is taken exactly or refused: no integer is rounded to a real, and no byte order is misread.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpugraph.base.errors import DeviceUnavailable, InputError, shown
from gpugraph.base.quantities import counted
from gpugraph.graph.build import ArcList, RowTails, narrow_weights
from gpugraph.graph.check import offsets_fault
from gpugraph.graph.csr import WEIGHT_DTYPES

_WIDER = {"bool": "uint32", "uint8": "uint32", "uint16": "uint32", "int8": "int32", "int16": "int32"}
_WIDER["float16"] = "float32"
INTEGERS = (int, np.integer, np.bool_)
REALS = (float, np.float16, np.float32)


def on_host(array: object) -> Any:
    """Return an array of another library as NumPy's: shared where it lies in the host's memory, else copied there."""
    if isinstance(array, np.ndarray | list | tuple):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        if hasattr(array, "get"):
            return array.get()  # CuPy's
        try:
            import cupy

            return cupy.asarray(array).get()
        except Exception as error:  # no CuPy, or no GPU for it
            what = f"an array of {type(array).__name__} lies on a GPU and cannot be read: {error}"
            raise DeviceUnavailable(what, remedy="copy it to the host, or pip install 'gpugraph[cuda13]'") from error
    if hasattr(array, "__dlpack__"):
        try:
            return np.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            if hasattr(array, "__array__"):
                return array
            raise InputError(f"an array of {type(array).__name__} cannot be shared: {error}") from error
    return np.asarray(array) if hasattr(array, "__arrow_c_stream__") else array  # a column of pandas or Polars


def array_of(values: object, what: str) -> NDArray[Any]:
    """Return values as a one-dimensional array, of whatever type and byte order."""
    values = on_host(values)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"the {what} are masked in part", remedy="fill or drop the masked entries")
    try:
        array = np.asarray(values)
    except Exception as error:  # lists of unequal lists; arrays of other libraries that lie on a device
        raise InputError(f"the {what} cannot be taken as an array: {error}", remedy="give a NumPy array") from error
    if array.ndim != 1:
        shape = f"{counted(array.ndim, 'dimension')}, as {type(values).__name__}"
        raise InputError(f"the {what} have {shape}", remedy="give a list, or an array of one dimension")
    return array


def _indices(values: object, what: str) -> NDArray[Any]:
    """Return offsets or targets as an array of integers."""
    array = array_of(values, what)
    if array.dtype.kind not in "iu" and len(array):
        raise InputError(f"the {what} are of type {array.dtype}", remedy="give integers")
    return array if len(array) else np.zeros(0, np.int64)


def weights_of(values: ArrayLike, name: Callable[[int], str]) -> NDArray[Any]:
    """Return an array, or a list or tuple of numbers, exactly as weights; ``name(i)`` is what messages call one."""
    if isinstance(values, list | tuple):
        weights = _weights_of_numbers(list(values), name)
    elif (weights := array_of(values, "weights")).dtype.hasobject:
        weights = _weights_of_numbers(list(weights), name)
    dtype = _WIDER.get(weights.dtype.name, weights.dtype.name)
    if dtype not in WEIGHT_DTYPES:
        raise InputError(f"weights of type {weights.dtype} are not supported", remedy=f"use {', '.join(WEIGHT_DTYPES)}")
    # The name of a type leaves its byte order out: this is where big-endian weights are turned round.
    return without_nan(np.ascontiguousarray(weights, dtype), name)


def without_nan(weights: NDArray[Any], name: Callable[[int], str]) -> NDArray[Any]:
    """Return weights; raise InputError if one is NaN."""
    if weights.dtype.kind == "f" and np.isnan(weights).any():
        raise InputError(f"{name(int(np.isnan(weights).argmax()))} is NaN", remedy="give every weight a value")
    return weights


def _weights_of_numbers(values: list[Any], name: Callable[[int], str]) -> NDArray[Any]:
    """Return numbers in the narrowest integer type that holds them all, or in their floating type, exactly."""
    kinds = set(map(type, values))
    # To NumPy a time is an integer.
    whole = {kind for kind in kinds if issubclass(kind, INTEGERS) and not issubclass(kind, np.timedelta64)}
    real = {kind for kind in kinds if issubclass(kind, REALS)}
    for strange in kinds - whole - real:
        at = next(i for i, value in enumerate(values) if type(value) is strange)
        what = f"{name(at)} is {shown(values[at])}, of type {strange.__name__}"
        raise InputError(what, remedy="give integers or floats")
    if not real:
        return _whole_numbers(values, name)
    if not whole:
        return np.array(values, np.float64 if any(issubclass(kind, float) for kind in real) else np.float32)
    try:
        weights = np.array([float(value) for value in values])
    except OverflowError:
        weights = np.full(len(values), np.inf)
    for at in np.flatnonzero(np.abs(weights) >= 2.0**53).tolist():
        value, held = values[at], float(weights[at])
        if isinstance(value, INTEGERS) and (math.isinf(held) or int(held) != int(value)):
            what = f"{name(at)} is {shown(value)}, which beside floats has no exact value in 64 bits"
            raise InputError(what, remedy="give integers only, or smaller ones")
    return weights


def _whole_numbers(values: list[Any], name: Callable[[int], str]) -> NDArray[Any]:
    try:
        return narrow_weights(np.fromiter(values, np.int64, len(values)))
    except OverflowError:
        exact = np.array([int(value) for value in values], object)
    try:
        return narrow_weights(exact)
    except InputError:
        low, high = int(exact.argmin()), int(exact.argmax())
        what = f"{name(low)} is {shown(exact[low])} and {name(high)} is {shown(exact[high])}"
        raise InputError(f"{what}: no integer type of 64 bits holds both", remedy="scale the weights") from None


def by_position(i: int) -> str:
    """Return what messages call a weight of an array."""
    return f"the weight at position {i}"


def arcs_of_rows(starts: Any, heads: Any, weights: Any, *, directed: bool | None = None) -> ArcList:
    """Return the arcs of rows: offsets (n+1,), targets (arcs,), weights (arcs,) or None; else an InputError."""
    offsets, targets = _indices(starts, "offsets"), _indices(heads, "targets")
    if fault := offsets_fault(offsets, len(targets)) if len(offsets) else "there are no row offsets":
        raise InputError(fault, remedy="give n + 1 offsets, where the rows begin, and last the number of targets")
    vertices = len(offsets) - 1
    if len(targets) and (int(targets.min()) < 0 or int(targets.max()) >= vertices):
        raise InputError(f"a target lies outside [0, {vertices})", remedy="number the vertices from 0")
    plain = None if weights is None else weights_of(weights, by_position)
    if plain is not None and len(plain) != len(targets):
        what = f"{counted(len(plain), 'weight')} for {counted(len(targets), 'target')}"
        raise InputError(what, remedy="give one weight for each target, or None")
    tails = RowTails(offsets.astype(np.int64)).on_host()
    return ArcList(tails, targets.astype(tails.dtype), plain, vertices, directed=directed)
