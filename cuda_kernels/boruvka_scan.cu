/*
Boruvka's minimum spanning forest on a list of arcs, grouped by tree, whose lightest are found by a segmented min-scan.

Of the paper's four steps find-min-edge is segmented_scan.cu; remove-cycle and merge-vertices are the kernels of
boruvka.cu; add-edges-to-new-vertices is here: arcs that still join two trees are counted by tree, the counts are
scanned to where each tree's segment begins (prefix_scan.cu), and every arc is put into its tree's segment.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph, both arcs of every edge
    tail, other (arcs)      the tree that an arc leaves, and the one it leads to
    key, id (arcs)          its order-preserving weight, and the id of its edge
    head (arcs)             1 where a tree's segment begins
    best (trees)            position of each tree's lightest arc, -1 if it has none; found by segmented_scan
    link, edge (trees)      the tree it leads to, its id; best_key, best_id as in boruvka.cu
    number, renamed (trees) a root's next number; every tree's
    counts, ends (trees)    arcs of each new tree; where its segment begins, and once the arcs are placed, where it ends
    trees (rounds)          trees of each round; next (2): trees and arcs of the next round, for the host

Invariants.  Every listed arc joins two different trees, so every segment has a lightest arc.  Edges compare by (weight,
id), a total order, so the order of arcs inside a segment, which varies from run to run, does not matter.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 4.  There the CPU does
all but find-min-edge; section 6 asks for the rest.
*/
#include "common.cuh"

constexpr bool PACKED = INDEX_BITS == 32 && sizeof(weight_key_t) == 4;
constexpr int LISTED = 256;  // consecutive arcs that a warp lists at a time: its share of a grid that covers all
constexpr int32 DROPPED = -1;  // FINISHED, too: trees are numbered from 0, and no arc leaves one that is finished

// ------------------------------------------------------------------ helpers

// Add one for every lane to counts[tree], with one atomic for the lanes of one tree; arcs of a tree are adjacent, so
// mostly that is one for the whole warp.  Returns the lane's place.  All 32 lanes must call; DROPPED takes no part.
__device__ __forceinline__ count_t add_one(count_t* counts, int32 tree) {
    const unsigned same = __match_any_sync(FULL_MASK, tree);
    const int leader = first_lane(same);
    count_t base = 0;
    if (tree != DROPPED && lane_id() == leader) base = atomicAdd(&counts[tree], static_cast<count_t>(__popc(same)));
    base = __shfl_sync(FULL_MASK, base, leader);
    return base + __popc(same & lanes_before());
}

// ------------------------------------------------------------------ kernels, in launch order

// Every vertex is a tree, and its row a segment.  An edge's id is in `edge_ids` where rows or vertices were rearranged
// (`has_ids`), else the position of its arc from the smaller end.
// Launch: any grid of whole warps; `head` is all 0.  Writes tail, other, key, id, head, ends, trees[0].
extern "C" __global__ void boruvka_scan_list_arcs(int32 vertices, index_t arcs, const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_t* __restrict__ weights, int32 weight_kind,
                                                  int32 has_ids, const index_t* __restrict__ edge_ids, int32* tail,
                                                  int32* other, weight_key_t* key, index_t* id, uint8* head,
                                                  count_t* ends, uint32* trees) {
    const KeyMap key_of(weight_kind);
    if (grid_thread() == 0) trees[0] = vertices;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        ends[v] = static_cast<count_t>(offsets[v + 1]);
        if (offsets[v] < offsets[v + 1]) head[offsets[v]] = 1;
    }
    walk_arcs<LISTED>(offsets, vertices, 0, arcs, [&](int32 u, index_t arc, bool there) {
        if (!there) return;
        const int32 v = targets[arc];
        tail[arc] = u;
        other[arc] = v;
        key[arc] = key_of(weights[arc]);
        id[arc] = has_ids ? edge_ids[arc] : u < v ? arc : find_arc(targets, offsets[v], offsets[v + 1], u);
    });
}

// Every tree with a lightest arc learns where it leads; `link` and the keys were reset by boruvka_reset_trees.
// Launch: any grid.  Writes link, edge, best_key, best_id.
extern "C" __global__ void boruvka_scan_link_trees(int32 round, const uint32* __restrict__ trees,
                                                   const index_t* __restrict__ best, const int32* __restrict__ other,
                                                   const weight_key_t* __restrict__ key,
                                                   const index_t* __restrict__ id, int32* link, index_t* edge,
                                                   uint64* best_key, uint64* best_id) {
    for (int64 t = grid_thread(); t < trees[round]; t += grid_threads()) {
        const index_t arc = best[t];
        if (arc < 0) continue;
        link[t] = other[arc];
        edge[t] = id[arc];
        best_key[t] = PACKED ? static_cast<uint64>(key[arc]) << 32 | static_cast<uint32>(id[arc]) : key[arc];
        if (!PACKED) best_id[t] = static_cast<uint64>(id[arc]);
    }
}

// Every tree learns the new number of its root.
// Launch: any grid.  Writes renamed.
extern "C" __global__ void boruvka_scan_rename_trees(int32 round, const uint32* __restrict__ trees,
                                                     const int32* __restrict__ link,
                                                     const int32* __restrict__ number, int32* renamed) {
    for (int64 t = grid_thread(); t < trees[round]; t += grid_threads()) renamed[t] = number[link[t]];
}

// Arcs learn the new numbers of their trees; those inside one tree are dropped, the others counted.
// Launch: any grid of whole warps; `counts` is all 0.  Writes tail, other, counts.
extern "C" __global__ void boruvka_scan_count_arcs(index_t arcs, const int32* __restrict__ renamed, int32* tail,
                                                   int32* other, count_t* counts) {
    for (int64 first = grid_thread() - lane_id(); first < arcs; first += grid_threads()) {
        const int64 arc = first + lane_id();
        int32 from = DROPPED;
        if (arc < arcs) {
            const int32 to = renamed[other[arc]];
            from = renamed[tail[arc]];
            if (from == to) from = DROPPED;
            tail[arc] = from;
            other[arc] = to;
        }
        add_one(counts, from);
    }
}

// Mark where the segments begin, and report to the host how much the next round has.
// Launch: any grid; `head` is all 0, `ends` the exclusive scan of `counts`.  Writes head, next.
extern "C" __global__ void boruvka_scan_mark_heads(int32 round, const uint32* __restrict__ trees,
                                                   const count_t* __restrict__ counts,
                                                   const count_t* __restrict__ ends, uint8* head, uint64* next) {
    const int64 count = trees[round + 1];
    if (grid_thread() == 0) {
        next[0] = static_cast<uint64>(count);
        next[1] = count == 0 ? 0 : ends[count - 1] + counts[count - 1];
    }
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        if (counts[t] != 0) head[ends[t]] = 1;
    }
}

// Add edges to new vertices: every arc that is left goes to its tree's segment of the other list.
// Launch: any grid of whole warps.  Writes new_tail, new_other, new_key, new_id; ends[t] becomes the end of t's
// segment.
extern "C" __global__ void boruvka_scan_place_arcs(index_t arcs, const int32* __restrict__ tail,
                                                   const int32* __restrict__ other,
                                                   const weight_key_t* __restrict__ key,
                                                   const index_t* __restrict__ id, int32* new_tail, int32* new_other,
                                                   weight_key_t* new_key, index_t* new_id, count_t* ends) {
    for (int64 first = grid_thread() - lane_id(); first < arcs; first += grid_threads()) {
        const int64 arc = first + lane_id();
        const int32 from = arc < arcs ? tail[arc] : DROPPED;
        const count_t slot = add_one(ends, from);
        if (from == DROPPED) continue;
        new_tail[slot] = from;
        new_other[slot] = other[arc];
        new_key[slot] = key[arc];
        new_id[slot] = id[arc];
    }
}
