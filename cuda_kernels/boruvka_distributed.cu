/*
Boruvka's algorithm on the edges of one rank: the local part of every round; what the ranks agree on lies between.

Each rank holds a share of the edges and the number of the tree at both ends of each; all ranks hold the same trees.
Its edges are those that its own arcs leave: of a forest that is the forest of its own arcs (list_forest), for the last
edge of a cycle here is the last of a cycle in the whole graph too; of components any tree of each (list_labels).
A round finds the least key at every tree (find_min), which the ranks reduce; then, among the edges of that key,
the first position here (find_first), for which the rank claims the tree (claim); the ranks reduce the claims, so that
the lowest rank wins.  Positions and ranks ascend together, so the winner is the least edge in canonical order.
From there on all ranks do the same to the same arrays: hook, cut cycles of two, jump, renumber; then each drops its
own edges inside a tree (filter).  A tree that nobody claims has no edge left and takes no part any more.

Arrays of a rank, m of them its edges, t the trees of the round, n the vertices:
    offsets (n + 1,), targets, weights (arcs,)      its share of the edges as a graph, both arcs of each; weights come
                                                    as unsigned words, weight_kind tells what they are
    tail, head (m,) int32                           the trees at both ends
    key (m,) weight_key_t, at (m,) uint32           the order key of the weight, and what ties are broken by: the arc's
                                                    position in that graph
    best_key (t,), best_at (t,) uint32              least key; least position of an edge of that key, or NO_EDGE
    claims (t,) uint64                              rank * 2^32 + the tree at the other end, or NO_CLAIM
    parent, link, number, renamed (t,) int32        the tree hung on; its root; numbers of live roots; new numbers

Source: Boruvka 1926; the reduction among ranks by key and owner as in Chung & Condon 1996, Parallel implementation of
Boruvka's minimum spanning tree algorithm, section 4.
*/
#include "common.cuh"

constexpr int BLOCK = 256;
constexpr int TREES = 2048;       // trees that a block numbers
constexpr int JUMPS = 8;          // links that a launch of jump follows
constexpr uint32 NO_EDGE = 0xffffffffu;
constexpr uint64 NO_CLAIM = 0xffffffffffffffffull;

// List the edges of a forest that are given by either of their arcs.
// Launch: any; a thread for every edge.  Writes: tail, head, key, at (edges,), its own each.
extern "C" __global__ void boruvka_distributed_list_forest(uint32 edges, const index_t* __restrict__ forest, int32 n,
                                                           const index_t* __restrict__ offsets,
                                                           const int32* __restrict__ targets,
                                                           const weight_t* __restrict__ weights, int32 weight_kind,
                                                           int32* tail, int32* head, weight_key_t* key, uint32* at) {
    const KeyMap key_of(weight_kind);
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        const index_t arc = forest[i];
        const int32 u = row_of_arc(offsets, arc, 0, n - 1);
        const int32 v = targets[arc];
        tail[i] = u;
        head[i] = v;
        key[i] = key_of(weights[arc]);
        at[i] = static_cast<uint32>(u < v ? arc : find_arc(targets, offsets[v], offsets[v + 1], u));
    }
}

// List an edge from every vertex to the smallest vertex of its component here: they join what the arcs here join.
// Launch: any, blocks of whole warps; a thread for every vertex.  Writes: tail, head, key, at (count,), slots by
// warp_append.
extern "C" __global__ void boruvka_distributed_list_labels(int32 n, const int32* __restrict__ label, int32* tail,
                                                           int32* head, weight_key_t* key, uint32* at,
                                                           uint32* count) {
    const int64 padded = (static_cast<int64>(n) + WARP - 1) / WARP * WARP;
    for (int64 v = grid_thread(); v < padded; v += grid_threads()) {
        const bool keep = v < n && label[v] != v;
        const uint32 slot = warp_append(count, keep);
        if (keep) {
            tail[slot] = label[v];
            head[slot] = static_cast<int32>(v);
            key[slot] = 0;
            at[slot] = static_cast<uint32>(v);
        }
    }
}

// Launch: any; a thread for every edge.  Writes: best_key (t,), NO_KEY before, lowered by atomicMin.
extern "C" __global__ void boruvka_distributed_find_min(uint32 edges, const int32* __restrict__ tail,
                                                        const int32* __restrict__ head,
                                                        const weight_key_t* __restrict__ key,
                                                        weight_key_t* best_key) {
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        lower_to(best_key + tail[i], key[i]);
        lower_to(best_key + head[i], key[i]);
    }
}

// Launch: any; a thread for every edge.  Writes: best_at (t,), NO_EDGE before, lowered by atomicMin.
extern "C" __global__ void boruvka_distributed_find_first(uint32 edges, const int32* __restrict__ tail,
                                                          const int32* __restrict__ head,
                                                          const weight_key_t* __restrict__ key,
                                                          const uint32* __restrict__ at,
                                                          const weight_key_t* __restrict__ best_key,
                                                          uint32* best_at) {
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        if (key[i] == best_key[tail[i]]) lower_to(best_at + tail[i], at[i]);
        if (key[i] == best_key[head[i]]) lower_to(best_at + head[i], at[i]);
    }
}

// Launch: any; a thread for every edge.  Writes: claims (t,), NO_CLAIM before, each by the one edge of that position.
extern "C" __global__ void boruvka_distributed_claim(uint32 edges, uint32 rank, const int32* __restrict__ tail,
                                                     const int32* __restrict__ head, const uint32* __restrict__ at,
                                                     const uint32* __restrict__ best_at, uint64* claims) {
    const uint64 mine = static_cast<uint64>(rank) << 32;
    for (int64 i = grid_thread(); i < edges; i += grid_threads()) {
        if (best_at[tail[i]] == at[i]) claims[tail[i]] = mine | static_cast<uint32>(head[i]);
        if (best_at[head[i]] == at[i]) claims[head[i]] = mine | static_cast<uint32>(tail[i]);
    }
}

// Launch: any; a thread for every tree.  Writes: parent (t,), its own each.
extern "C" __global__ void boruvka_distributed_hook(uint32 trees, const uint64* __restrict__ claims, int32* parent) {
    for (int64 c = grid_thread(); c < trees; c += grid_threads()) {
        parent[c] = claims[c] == NO_CLAIM ? static_cast<int32>(c) : static_cast<int32>(claims[c] & 0xffffffffu);
    }
}

// Two trees that claimed the same edge are the only cycles there are: the smaller becomes a root.  The edge of every
// other tree joins the forest, on the rank that won it.
// Launch: any, blocks of whole warps; a thread for every tree.  Writes: link (t,), its own each; chosen (count,).
extern "C" __global__ void boruvka_distributed_cut(uint32 trees, uint32 rank, const uint64* __restrict__ claims,
                                                   const uint32* __restrict__ best_at,
                                                   const int32* __restrict__ parent, int32* link, uint32* chosen,
                                                   uint32* chosen_count) {
    const int64 padded = (static_cast<int64>(trees) + WARP - 1) / WARP * WARP;
    for (int64 c = grid_thread(); c < padded; c += grid_threads()) {
        bool wins = false;
        if (c < trees) {
            const int32 up = parent[c];
            const bool root = up == c || (parent[up] == c && c < up);
            link[c] = root ? static_cast<int32>(c) : up;
            wins = !root && static_cast<uint32>(claims[c] >> 32) == rank;
        }
        const uint32 slot = warp_append(chosen_count, wins);
        if (wins) chosen[slot] = best_at[c];
    }
}

// Launch: any; a thread for every tree, again until every tree is at most one link from its root.
// Writes: link (t,), its own each; others read it meanwhile, and find an ancestor in any case.
extern "C" __global__ void boruvka_distributed_jump(uint32 trees, int32* link) {
    volatile int32* links = link;
    for (int64 c = grid_thread(); c < trees; c += grid_threads()) {
        int32 up = links[c];  // race-allowed: a tree's own link is written by its own thread alone
        for (int jump = 0; jump < JUMPS; ++jump) {
            const int32 next = links[up];  // race-allowed: an old link leads to an ancestor too
            if (next == up) break;
            up = next;
        }
        links[c] = up;  // race-allowed: whoever reads the old link finds an ancestor too
    }
}

__device__ __forceinline__ bool live_root(int64 c, const uint64* claims, const int32* link) {
    return link[c] == c && claims[c] != NO_CLAIM;
}

// Launch: a block of BLOCK for every TREES trees.  Writes: counts (blocks,), the live roots of each stretch.
extern "C" __global__ void boruvka_distributed_count(uint32 trees, const uint64* __restrict__ claims,
                                                     const int32* __restrict__ link, uint32* counts) {
    __shared__ uint32 total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int64 base = static_cast<int64>(blockIdx.x) * TREES;
    uint32 mine = 0;
    for (int64 c = base + threadIdx.x; c < base + TREES && c < trees; c += BLOCK) mine += live_root(c, claims, link);
    if (mine != 0) atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// Number the live roots in order, so that all ranks number alike.
// Launch: as count; bases (blocks,) are the live roots of the stretches before.  Writes: number (t,), its own each.
extern "C" __global__ void boruvka_distributed_number(uint32 trees, const uint64* __restrict__ claims,
                                                      const int32* __restrict__ link,
                                                      const uint32* __restrict__ bases, int32* number) {
    __shared__ uint32 of_warps[BLOCK / WARP];
    const int warp = threadIdx.x / WARP;
    uint32 before = bases[blockIdx.x];
    for (int64 base = static_cast<int64>(blockIdx.x) * TREES; base < (static_cast<int64>(blockIdx.x) + 1) * TREES;
         base += BLOCK) {
        const int64 c = base + threadIdx.x;
        const bool live = c < trees && live_root(c, claims, link);
        const unsigned here = __ballot_sync(FULL_MASK, live);
        if (lane_id() == 0) of_warps[warp] = __popc(here);
        __syncthreads();
        uint32 mine = before;
        for (int w = 0; w < BLOCK / WARP; ++w) {
            if (w < warp) mine += of_warps[w];
            before += of_warps[w];
        }
        if (c < trees) number[c] = live ? static_cast<int32>(mine + __popc(here & lanes_before())) : -1;
        __syncthreads();
    }
}

// Launch: any; a thread for every tree.  Writes: renamed (t,), its own each; -1 for a tree that has ended.
extern "C" __global__ void boruvka_distributed_rename(uint32 trees, const int32* __restrict__ link,
                                                      const int32* __restrict__ number, int32* renamed) {
    for (int64 c = grid_thread(); c < trees; c += grid_threads()) renamed[c] = number[link[c]];
}

// Keep the edges between two trees, by their new numbers, in any order.
// Launch: any, blocks of whole warps; a thread for every edge.  Writes: the second set of arrays (count,).
extern "C" __global__ void boruvka_distributed_filter(uint32 edges, const int32* __restrict__ tail,
                                                      const int32* __restrict__ head,
                                                      const weight_key_t* __restrict__ key,
                                                      const uint32* __restrict__ at,
                                                      const int32* __restrict__ renamed, int32* tail_out,
                                                      int32* head_out, weight_key_t* key_out, uint32* at_out,
                                                      uint32* count) {
    const int64 padded = (static_cast<int64>(edges) + WARP - 1) / WARP * WARP;
    for (int64 i = grid_thread(); i < padded; i += grid_threads()) {
        int32 one = 0, other = 0;
        if (i < edges) {
            one = renamed[tail[i]];
            other = renamed[head[i]];
        }
        const uint32 slot = warp_append(count, one != other);
        if (one != other) {
            tail_out[slot] = one;
            head_out[slot] = other;
            key_out[slot] = key[i];
            at_out[slot] = at[i];
        }
    }
}

// ------------------------------------------------------------------ labels: the smallest vertex of every tree

// Launch: any; a thread for every tree.  Writes: least_out, 2^31 - 1 before, lowered by atomicMin.
extern "C" __global__ void boruvka_distributed_least(uint32 trees, const int32* __restrict__ renamed,
                                                     const int32* __restrict__ least, int32* least_out) {
    for (int64 c = grid_thread(); c < trees; c += grid_threads()) {
        if (renamed[c] >= 0) lower_to(least_out + renamed[c], least[c]);
    }
}

// Launch: any; a thread for every vertex.  Writes: label (n,), its own each: the tree's new number, or, where the tree
// has ended, -1 - its smallest vertex.
extern "C" __global__ void boruvka_distributed_label(int32 n, const int32* __restrict__ renamed,
                                                     const int32* __restrict__ least, int32* label) {
    for (int64 v = grid_thread(); v < n; v += grid_threads()) {
        const int32 tree = label[v];
        if (tree >= 0) label[v] = renamed[tree] >= 0 ? renamed[tree] : -1 - least[tree];
    }
}

// Launch: any; a thread for every vertex.  Writes: label (n,), its own each: the smallest vertex of its tree.
extern "C" __global__ void boruvka_distributed_settle(int32 n, const int32* __restrict__ least, int32* label) {
    for (int64 v = grid_thread(); v < n; v += grid_threads()) {
        label[v] = label[v] >= 0 ? least[label[v]] : -1 - label[v];
    }
}
