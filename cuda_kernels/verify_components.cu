/*
The certificate of connected components, from their labels alone: every label is a vertex no larger than the one it
labels and labels itself; the ends of every arc have one label; and the arcs join as many trees, one after the other, as
there are vertices that are not their own label.  The second says that a label's vertices are one component or several
together, the third that there are as many components as labels.

    offsets (n+1)  targets (arcs)   the graph, both arcs of every edge, rows by target
    labels (n)         what is to be checked
    up (n)             trees of vertices: the vertex above each, a smaller one; a root is its own
    wrong_label, wrong_arc (1)      the first vertex with a label that cannot be one, the first arc between two labels;
                       ~0 if there is none
    joins (1)          arcs that joined two trees

Kernels, in launch order: check_labels, check_arcs; and where several devices look at the rows of a graph, a part each,
join_trees, for the trees that another one has made of its arcs.

Its union-find is its own, and not that of merge_labels.cu, whose answers it judges: both roots are found by path
halving, and the greater is linked to the smaller.

Source: R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", JACM 31, 1984 (path halving); the
certificate is ours.
*/
#include "common.cuh"

constexpr int TILE = 1024;  // consecutive arcs that a warp takes

// The root of v's tree: while others link, one that it has had.
__device__ __forceinline__ int32 root_of(int32* up, int32 v) {
    for (;;) {
        const int32 above = static_cast<volatile int32*>(up)[v];  // race-allowed: an ancestor, if an old one
        if (above == v) return v;
        const int32 higher = static_cast<volatile int32*>(up)[above];  // race-allowed: likewise
        if (higher != above) atomicCAS(&up[v], above, higher);
        v = higher;
    }
}

// Join the trees of a and b.  True if this call joined two trees.
__device__ __forceinline__ bool join(int32* up, int32 a, int32 b) {
    for (;;) {
        a = root_of(up, a);
        b = root_of(up, b);
        if (a == b) return false;
        const int32 greater = max(a, b);
        if (atomicCAS(&up[greater], greater, min(a, b)) == greater) return true;
    }
}

// ------------------------------------------------------------------ kernels

// Launch: any grid.  Writes up, *wrong_label.
extern "C" __global__ void verify_components_check_labels(int32 vertices, const int32* __restrict__ labels, int32* up,
                                                          uint32* wrong_label) {
    for (int64 i = grid_thread(); i < vertices; i += grid_threads()) {
        const int32 v = static_cast<int32>(i);
        const int32 label = labels[v];
        up[v] = v;
        if (label < 0 || label > v || labels[label] != label) atomicMin(wrong_label, static_cast<uint32>(v));
    }
}

// Launch: any grid of whole warps; `joins` is 0.  Each edge is looked at from its larger end.  Writes up, *wrong_arc,
// *joins.
extern "C" __global__ void verify_components_check_arcs(int32 vertices, index_t arcs,
                                                        const index_t* __restrict__ offsets,
                                                        const int32* __restrict__ targets,
                                                        const int32* __restrict__ labels, int32* up, uint64* wrong_arc,
                                                        uint32* joins) {
    uint32 joined = 0;
    walk_arcs<TILE>(offsets, vertices, 0, arcs, [&](int32 u, index_t arc, bool there) {
        if (!there || u < targets[arc]) return;
        const int32 v = targets[arc];
        if (labels[u] != labels[v]) {
            atomicMin(wrong_arc, static_cast<uint64>(arc));
        } else if (join(up, u, v)) {
            joined += 1;
        }
    });
    if (joined != 0) atomicAdd(joins, joined);
}

// Join what the trees of another device join.
// Launch: any grid.  `others` is its `up`.  Writes up, *joins.
extern "C" __global__ void verify_components_join_trees(int32 vertices, const int32* __restrict__ others, int32* up,
                                                        uint32* joins) {
    uint32 joined = 0;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (others[v] != v && join(up, static_cast<int32>(v), others[v])) joined += 1;
    }
    if (joined != 0) atomicAdd(joins, joined);
}
