/*
The relaxation of Harish and Narayanan (2007), which loses updates: kept as a demonstration, never as a way to solve
anything.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph; weights are not negative
    mask (n)                                        1 for a vertex whose cost fell in the round before
    cost (n)                                        distance words, see dijkstra_base.cuh
    updating_cost (n)                               what the round under way has found
    changed (1)                                     set when some cost fell

A round has two kernels.  The first offers sums to the successors of the masked vertices, into the second array, so that
no thread reads a cost that this round has lowered; the second takes them over.  The second array prevents a read after
a write, but not a write after a write: two threads may both find updating_cost[v] too high and then write in either
order.  The higher sum may stay, and as the vertex that offered the lower one is masked no longer, for good.

The race detector reports the two accesses of harish_narayanan_relax: they carry no comment that would allow them.

Source: P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", HiPC 2007;
refuted in P. J. Martin, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 4.3, which
ran it with 32 threads a block.
*/
#include "dijkstra_base.cuh"

typedef unsigned char mask_t;

// Only the source has a cost, and is masked.
// Launch: any grid.  Writes mask, cost, updating_cost.
extern "C" __global__ void harish_narayanan_start(int32 vertices, int32 source, mask_t* mask, distance_t* cost,
                                                  distance_t* updating_cost) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        mask[v] = v == source;
        cost[v] = updating_cost[v] = v == source ? 0 : UNREACHED;
    }
}

// Kernel 1: every masked vertex offers sums to its successors.
// Launch: any grid.  Writes mask, each by its own thread; writes updating_cost, which is the flaw; may set overflow.
extern "C" __global__ void harish_narayanan_relax(int32 vertices, const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_t* __restrict__ weights, mask_t* mask,
                                                  const distance_t* __restrict__ cost, distance_t* updating_cost,
                                                  uint32* overflow) {
    for (int64 u = grid_thread(); u < vertices; u += grid_threads()) {
        if (!mask[u]) continue;
        mask[u] = 0;
        for (index_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
            const int32 v = targets[arc];
            const distance_t sum = extended(cost[u], weights[arc], overflow);
            if (updating_cost[v] > sum) updating_cost[v] = sum;  // look, then write: another thread may come between
        }
    }
}

// Kernel 2: what the round has found becomes the cost, and a vertex whose cost fell is masked.
// Launch: any grid.  Writes mask, cost and updating_cost, each by its own thread; may set changed.
extern "C" __global__ void harish_narayanan_update(int32 vertices, mask_t* mask, distance_t* cost,
                                                   distance_t* updating_cost, uint32* changed) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (cost[v] > updating_cost[v]) {
            cost[v] = updating_cost[v];
            mask[v] = 1;
            *changed = 1;  // race-allowed: every writer writes 1
        }
        updating_cost[v] = cost[v];
    }
}
