/*
Bellman-Ford shortest paths, the simplest that is right: relax every arc until nothing changes.
One thread per vertex reads its row.  Distances are words that fall by atomicMin; a stale read costs a round, no more.
*/
#include "common.cuh"

// Read a word that others may lower meanwhile.  Only what is read here may be out of date.
__device__ uint32 read_stale(const uint32* word) {
    return *static_cast<const volatile uint32*>(word);  // volatile counts as an atomic
}

extern "C" __global__ void bellman_ford_relax(int32 vertices, const index_t* __restrict__ offsets,
                                              const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                              uint32* distance, uint32* changed) {
    for (int64 u = grid_thread(); u < vertices; u += grid_threads()) {
        const uint32 length = read_stale(&distance[u]);
        if (length == 0xffffffffu) continue;
        for (index_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
            const uint32 sum = length + static_cast<uint32>(weights[arc]);
            if (sum < length) continue;  // beyond 32 bits: the certificate will say so
            if (sum < atomicMin(&distance[targets[arc]], sum)) atomicExch(changed, 1u);
        }
    }
}
