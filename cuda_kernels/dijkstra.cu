/*
Dijkstra's algorithm with a compound frontier: all unresolved vertices at the minimal distance are resolved together.
A round has three steps: relax the arcs of the frontier, find the minimum over the unresolved vertices, update the
frontier to all vertices at that minimum.  There are as many rounds as distinct distances (more, if weights are zero).

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph; weights are not negative
    distance (n), state (n)                         see dijkstra_base.cuh
    minimum (rounds of a batch)                     the least unresolved distance of each round
    overflow (1)                                    set when a sum did not fit

Invariant.  Distances of the frontier and of resolved vertices are final, so relaxing reads no distance that another
thread lowers.  A round without an unresolved vertex to reach (minimum UNREACHED) changes nothing: the host may launch
several before it asks.

dijkstra_relax_no_atomic lowers a distance by a look and a write instead of atomicMin: wrong on purpose.

Source: P. J. Martin, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4 (F-GPU with
atomicMin; F-GPU-no-atomic).  The paper lets one thread relax a whole row; here a warp shares the long ones.
*/
#include "dijkstra_base.cuh"

constexpr int LONG_ROW = 16;  // rows of this many arcs and more are relaxed by the whole warp

// ------------------------------------------------------------------ helpers

// Relax one arc out of the frontier.
template <bool ATOMIC>
__device__ __forceinline__ void relax_arc(index_t arc, distance_t length, const int32* __restrict__ targets,
                                          const weight_t* __restrict__ weights, const state_t* __restrict__ state,
                                          distance_t* distance, uint32* overflow) {
    const int32 v = targets[arc];
    if (state[v] == UNRESOLVED) lower_distance<ATOMIC>(&distance[v], extended(length, weights[arc], overflow));
}

// Relax the arcs of the frontier.  A lane relaxes a short row by itself; the long rows of a warp are relaxed by all its
// lanes, one after the other.
template <bool ATOMIC>
__device__ __forceinline__ void relax_frontier(int32 vertices, const index_t* __restrict__ offsets,
                                               const int32* __restrict__ targets,
                                               const weight_t* __restrict__ weights,
                                               const state_t* __restrict__ state, distance_t* distance,
                                               uint32* overflow) {
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
                relax_arc<ATOMIC>(arc, length, targets, weights, state, distance, overflow);
            }
        }
        for (unsigned waiting = __ballot_sync(FULL_MASK, is_long); waiting != 0; waiting &= waiting - 1) {
            const int owner = first_lane(waiting);
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const distance_t row_length = __shfl_sync(FULL_MASK, length, owner);
            for (index_t arc = row_begin + lane_id(); arc < row_end; arc += WARP) {
                relax_arc<ATOMIC>(arc, row_length, targets, weights, state, distance, overflow);
            }
        }
    }
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
// Launch: any grid of whole warps.  Lowers distance; may set overflow.
extern "C" __global__ void dijkstra_relax(int32 vertices, const index_t* __restrict__ offsets,
                                          const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                          const state_t* __restrict__ state, distance_t* distance, uint32* overflow) {
    relax_frontier<true>(vertices, offsets, targets, weights, state, distance, overflow);
}

// The same without atomics, as F-GPU-no-atomic has it: a lower distance may be lost.
extern "C" __global__ void dijkstra_relax_no_atomic(int32 vertices, const index_t* __restrict__ offsets,
                                                    const int32* __restrict__ targets,
                                                    const weight_t* __restrict__ weights,
                                                    const state_t* __restrict__ state, distance_t* distance,
                                                    uint32* overflow) {
    relax_frontier<false>(vertices, offsets, targets, weights, state, distance, overflow);
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
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) advance(v, distance, least, state);
}
