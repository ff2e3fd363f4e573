/*
What a result needs to know of a few arcs of a graph that lies on the device: the canonical ids of their edges, their
ends, and their weights.  So a result is finished by work in the order of its own size, and the graph stays where it is.

An edge's id is the position of its arc u -> v with u < v; the reverse arc finds it by binary search in the row of v.

    offsets (n+1)  targets (arcs)    the rows, sorted by target
    positions (k)                    positions of arcs in the rows

Kernels: arcs_at_ids, arcs_at_ends, arcs_at_weights.
*/
#include "common.cuh"

__device__ __forceinline__ int32 row_of(const index_t* __restrict__ offsets, int32 vertices, int64 arc) {
    return row_of_arc(offsets, static_cast<index_t>(arc), 0, vertices - 1);
}

// Launch: any grid.  Writes ids (k), each by one thread: of undirected graphs; positions lie inside.
extern "C" __global__ void arcs_at_ids(int64 count, int32 vertices, const index_t* __restrict__ offsets,
                                       const int32* __restrict__ targets, const int64* __restrict__ positions,
                                       int64* ids) {
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        const int64 arc = positions[k];
        const int32 u = row_of(offsets, vertices, arc), v = targets[arc];
        ids[k] = u < v ? arc : static_cast<int64>(find_arc(targets, offsets[v], offsets[v + 1], u));
    }
}

// Launch: any grid.  Writes tails, heads (k), each by one thread; positions lie inside.
extern "C" __global__ void arcs_at_ends(int64 count, int32 vertices, const index_t* __restrict__ offsets,
                                        const int32* __restrict__ targets, const int64* __restrict__ positions,
                                        int32* tails, int32* heads) {
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        tails[k] = row_of(offsets, vertices, positions[k]);
        heads[k] = targets[positions[k]];
    }
}

// Launch: any grid.  Writes chosen (k), words of 4 or 8 bytes, each by one thread; positions lie inside.
extern "C" __global__ void arcs_at_weights(int64 count, const int64* __restrict__ positions, int32 bytes,
                                           const void* __restrict__ weights, void* chosen) {
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        if (bytes == 4) {
            static_cast<uint32*>(chosen)[k] = static_cast<const uint32*>(weights)[positions[k]];
        } else {
            static_cast<uint64*>(chosen)[k] = static_cast<const uint64*>(weights)[positions[k]];
        }
    }
}
