"""Dijkstra's algorithm with a compound frontier on a GPU (F-GPU): relax, minimum, update.

The driver is ``compound.py``; the kernels and their invariants are in ``cuda_kernels/dijkstra.cu``.

Source: P. J. Martín, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4.
"""

from __future__ import annotations

from gpugraph.devices.base import Device
from gpugraph.devices.resident import ResidentView
from gpugraph.problems.algorithm import Algorithm
from gpugraph.problems.least_traffic import distance_bytes
from gpugraph.problems.registry import register
from gpugraph.problems.sssp import compound
from gpugraph.problems.sssp.compound import State, Strategy, fetch, finish, run
from gpugraph.problems.sssp.compound_algorithms import compile_kernels
from gpugraph.problems.sssp.mirrored_array import GPU

STRATEGY = Strategy("push", GPU, "atomic", GPU)


def prepare(view: ResidentView, device: Device) -> State:
    """Return the arrays of F-GPU on the device."""
    return State(view, device, STRATEGY)


def state_bytes(view: ResidentView) -> int:
    """Return the bytes that ``prepare`` allocates; a restart in 64 bits takes 8 more for each vertex."""
    return compound.state_bytes(view, STRATEGY)


register(
    Algorithm(
        problem="sssp",
        name="dijkstra",
        devices=("cuda", "emulated"),
        summary="compound frontier: relax with atomicMin, minimum, update",
        authors="Martín, Torres, Gavilanes",
        year=2009,
        section="4: F-GPU",
        prepare=prepare,
        run=run,
        fetch=fetch,
        finish=finish,
        compile=lambda view, device: compile_kernels(view, device, STRATEGY),
        version=2,
        minimum_bytes=distance_bytes,
    )
)
