/*
Dijkstra's algorithm with a compound frontier: all unresolved vertices at the minimal distance are resolved together.
A round has three steps: relax the arcs of the frontier, find the minimum over the unresolved vertices, update the
frontier to all vertices at that minimum.  There are as many rounds as distinct distances (more, if weights are zero).

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph; weights are not negative
    distance (n)                                    order-preserving words: integers, or the bits of a float >= 0
    state (n)                                       UNRESOLVED, FRONTIER or RESOLVED
    minimum (rounds of a batch)                     the least unresolved distance of each round
    overflow (1)                                    set when a sum did not fit

Invariant.  Distances of the frontier and of resolved vertices are final, so relaxing reads no distance that another
thread lowers.  A round without an unresolved vertex to reach (minimum UNREACHED) changes nothing: the host may launch
several before it asks.

Defines beside those of common.cuh:
    DISTANCE_BITS  32 | 64   width of a distance: of float weights their own, of integers 32 unless that overflows

Source: P. J. Martin, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4 (F-GPU with
atomicMin).  The paper lets one thread relax a whole row; here a warp shares the long ones.
*/
#include "common.cuh"

#ifndef DISTANCE_BITS
#define DISTANCE_BITS 32
#endif

#if DISTANCE_BITS == 64
typedef uint64 distance_t;
#else
typedef uint32 distance_t;
#endif

typedef unsigned char state_t;
constexpr state_t UNRESOLVED = 0;
constexpr state_t FRONTIER = 1;
constexpr state_t RESOLVED = 2;

constexpr int LONG_ROW = 16;  // rows of this many arcs and more are relaxed by the whole warp

// ------------------------------------------------------------------ helpers

// UNREACHED is the largest word; as a float it is not infinity but lies above it, so that infinity is never reached.
constexpr distance_t UNREACHED = static_cast<distance_t>(-1);

// The length of a path extended by one arc, or UNREACHED where it leads nowhere: a float sum is infinite, an integer
// sum does not fit (then *overflow is set).
__device__ __forceinline__ distance_t extended(distance_t length, float32 w, uint32*) {
    const float32 sum = __uint_as_float(static_cast<uint32>(length)) + w;
    const uint32 bits = __float_as_uint(sum);
    return bits == 0x7f800000u ? UNREACHED : bits;
}

__device__ __forceinline__ distance_t extended(distance_t length, float64 w, uint32*) {
    const float64 sum = __longlong_as_double(static_cast<int64>(length)) + w;
    const uint64 bits = static_cast<uint64>(__double_as_longlong(sum));
    return bits == 0x7ff0000000000000ull ? UNREACHED : static_cast<distance_t>(bits);
}

template <typename Integer>
__device__ __forceinline__ distance_t extended(distance_t length, Integer w, uint32* overflow) {
    const uint64 room = static_cast<uint64>(UNREACHED) - 1 - length;
    if (static_cast<uint64>(w) > room) {
        *overflow = 1;  // race-allowed: every writer writes 1
        return UNREACHED;
    }
    return length + static_cast<distance_t>(w);
}

// Relax one arc out of the frontier.
__device__ __forceinline__ void relax_arc(index_t arc, distance_t length, const int32* __restrict__ targets,
                                          const weight_t* __restrict__ weights, const state_t* __restrict__ state,
                                          distance_t* distance, uint32* overflow) {
    const int32 v = targets[arc];
    if (state[v] != UNRESOLVED) return;
    lower_to(&distance[v], extended(length, weights[arc], overflow));
}

// ------------------------------------------------------------------ kernels, in launch order

// The source is the first frontier; everything else is unresolved and unreached.
// Launch: any grid.  Writes distance, state.
extern "C" __global__ void dijkstra_start(int32 vertices, int32 source, distance_t* distance, state_t* state) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        distance[v] = v == source ? 0 : UNREACHED;
        state[v] = v == source ? FRONTIER : UNRESOLVED;
    }
}

// Step 1, relax: lower the distances of the frontier's successors.
// A lane relaxes a short row by itself; the long rows of a warp are relaxed by all its lanes, one after the other.
// Launch: any grid of whole warps.  Lowers distance; may set overflow.
extern "C" __global__ void dijkstra_relax(int32 vertices, const index_t* __restrict__ offsets,
                                          const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                          const state_t* __restrict__ state, distance_t* distance, uint32* overflow) {
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 u = first + lane_id();
        index_t begin = 0, end = 0;
        distance_t length = 0;
        if (u < vertices && state[u] == FRONTIER) {
            begin = offsets[u];
            end = offsets[u + 1];
            length = distance[u];
        }
        const bool is_long = end - begin >= LONG_ROW;
        if (!is_long) {
            for (index_t arc = begin; arc < end; ++arc) {
                relax_arc(arc, length, targets, weights, state, distance, overflow);
            }
        }
        for (unsigned waiting = __ballot_sync(FULL_MASK, is_long); waiting != 0; waiting &= waiting - 1) {
            const int owner = __ffs(static_cast<int>(waiting)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const distance_t row_length = __shfl_sync(FULL_MASK, length, owner);
            for (index_t arc = row_begin + lane_id(); arc < row_end; arc += WARP) {
                relax_arc(arc, row_length, targets, weights, state, distance, overflow);
            }
        }
    }
}

// Step 2, minimum: the least distance of an unresolved vertex.  A warp reduces by shuffles and sends one atomicMin.
// Launch: any grid of whole warps; *minimum holds UNREACHED before.  Lowers *minimum.
extern "C" __global__ void dijkstra_minimum(int32 vertices, const distance_t* __restrict__ distance,
                                            const state_t* __restrict__ state, distance_t* minimum) {
    distance_t least = UNREACHED;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (state[v] == UNRESOLVED && distance[v] < least) least = distance[v];
    }
    least = warp_min(least);
    if (lane_id() == 0 && least != UNREACHED) lower_to(minimum, least);
}

// Step 3, update: the frontier is resolved, and every unresolved vertex at the minimum is the new frontier.
// Launch: any grid.  Writes state.
extern "C" __global__ void dijkstra_update(int32 vertices, const distance_t* __restrict__ distance,
                                           const distance_t* __restrict__ minimum, state_t* state) {
    const distance_t least = *minimum;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        const state_t now = state[v];
        if (now == FRONTIER) {
            state[v] = RESOLVED;
        } else if (now == UNRESOLVED && least != UNREACHED && distance[v] == least) {
            state[v] = FRONTIER;
        }
    }
}
