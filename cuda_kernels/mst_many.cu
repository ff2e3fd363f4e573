/*
Minimum spanning forests of many small graphs: a block takes one graph after another, by Boruvka's algorithm.

A round, all of it inside the block:

    1  clear      every tree forgets its least edge
    2  find_min   every vertex finds the least arc of its row that leaves its tree, and offers it to the tree
    3  hook       the vertex whose offer was taken links its tree to the other; of two trees that took the same edge
                  the smaller stays a root, and every other tree's edge joins the forest
    4  jump       every tree learns its root, by pointer jumping
    5  relabel    every vertex learns the root of its tree

until no vertex has an arc that leaves its tree.

    starts (graphs+1)        the first vertex of each graph
    offsets (vertices+1)     the first arc of each vertex
    targets (arcs)           vertices counted within their graph; every row ascends, both arcs of each edge
    weights (arcs)           uint32, in any case ranks that order as the weights do
    label (vertices)         the tree of each vertex: one of its vertices, counted within the graph
    link (vertices)          of a tree the tree it points to; itself where it is a root
    pick (vertices)          the arc that a vertex offered, counted within the graph, or -1
    best (vertices)          of a tree: weight and canonical edge of the least offer, packed into 64 bits
    forest (vertices)        out: canonical edges, counted within the graph, from the first vertex of each graph on
    counts (graphs)          out: how many they are

Edges compare by weight and canonical id, the position of the arc from the smaller to the greater vertex; in a row of
targets that ascend, of equally heavy arcs the first is the least.  So the least of each tree is one, and only two trees
that took the same edge make a cycle.

Launch: any number of blocks, of any multiple of 32 threads.  Blocks share nothing.

Source: O. Boruvka, "O jistem problemu minimalnim", 1926; a block a graph is ours.
*/
#include "common.cuh"

constexpr uint64 NO_OFFER = ~0ull;  // of the greatest weight, too, the id in the lower half is below 2^31

// Weight and canonical id of an arc of the graph's vertex v, packed so that the lesser edge is the lesser word.
__device__ __forceinline__ uint64 offer_of(const int64* __restrict__ offsets, const int32* __restrict__ targets,
                                           uint32 weight, int32 v, int64 arc, int64 base) {
    const int32 head = targets[arc];
    const int64 id = head > v ? arc : find_arc(targets, offsets[head], offsets[head + 1], v);
    return static_cast<uint64>(weight) << 32 | static_cast<uint32>(id - base);
}

extern "C" __global__ void mst_many(uint32 graphs, const int64* __restrict__ starts, const int64* __restrict__ offsets,
                                    const int32* __restrict__ targets, const uint32* __restrict__ weights,
                                    int32* label, int32* link, int32* pick, uint64* best, int32* forest,
                                    int32* counts) {
    __shared__ int32 found;
    for (uint32 graph = blockIdx.x; graph < graphs; graph += gridDim.x) {
        const int64 first = starts[graph];
        const uint32 n = static_cast<uint32>(starts[graph + 1] - first);
        const int64* rows = offsets + first;
        const int64 base = rows[0];
        int32* tree = label + first;
        int32* above = link + first;
        int32* arc_of = pick + first;
        uint64* least = best + first;
        if (threadIdx.x == 0) found = 0;
        for (uint32 v = threadIdx.x; v < n; v += blockDim.x) tree[v] = v;
        for (;;) {
            for (uint32 v = threadIdx.x; v < n; v += blockDim.x) {
                least[v] = NO_OFFER;
                above[v] = v;
            }
            __syncthreads();

            bool offers = false;
            for (uint32 v = threadIdx.x; v < n; v += blockDim.x) {
                const int32 own = tree[v];
                int64 arc = -1;
                uint32 weight = 0;
                for (int64 i = rows[v]; i < rows[v + 1]; ++i) {
                    const uint32 other = weights[i];
                    if ((arc < 0 || other < weight) && tree[targets[i]] != own) {
                        arc = i;
                        weight = other;
                    }
                }
                arc_of[v] = arc < 0 ? -1 : static_cast<int32>(arc - base);
                if (arc >= 0) {
                    offers = true;
                    lower_to(&least[own], offer_of(rows, targets, weight, v, arc, base));
                }
            }
            if (!__syncthreads_or(offers)) break;

            for (uint32 v = threadIdx.x; v < n; v += blockDim.x) {
                if (arc_of[v] < 0) continue;
                const int64 arc = base + arc_of[v];
                const int32 own = tree[v], other = tree[targets[arc]];
                const uint64 offer = offer_of(rows, targets, weights[arc], v, arc, base);
                if (least[own] != offer) continue;
                if (least[other] == offer && own < other) continue;  // both took it: the smaller stays a root
                above[own] = other;
                forest[first + atomicAdd(&found, 1)] = static_cast<int32>(offer);
            }
            __syncthreads();

            bool moves = true;
            while (__syncthreads_or(moves)) {
                moves = false;
                for (uint32 v = threadIdx.x; v < n; v += blockDim.x) {
                    const int32 up = *static_cast<volatile int32*>(&above[v]);   // race-allowed: any ancestor will do
                    const int32 top = *static_cast<volatile int32*>(&above[up]);  // race-allowed: any ancestor will do
                    if (top != up) {
                        above[v] = top;  // race-allowed: read by others as an ancestor, old or new
                        moves = true;
                    }
                }
            }

            for (uint32 v = threadIdx.x; v < n; v += blockDim.x) tree[v] = above[tree[v]];
            __syncthreads();
        }
        if (threadIdx.x == 0) counts[graph] = found;
        __syncthreads();  // `found` starts anew
    }
}
