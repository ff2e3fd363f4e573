/*
Bellman-Ford shortest paths, the simplest that is right: relax every arc until nothing changes.
One thread per vertex reads its row.  Distances are words that fall by atomicMin; a stale read costs a round, no more.
*/
#include "common.cuh"

extern "C" __global__ void bellman_ford_relax(int32 vertices, const index_t* __restrict__ offsets,
                                              const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                              uint32* distance, uint32* changed) {
    for (int64 u = grid_thread(); u < vertices; u += grid_threads()) {
        const uint32 length = static_cast<volatile uint32*>(distance)[u];  // race-allowed: it only falls
        if (length == 0xffffffffu) continue;
        for (index_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
            const uint32 sum = length + static_cast<uint32>(weights[arc]);
            if (sum < atomicMin(&distance[targets[arc]], sum)) *changed = 1;  // race-allowed: all write 1
        }
    }
}
