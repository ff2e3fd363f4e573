"""Changes of kernels, drivers and certificates that give a wrong answer, or let one pass; see tests/measure/mutants.py.

A file is one of the package, or of cuda_kernels.
"""

from __future__ import annotations

from tests.measure.mutants import Mutant

_ON_ZOO = "tests/problems/test_gpu_algorithms_emulated.py"
_CERTIFICATE = "tests/problems/mst/test_gpu_verify.py"
_TABLE, _BESIDE = "tests/cli/test_matrix.py", "tests/problems/sssp/test_delta_stepping_batched.py"

ANSWERS = (
    # kernels
    Mutant(
        "boruvka.cu",
        "return a.key < b.key || (a.key == b.key && a.order < b.order);",
        "return a.key < b.key;",
        _ON_ZOO,
        "boruvka",
    ),
    Mutant(
        "boruvka.cu",
        "SEGMENT_ARCS ? end : at + SEGMENT_ARCS",
        "SEGMENT_ARCS ? end - 1 : at + SEGMENT_ARCS",
        _ON_ZOO,
        "boruvka",
    ),
    Mutant(
        "delta_stepping/relax.cuh",
        "if (offer[i] >= horizon) continue;",
        "if (offer[i] + 1 >= horizon) continue;",
        "tests/problems/sssp/test_gpu_delta_stepping.py",
    ),
    Mutant("verify_forest.cu", "a.key == b.key && a.edge > b.edge", "a.key == b.key && false", _CERTIFICATE),
    Mutant("verify_forest.cu", "if (heavier(b, heaviest)) heaviest = b;", "", _CERTIFICATE),
    Mutant("dijkstra.cu", "arc < row_end; arc += WARP", "arc < row_end - 1; arc += WARP", _ON_ZOO, "dijkstra"),
    Mutant("components.cu", "there == near || there == root", "there == near || there >= 0", _ON_ZOO, "hook"),
    Mutant("prim_naive.cu", " || endpoints(list, static_cast<int32>(i)) != *least_ends", "", _ON_ZOO, "naive"),
    Mutant(
        "prefix_scan/look_back.cuh", "sum += source[i];", "sum = source[i];", "tests/problems/scan/test_gpu_scan.py"
    ),
    # drivers and certificates
    Mutant(
        "ext/papers/mst/gpu_boruvka_hybrid.py",
        "rows = (np.int32(self.split), np.int32(split)",
        "rows = (np.int32(self.split + 1), np.int32(split)",
        "tests/problems/mst/test_boruvka_hybrid.py",
    ),
    Mutant(
        "problems/mst/verify.py",
        "if forest.total_weight != total and not both_nan:",
        "if False:",
        "tests/problems/mst/test_verify.py",
    ),
    Mutant(
        "measure/stopping.py",
        "self._random.sample(list(self._running), len(self._running))",
        "list(self._running)",
        "tests/measure/test_turns.py",
    ),
    Mutant(
        "ext/formats/dimacs.py",
        "columns.high - base >= vertices",
        "columns.high - base > vertices",
        "tests/graph/formats/test_dimacs.py",
    ),
    Mutant("measure/cell.py", '"version": algorithm.version', '"version": 1', "tests/measure/test_identity.py"),
    Mutant("measure/instruments/throttle.py", "FALL = 0.03", "FALL = 0.3", "tests/measure/test_throttle.py"),
    Mutant("records/statistics.py", "0.98 * math.sqrt(n)", "0.6 * math.sqrt(n)", "tests/measure/test_statistics.py"),
    Mutant("ext/comparing/claims.py", "1.0 if spread or together else PROCESS_CHANCE", "1.0"),
    Mutant("ext/comparing/claims.py", "known[0] == known[1] and", "", "tests/measure/test_ranking.py"),
    Mutant("devices/cuda_streams.py", "self._stop.synchronize()", "pass", "tests/devices/test_cuda_device.py"),
    # tables of distances, and searches side by side
    Mutant("ext/matrix/check.py", "linked[source] = distance[source] == 0", "linked[source] = True", _TABLE),
    Mutant("ext/matrix/check.py", "if not distance[v] > end", "if distance[v] < end", _TABLE),
    Mutant("ext/matrix/table.py", "is_whole else found.max()", "is_whole else found.min()", _TABLE),
    Mutant("ext/matrix/table.py", "else most - 1", "else most - 2", _TABLE, "greatest"),
    Mutant("ext/matrix/table.py", 'verify="all"', 'verify="none"', _TABLE),
    Mutant("delta_stepping_batched.cu", "turn > most_sweeps", "turn >= most_sweeps", _BESIDE, "within_the_limit"),
    Mutant("ext/batched/sssp/gpu_delta_stepping_batched.py", "overflow and state.must_gain", "False", _BESIDE, "busy"),
    Mutant("delta_stepping_many.cu", "DISTANCE_BITS == 32 && current", "current", _BESIDE, "beyond_64_bits"),
    Mutant("delta_stepping_many.cu", "hub_first_piece + group * hubs", "hub_first_piece", _BESIDE, "own_lists"),
)
