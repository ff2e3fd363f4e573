/*
Boruvka's minimum spanning forest, the simplest that is right: every component takes its lightest edge, again and again.
One thread per vertex reads its row.  A key is an edge's rank by weight, above its number, so that no two are equal.
*/
#include "common.cuh"

// Offer every edge that leaves a component to both components that it touches.  Launch: a thread for each vertex.
extern "C" __global__ void boruvka_find(int32 vertices, const index_t* __restrict__ offsets,
                                        const int32* __restrict__ targets, const uint32* __restrict__ ranks,
                                        const int32* __restrict__ label, uint64* best) {
    for (int64 u = grid_thread(); u < vertices; u += grid_threads()) {
        for (index_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
            const int32 v = targets[arc];
            if (v < u || label[u] == label[v]) continue;  // every edge is there both ways
            const uint64 key = static_cast<uint64>(ranks[arc]) << 32 | static_cast<uint32>(arc);
            atomicMin(&best[label[u]], key);
            atomicMin(&best[label[v]], key);
        }
    }
}

// Take the edges that won, and hook a component to the other end of its edge; of two that chose the same one the smaller
// stays a root.  Launch: a thread for each vertex.
extern "C" __global__ void boruvka_hook(int32 vertices, const index_t* __restrict__ offsets,
                                        const int32* __restrict__ targets, const uint32* __restrict__ ranks,
                                        const int32* __restrict__ label, const uint64* __restrict__ best,
                                        int32* parent, unsigned char* in_forest, uint32* joined) {
    for (int64 u = grid_thread(); u < vertices; u += grid_threads()) {
        for (index_t arc = offsets[u]; arc < offsets[u + 1]; ++arc) {
            const int32 v = targets[arc];
            if (v < u || label[u] == label[v]) continue;
            const uint64 key = static_cast<uint64>(ranks[arc]) << 32 | static_cast<uint32>(arc);
            const int32 ends[2] = {label[u], label[v]};
            for (int side = 0; side < 2; ++side) {
                const int32 root = ends[side], other = ends[1 - side];
                if (best[root] != key) continue;
                in_forest[arc] = 1;
                if (best[other] != key || other < root) parent[root] = other;
                atomicExch(joined, 1u);
            }
        }
    }
}

// Give every vertex the root of its new component, and forget the edges.  Launch: a thread for each vertex.
extern "C" __global__ void boruvka_flatten(int32 vertices, const int32* __restrict__ parent, int32* label,
                                           uint64* best) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        int32 root = label[v];
        while (parent[root] != root) root = parent[root];
        label[v] = root;
        best[v] = ~0ull;
    }
}
