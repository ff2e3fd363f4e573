/*
What a result needs to know of a few arcs of a graph that lies on the device: the canonical ids of their edges, their
ends, their weights and the sum of these.  So a result is finished by work in the order of its own size, and the graph
stays where it is.

An edge's id is the position of its arc u -> v with u < v; the reverse arc finds it by binary search in the row of v.

    offsets (n+1)  targets (arcs)    the rows, sorted by target
    positions (k)                    positions of arcs in the rows

Kernels: arcs_at_ids, arcs_at_ends, arcs_at_pairs, arcs_at_weights, arcs_at_sum.
*/
#include "common.cuh"

__device__ __forceinline__ int32 row_of(const index_t* __restrict__ offsets, int32 vertices, int64 arc) {
    return row_of_arc(offsets, static_cast<index_t>(arc), 0, vertices - 1);
}

// Launch: any grid.  Writes ids (k), each by one thread: of undirected graphs; positions, words of 4 or 8 bytes, lie
// inside.
extern "C" __global__ void arcs_at_ids(int64 count, int32 vertices, int32 bytes, const index_t* __restrict__ offsets,
                                       const int32* __restrict__ targets, const void* __restrict__ positions,
                                       int64* ids) {
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        const int64 arc = bytes == 4 ? static_cast<int64>(static_cast<const uint32*>(positions)[k])
                                     : static_cast<const int64*>(positions)[k];
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

// Launch: any grid.  Writes pairs (2k), tail and head side by side, each by one thread; positions lie inside.
extern "C" __global__ void arcs_at_pairs(int64 count, int32 vertices, const index_t* __restrict__ offsets,
                                         const int32* __restrict__ targets, const int64* __restrict__ positions,
                                         int64* pairs) {
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        pairs[2 * k] = row_of(offsets, vertices, positions[k]);
        pairs[2 * k + 1] = targets[positions[k]];
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

// Launch: any grid.  Adds the integers at the positions, words of 4 or 8 bytes, to sums (2): their low 32 bits to the
// first, which is never negative, what is above these to the second.  Fewer than 2^31 of them wrap neither.
extern "C" __global__ void arcs_at_sum(int64 count, const int64* __restrict__ positions, int32 bytes, int32 is_signed,
                                       const void* __restrict__ weights, uint64* sums) {
    uint64 low = 0;
    int64 high = 0;
    for (int64 k = grid_thread(); k < count; k += grid_threads()) {
        const int64 at = positions[k];
        if (bytes == 8) {
            const uint64 word = static_cast<const uint64*>(weights)[at];
            low += word & 0xFFFFFFFF;
            high += is_signed ? static_cast<int64>(word) >> 32 : static_cast<int64>(word >> 32);
        } else {
            const uint32 word = static_cast<const uint32*>(weights)[at];
            low += word;
            high -= is_signed ? static_cast<int64>(word >> 31) : 0;  // 2^32 less where the sign bit is set
        }
    }
    for (int32 step = WARP / 2; step > 0; step /= 2) {
        low += __shfl_down_sync(FULL_MASK, low, step);
        high += __shfl_down_sync(FULL_MASK, high, step);
    }
    if (lane_id() == 0 && (low != 0 || high != 0)) {
        atomicAdd(&sums[0], low);
        atomicAdd(&sums[1], static_cast<uint64>(high));
    }
}
