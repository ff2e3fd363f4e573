/*
Random points in the unit square, each joined to its k nearest; the weights are distances.

Points fall into a grid of cells; sorted by (cell, number) they are the vertices, so that the points of a cell, and of
neighbouring cells of one line, are consecutive.  Each vertex looks through the cells around its own, a wider square
each time until k others lie in it, and keeps the k nearest by insertion.  Formulas and their rounding:
gpugraph/ext/generators/knn.py, which gives the same bits.

    order (n)                   cell << 32 | number of the point, then sorted
    starts (cells * cells + 1)  the first vertex of each cell, and n
    x, y (n)                    where the vertices lie
    heads (n * k)               the neighbours of each vertex, nearest first
    best (n * k)                their squared distances

Kernels, in launch order: generate_knn_points, _cells, _place, _nearest, _edges; when the rows are built, _weights.
*/
#include "arc_keys.cuh"
#include "counter_random.cuh"

__device__ __forceinline__ float32 coordinate(uint64 base, uint64 number) {
    return static_cast<float32>(static_cast<float64>(hash64(base + number) >> 11) * (1.0 / 9007199254740992.0));
}

__device__ __forceinline__ int64 cell_of(float32 at, int64 cells) {
    const int64 place = static_cast<int64>(at * static_cast<float32>(cells));
    return place < cells ? place : cells - 1;
}

__device__ __forceinline__ bool nearer(float32 a, int32 i, float32 b, int32 j) { return a < b || (a == b && i < j); }

// Launch: any grid.  Writes order, each by one thread.
extern "C" __global__ void generate_knn_points(int64 n, int64 cells, uint64 seed, uint64* order) {
    const uint64 base = hash64(seed);
    for (int64 i = grid_thread(); i < n; i += grid_threads()) {
        const uint64 draw = 2 * static_cast<uint64>(i);
        const int64 cell = cell_of(coordinate(base, draw + 1), cells) * cells + cell_of(coordinate(base, draw), cells);
        order[i] = static_cast<uint64>(cell) << 32 | static_cast<uint64>(i);
    }
}

// Launch: any grid; order is sorted.  Writes starts, each by one thread: the first vertex of no lower cell.
extern "C" __global__ void generate_knn_cells(int64 n, int64 cells, const uint64* __restrict__ order, int32* starts) {
    for (int64 cell = grid_thread(); cell <= cells * cells; cell += grid_threads()) {
        int64 low = 0, high = n;
        while (low < high) {
            const int64 middle = low + (high - low) / 2;
            if (static_cast<int64>(order[middle] >> 32) < cell) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        starts[cell] = static_cast<int32>(low);
    }
}

// Launch: any grid; order is sorted.  Writes x, y, each by one thread.
extern "C" __global__ void generate_knn_place(int64 n, uint64 seed, const uint64* __restrict__ order, float32* x,
                                              float32* y) {
    const uint64 base = hash64(seed);
    for (int64 i = grid_thread(); i < n; i += grid_threads()) {
        const uint64 draw = 2 * (order[i] & 0xFFFFFFFF);
        x[i] = coordinate(base, draw);
        y[i] = coordinate(base, draw + 1);
    }
}

// Launch: any grid, a thread for each vertex.  Writes the row of heads and of best of its vertex; no atomics.
extern "C" __global__ void generate_knn_nearest(int64 n, int32 k, int64 cells, const int32* __restrict__ starts,
                                                const float32* __restrict__ x, const float32* __restrict__ y,
                                                int32* heads, float32* best) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) {
        int32* const vertex = heads + i * k;
        float32* const distances = best + i * k;
        const float32 x_i = x[i], y_i = y[i];
        const int64 column = cell_of(x_i, cells), row = cell_of(y_i, cells);
        for (int64 radius = 2;; radius *= 2) {
            int32 found = 0, candidates = 0;
            const int64 low_line = row > radius ? row - radius : 0, left = column > radius ? column - radius : 0;
            const int64 high_line = row + radius < cells ? row + radius : cells - 1;
            const int64 right = column + radius < cells ? column + radius : cells - 1;
            for (int64 line = low_line; line <= high_line; line++) {
                const int32 stop = starts[line * cells + right + 1];
                for (int32 j = starts[line * cells + left]; j < stop; j++) {
                    if (j == i) continue;
                    candidates++;
                    const float32 dx = x_i - x[j], dy = y_i - y[j];
                    // In float64 the product is exact.
                    const float64 square = static_cast<float64>(dx) * static_cast<float64>(dx);
                    const float32 distance = static_cast<float32>(square + static_cast<float64>(dy * dy));
                    if (found == k && !nearer(distance, j, distances[k - 1], vertex[k - 1])) continue;
                    int32 at = found < k ? found : k - 1;
                    while (at > 0 && nearer(distance, j, distances[at - 1], vertex[at - 1])) {
                        distances[at] = distances[at - 1];
                        vertex[at] = vertex[at - 1];
                        at--;
                    }
                    distances[at] = distance;
                    vertex[at] = j;
                    if (found < k) found++;
                }
            }
            if (candidates >= k || radius > cells) break;
        }
    }
}

// Launch: any grid, blocks of whole warps.  Writes out and counters (arc_keys.cuh).
extern "C" __global__ void generate_knn_edges(int64 items, int64 begin, uint64* out, int32 mode, int32 mirrored,
                                              int32 head_bits, int64 first, int64 last, uint64* counters, int32 k,
                                              const int32* __restrict__ heads) {
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        tail = i / k;
        head = heads[i];
        return true;
    };
    put_all(Sink{begin, out, mode, mirrored, head_bits, first, last, counters}, items, draw, NeverNegative());
}

// Launch: any grid, a warp for each row in turn.  Writes every weight, by one thread; no atomics.  The words are those
// of any integer type of their width; reals are converted.
extern "C" __global__ void generate_knn_weights(int64 n, const index_t* __restrict__ offsets,
                                                const int32* __restrict__ targets, const float32* __restrict__ x,
                                                const float32* __restrict__ y, int32 bytes, int32 real,
                                                void* weights) {
    const float64 scale = sqrt(static_cast<float64>(n));
    for (int64 u = grid_thread() / WARP; u < n; u += grid_threads() / WARP) {
        for (int64 at = offsets[u] + lane_id(); at < offsets[u + 1]; at += WARP) {
            const float64 dx = x[u] - x[targets[at]], dy = y[u] - y[targets[at]];
            const float64 length = sqrt(dx * dx + dy * dy) * scale * 1e6;
            const uint32 weight = 1 + static_cast<uint32>(length < 2.0e9 ? length : 2.0e9);
            if (real && bytes == 4) {
                static_cast<float32*>(weights)[at] = static_cast<float32>(weight);
            } else if (real) {
                static_cast<float64*>(weights)[at] = static_cast<float64>(weight);
            } else if (bytes == 4) {
                static_cast<uint32*>(weights)[at] = weight;
            } else {
                static_cast<uint64*>(weights)[at] = weight;
            }
        }
    }
}
