/*
What a graph must be before compiled code trusts it, and its digest, in one reading of the rows.

Whether every arc has its reverse with equal weight is answered by a signed sum of hashes, in two lanes: arcs u -> v
with u < v count positive, the others negative, each hashed as the undirected edge it belongs to.  A sum other than zero
proves that some arc has none; zero proves that each has, up to a chance of 2^-128.  The digest sums, in two lanes, a
hash of each arc as it is.  All sums are modulo 2^64 and the same in whatever order they are made
(gpugraph/graph/check.py and digest.py, which do it on the host, and say what is wrong where something is).

    offsets (n+1)  targets (arcs)   the rows; `weights` are read as words of 4 or 8 bytes
    found           words of 64 bits: FALL, the first row that ends before it begins; BAD, the first arc that no graph
                    holds, ~0 if there is none; DIGEST, two words; BALANCE, the signed sum, two words

Kernels: check_negative alone; in launch order, check_narrow for the offsets of a file, where 32 bits are enough;
check_offsets; then, where no row falls, check_arcs.
*/
#include "counter_random.cuh"

enum { FALL, BAD, DIGEST, BALANCE = DIGEST + 2 };

constexpr int TILE = 1024;  // consecutive arcs that a warp takes

// Launch: any grid.  Writes narrow (n+1), each by one thread: -1 for what lies outside [0, arcs], which then either
// falls or is no beginning and no end.
extern "C" __global__ void check_narrow(int64 count, int64 arcs, const int64* __restrict__ wide, int32* narrow) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int64 offset = wide[i];
        narrow[i] = 0 <= offset && offset <= arcs ? static_cast<int32>(offset) : -1;
    }
}

// Launch: any grid.  Writes found[FALL], by atomicMin.
extern "C" __global__ void check_offsets(int64 vertices, const index_t* __restrict__ offsets, uint64* found) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (offsets[v + 1] < offsets[v]) atomicMin(&found[FALL], static_cast<uint64>(v));
    }
}

struct Lanes {
    uint64 first, second;
};

__device__ __forceinline__ Lanes arc_lanes(uint64 tail, uint64 head, uint64 word) {
    const uint64 p = mix(((tail << 32) | (tail >> 32)) + head + GOLDEN);
    return {mix(p + word * 0xC2B2AE3D27D4EB4Full), mix(p ^ (word * 0xD6E8FEB86659FD93ull + 0xA0761D6478BD642Full))};
}

__device__ __forceinline__ uint64 warp_sum(uint64 value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}

// Launch: any grid of whole warps; the offsets ascend from 0 to the number of arcs.  `infinity` is the greatest word
// that a weight may be, its sign apart; `sign` the sign bit of a real weight, which alone is -0.0, or 0.  Writes
// found[BAD], by atomicMin, and the sums, by one atomic a warp and lane.
extern "C" __global__ void check_arcs(int32 vertices, int64 arcs, const index_t* __restrict__ offsets,
                                      const int32* __restrict__ targets, const void* __restrict__ weights, int32 bytes,
                                      uint64 infinity, uint64 sign, uint64* found) {
    Lanes digest = {0, 0}, balance = {0, 0};
    walk_arcs<TILE>(offsets, vertices, 0, static_cast<index_t>(arcs), [&](int32 u, index_t at, bool there) {
        if (!there) return;
        const int32 v = targets[at];
        const uint64 word =
            bytes == 4 ? static_cast<const uint32*>(weights)[at] : static_cast<const uint64*>(weights)[at];
        const bool unordered = at > offsets[u] && v <= targets[at - 1];
        if (v < 0 || v >= vertices || v == u || unordered || (word & ~sign) > infinity ||
            (sign != 0 && word == sign)) {
            atomicMin(&found[BAD], static_cast<uint64>(at));
            return;
        }
        const Lanes arc = arc_lanes(static_cast<uint64>(u), static_cast<uint64>(v), word);
        digest.first += arc.first;
        digest.second += arc.second;
        if (u < v) {
            balance.first += arc.first;
            balance.second += arc.second;
        } else {
            const Lanes edge = arc_lanes(static_cast<uint64>(v), static_cast<uint64>(u), word);
            balance.first -= edge.first;
            balance.second -= edge.second;
        }
    });
    const uint64 d0 = warp_sum(digest.first), d1 = warp_sum(digest.second);
    const uint64 b0 = warp_sum(balance.first), b1 = warp_sum(balance.second);
    if (lane_id() == 0) {
        atomicAdd(&found[DIGEST], d0);
        atomicAdd(&found[DIGEST + 1], d1);
        atomicAdd(&found[BALANCE], b0);
        atomicAdd(&found[BALANCE + 1], b1);
    }
}

// Launch: any grid; a word with the sign bit is below zero, for no weight is -0.0.  Writes *found, 1 if there is one,
// by atomicOr.
extern "C" __global__ void check_negative(int64 arcs, const void* __restrict__ weights, int32 bytes, uint32* found) {
    bool below = false;
    for (int64 at = grid_thread(); at < arcs && !below; at += grid_threads()) {
        below = bytes == 4 ? static_cast<const int32*>(weights)[at] < 0 : static_cast<const int64*>(weights)[at] < 0;
    }
    if (below) atomicOr(found, 1u);
}
