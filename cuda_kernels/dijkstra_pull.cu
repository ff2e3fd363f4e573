/*
Dijkstra's algorithm with a compound frontier, relaxed from the other end: every unresolved vertex looks at its
predecessors and takes what those of the frontier offer.  Each distance is written by its own thread alone, so no
atomics are needed; the price is that the arcs into a vertex are read again in every round until it is resolved.

    offsets (n+1)  sources (arcs)  weights (arcs)   the transposed graph: row v holds the arcs into v
    distance (n), state (n)                         see dijkstra_base.cuh
    minima (blocks)                                 the least unresolved distance of each block's share

Here too the minimum is the paper's: a pass of blocks, each reducing 2 * BLOCK elements in shared memory to one, perhaps
a second pass over what is left, and the rest is the host's.  The start is dijkstra.cu's.

Source: P. J. Martin, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009: relax_U is figure 3
(right), minimum1 and update figure 4, minimum2 section 4.1, the kernel of U-GPU-PLUS section 4.2.
*/
#include "dijkstra_base.cuh"

constexpr int BLOCK = 256;  // threads of a block, as in the paper

// ------------------------------------------------------------------ helpers

// The least of a vertex's distance and what its predecessors in the frontier offer.
// `is_frontier(u)` says whether u is in the frontier: how that is read is what the two kernels differ in.
template <typename IsFrontier>
__device__ __forceinline__ distance_t pulled(distance_t least, index_t begin, index_t end,
                                             const int32* __restrict__ sources, const weight_t* __restrict__ weights,
                                             const distance_t* distance, uint32* overflow, IsFrontier is_frontier) {
    for (index_t arc = begin; arc < end; ++arc) {
        const int32 u = sources[arc];
        if (!is_frontier(u)) continue;
        const distance_t offered = extended(distance[u], weights[arc], overflow);
        if (offered < least) least = offered;
    }
    return least;
}

// Reduce one value of each thread to the block's least, which the first warp gets: in shared memory while the values
// are more than a warp's (the paper's reduce3), then by shuffles.
// Launch: blocks of BLOCK threads, all of which must call.
__device__ __forceinline__ distance_t block_min(distance_t mine) {
    __shared__ distance_t least[BLOCK];
    least[threadIdx.x] = mine;
    __syncthreads();
    for (int step = BLOCK / 2; step >= WARP; step /= 2) {
        if (threadIdx.x < step && least[threadIdx.x + step] < least[threadIdx.x]) {
            least[threadIdx.x] = least[threadIdx.x + step];
        }
        __syncthreads();
    }
    return threadIdx.x < WARP ? warp_min(least[threadIdx.x]) : mine;
}

// ------------------------------------------------------------------ kernels, in launch order

// Step 1, relax: every unresolved vertex looks at its predecessors.
// Launch: any grid.  Writes distance, each by its own thread; reads only final distances of others.
extern "C" __global__ void dijkstra_pull(int32 vertices, const index_t* offsets, const int32* sources,
                                         const weight_t* weights, const state_t* state, distance_t* distance,
                                         uint32* overflow) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (state[v] != UNRESOLVED) continue;
        const distance_t held = distance[v];
        const distance_t least = pulled(held, offsets[v], offsets[v + 1], sources, weights, distance, overflow,
                                        [state](int32 u) { return state[u] == FRONTIER; });
        if (least < held) distance[v] = least;
    }
}

// The same with two resources of the chip.  Neighbouring threads share an offset, so each thread brings one into
// shared memory, and the last thread of the block the one beyond; the flags are read through the read-only cache.
// Launch: any grid of blocks of BLOCK threads.  Writes as dijkstra_pull.
extern "C" __global__ void dijkstra_pull_plus(int32 vertices, const index_t* __restrict__ offsets,
                                              const int32* __restrict__ sources, const weight_t* __restrict__ weights,
                                              const state_t* __restrict__ state, distance_t* distance,
                                              uint32* overflow) {
    __shared__ index_t bounds[BLOCK + 1];
    for (int64 first = static_cast<int64>(blockIdx.x) * BLOCK; first < vertices; first += grid_threads()) {
        const int64 v = first + threadIdx.x;
        __syncthreads();  // the turn before has read its bounds
        if (v <= vertices) bounds[threadIdx.x] = offsets[v];
        if (threadIdx.x == BLOCK - 1 && v < vertices) bounds[BLOCK] = offsets[v + 1];
        __syncthreads();
        if (v >= vertices || __ldg(&state[v]) != UNRESOLVED) continue;
        const distance_t held = distance[v];
        const distance_t least = pulled(held, bounds[threadIdx.x], bounds[threadIdx.x + 1], sources, weights, distance,
                                        overflow, [state](int32 u) { return __ldg(&state[u]) == FRONTIER; });
        if (least < held) distance[v] = least;
    }
}

// Step 2, minimum, first pass: the least unresolved distance of every 2 * BLOCK vertices.
// Launch: a block of BLOCK threads for each of them.  Writes minima, one element a block.
extern "C" __global__ void dijkstra_block_minima(int32 vertices, const distance_t* __restrict__ distance,
                                                 const state_t* __restrict__ state, distance_t* minima) {
    distance_t least = UNREACHED;
    for (int half = 0; half < 2; ++half) {
        const int64 v = (static_cast<int64>(blockIdx.x) * 2 + half) * BLOCK + threadIdx.x;
        if (v < vertices && state[v] == UNRESOLVED && distance[v] < least) least = distance[v];
    }
    least = block_min(least);
    if (threadIdx.x == 0) minima[blockIdx.x] = least;
}

// Step 2, second pass: the least of every 2 * BLOCK results of the first.
// Launch: a block of BLOCK threads for each of them.  Writes least_of, one element a block.
extern "C" __global__ void dijkstra_block_minima_again(int32 count, const distance_t* __restrict__ minima,
                                                       distance_t* least_of) {
    distance_t least = UNREACHED;
    for (int half = 0; half < 2; ++half) {
        const int64 i = (static_cast<int64>(blockIdx.x) * 2 + half) * BLOCK + threadIdx.x;
        if (i < count && minima[i] < least) least = minima[i];
    }
    least = block_min(least);
    if (threadIdx.x == 0) least_of[blockIdx.x] = least;
}

// Step 3, update: the frontier is resolved, and every unresolved vertex at `least`, which the host knows, is the next.
// Launch: any grid.  Writes state, each by its own thread.
extern "C" __global__ void dijkstra_update_to(int32 vertices, const distance_t* __restrict__ distance,
                                              distance_t least, state_t* state) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) advance(v, distance, least, state);
}
