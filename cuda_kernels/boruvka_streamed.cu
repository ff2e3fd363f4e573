/*
Boruvka's minimum spanning forest of a graph whose edges do not fit on the device: they pass through it once.

The edges lie on the host, each once, in parts: the light ones, then heavier ones.  A part arrives in chunks, and every
edge between two trees is put on a list.  The list holds all light edges, so Boruvka's rounds on it give the forest of
the light edges, which is a part of the forest of the graph.  Of the edges of a later part nearly every one then lies
inside a tree and is dropped on sight; rounds on the few that are left give the forest of all edges so far.  Where more
are left than the list holds, the part passes once more: the passing itself is a round, in which every edge offers
itself to its two trees.

    rows (n+1)                       first edge of each vertex in a part; an edge is at its smaller end
    heads, weights (chunk)           the edges of a chunk: the larger end, the weight
    label (n)                        a vertex of the same tree, of smaller depth; the tree's root, after each part
    best_key, best_id (n)            lightest outgoing edge of each tree; afterwards its next number
    link (n)                         the tree it leads to
    root (n/2)                       from round 1 on: the label of each tree
    ends, key, id (capacity)         the list: both trees of an edge (round 0: their labels), its weight and number;
                                     where one word holds weight and number, key does, and id is not there
    kept (grid)                      how many edges each block has left in its share of the list
    trees (rounds)                   how many there are in each round; those of round 0 are all vertices
    changed (rounds, steps)          whether a step of merge_trees moved a link
    forest (n-1), control            numbers of the edges found; counters, see Control

Invariants.  Edges compare by (weight, number); numbers ascend with the edge's canonical id inside a part, and every
edge of a part is before every one of the next: the order is the canonical one, whatever the chunks and the schedule.
A part is on the list completely, or the rounds on it do not begin.  A share of the list is read and written by one
block only.

Source: the four procedures of A. Kolganov, "The implementation of a hybrid minimum spanning tree algorithm on CPU and
GPU", 2015; the light edges first after V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree
algorithm", ALENEX 2009; edges that pass by instead of the CPU's share are ours.
*/
#include "common.cuh"
#include "tree_links.cuh"

constexpr int JUMPS = 64;  // links followed in one launch of streamed_merge_trees
constexpr int SPAN = 128;  // consecutive edges of a chunk that one warp takes
constexpr int BLOCK = 256;  // threads of a block that renames its share of the list

// A key of 32-bit weight and 32-bit number fits one atomicMin; wider ones go in two steps.
constexpr bool PACKED = INDEX_BITS == 32 && sizeof(weight_key_t) == 4;
// A packed key ends in a number below 2^31; a wide one may be this word, and then its number differs.
constexpr uint64 NONE = ~0ull;

// Words of `control`: edges on the list (more than it holds: it overflowed), edges of the forest, edges that the last
// renaming left on the list.
enum Control { LISTED, FOREST_EDGES, LEFT, CONTROL_WORDS };

// ------------------------------------------------------------------ an edge and its two trees

// What is compared first: weight and number in one word, or the weight.
__device__ __forceinline__ uint64 first_key(weight_key_t weight, index_t number) {
    return PACKED ? static_cast<uint64>(weight) << 32 | static_cast<uint32>(number) : static_cast<uint64>(weight);
}

// Lower a tree's key.  A weight below all before it makes their number void; whoever lowers sees that, and every one of
// them writes the same.
__device__ __forceinline__ void offer(int32 tree, uint64 key, uint64* best_key, uint64* best_id) {
    if (PACKED) {
        lower_to(&best_key[tree], key);
    } else if (key < *static_cast<volatile uint64*>(&best_key[tree])) {  // race-allowed: the value only falls
        atomicMin(&best_key[tree], key);
        best_id[tree] = NONE;  // race-allowed: every writer writes the same
    }
}

__device__ __forceinline__ bool chosen(int32 tree, uint64 key, uint64 id, const uint64* __restrict__ best_key,
                                       const uint64* __restrict__ best_id) {
    return key == best_key[tree] && (PACKED || id == best_id[tree]);
}

// An edge that passes by.
struct Passing {
    index_t at;  // position in the chunk
    int32 a, b;  // labels of both ends; equal where there is no edge or it is inside a tree
};

// Call `body` with each edge of the chunk [first, first + count), all 32 lanes together, idle ones with a == b.
template <typename Body>
__device__ __forceinline__ void for_edges_of_chunk(index_t first, index_t count, int32 vertices,
                                                   const index_t* __restrict__ rows, const int32* __restrict__ heads,
                                                   const int32* __restrict__ label, Body body) {
    walk_arcs<SPAN>(rows, vertices, first, count, [&](int32 u, index_t at, bool there) {
        body(Passing{at, there ? label[u] : 0, there ? label[heads[at]] : 0});
    });
}

// ------------------------------------------------------------------ kernels, in launch order

// Every vertex becomes a tree.
// Launch: any grid.  Writes label, trees[0].
extern "C" __global__ void streamed_start(int32 vertices, int32* label, uint32* trees) {
    if (grid_thread() == 0) trees[0] = vertices;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) label[v] = static_cast<int32>(v);
}

// A tree without choice links to itself.
// Launch: any grid.  Writes link, best_key, best_id over trees[round].
extern "C" __global__ void streamed_reset_trees(int32 round, const uint32* __restrict__ trees, int32* link,
                                                uint64* best_key, uint64* best_id) {
    for (int64 t = grid_thread(); t < trees[round]; t += grid_threads()) {
        link[t] = static_cast<int32>(t);
        best_key[t] = NONE;
        if (!PACKED) best_id[t] = NONE;
    }
}

// A chunk passes: every edge between two trees offers itself to both and goes on the list, while there is room.  The
// chunk holds the edges first, first + 1, … of the part, whose numbers are those plus `numbers`.
// Launch: any grid of whole warps.  Appends to ends, key, id; raises control[LISTED]; lowers best_key, best_id.
extern "C" __global__ void streamed_pass_chunk(index_t first, index_t count, index_t numbers, int32 vertices,
                                               const index_t* __restrict__ rows,
                                               const int32* __restrict__ heads, const weight_t* __restrict__ weights,
                                               int32 weight_kind, const int32* __restrict__ label, uint32 capacity,
                                               uint64* ends, uint64* key, uint64* id, uint64* best_key,
                                               uint64* best_id, uint32* control) {
    const KeyMap key_of(weight_kind);
    for_edges_of_chunk(first, count, vertices, rows, heads, label, [&](const Passing& edge) {
        const bool outgoing = edge.a != edge.b;
        if (!__any_sync(FULL_MASK, outgoing)) return;
        const index_t number = numbers + first + edge.at;
        const uint64 mine = outgoing ? first_key(key_of(weights[edge.at]), number) : NONE;
        if (outgoing) {
            offer(edge.a, mine, best_key, best_id);
            offer(edge.b, mine, best_key, best_id);
        }
        // Once the list is full nobody need count on, which also keeps the counter from wrapping.
        const uint32 listed = __shfl_sync(
            FULL_MASK, *static_cast<volatile uint32*>(&control[LISTED]), 0);  // race-allowed: it only grows
        if (listed > capacity) return;
        const uint32 slot = warp_append(&control[LISTED], outgoing);
        if (!outgoing || slot >= capacity) return;
        ends[slot] = static_cast<uint64>(edge.a) << 32 | static_cast<uint32>(edge.b);
        key[slot] = mine;
        if (!PACKED) id[slot] = static_cast<uint64>(number);
    });
}

// The same chunk again, wide keys only: the least number among the edges of least weight.  A tree whose weight comes
// from an earlier chunk has a smaller number already.
// Launch: any grid of whole warps.  Lowers best_id.
extern "C" __global__ void streamed_settle_chunk(index_t first, index_t count, index_t numbers, int32 vertices,
                                                 const index_t* __restrict__ rows, const int32* __restrict__ heads,
                                                 const weight_t* __restrict__ weights, int32 weight_kind,
                                                 const int32* __restrict__ label,
                                                 const uint64* __restrict__ best_key, uint64* best_id) {
    const KeyMap key_of(weight_kind);
    for_edges_of_chunk(first, count, vertices, rows, heads, label, [&](const Passing& edge) {
        if (edge.a == edge.b) return;
        const uint64 number = static_cast<uint64>(numbers + first + edge.at);
        const uint64 mine = static_cast<uint64>(key_of(weights[edge.at]));
        if (mine == best_key[edge.a]) lower_to(&best_id[edge.a], number);
        if (mine == best_key[edge.b]) lower_to(&best_id[edge.b], number);
    });
}

// The same chunk again: the edge that a tree has chosen so far gives it its link.  A later chunk that lowers the
// choice overwrites it.  Numbers are unique, so exactly one thread writes.
// Launch: any grid of whole warps.  Writes link.
extern "C" __global__ void streamed_link_chunk(index_t first, index_t count, index_t numbers, int32 vertices,
                                               const index_t* __restrict__ rows, const int32* __restrict__ heads,
                                               const weight_t* __restrict__ weights, int32 weight_kind,
                                               const int32* __restrict__ label,
                                               const uint64* __restrict__ best_key,
                                               const uint64* __restrict__ best_id, int32* link) {
    const KeyMap key_of(weight_kind);
    for_edges_of_chunk(first, count, vertices, rows, heads, label, [&](const Passing& edge) {
        if (edge.a == edge.b) return;
        const index_t number = numbers + first + edge.at;
        const uint64 mine = first_key(key_of(weights[edge.at]), number);
        if (chosen(edge.a, mine, static_cast<uint64>(number), best_key, best_id)) link[edge.a] = edge.b;
        if (chosen(edge.b, mine, static_cast<uint64>(number), best_key, best_id)) link[edge.b] = edge.a;
    });
}

// Deal the list to the blocks of the launches that follow: `share` edges each.
// Launch: one block at least.  Writes kept (blocks).
extern "C" __global__ void streamed_deal_list(int32 blocks, uint32 share, const uint32* __restrict__ control,
                                              uint32* kept) {
    for (int64 b = grid_thread(); b < blocks; b += grid_threads()) {
        const int64 rest = static_cast<int64>(control[LISTED]) - b * share;
        kept[b] = rest < 0 ? 0 : rest < share ? static_cast<uint32>(rest) : share;
    }
}

// Find-min on the list: every edge offers itself to both trees.
// Launch: the blocks that share the list.  Lowers best_key, best_id.
extern "C" __global__ void streamed_offer_list(uint32 share, const uint32* __restrict__ kept,
                                               const uint64* __restrict__ ends, const uint64* __restrict__ key,
                                               uint64* best_key, uint64* best_id) {
    const int64 start = static_cast<int64>(blockIdx.x) * share;
    for (int64 at = start + threadIdx.x; at < start + kept[blockIdx.x]; at += blockDim.x) {
        offer(static_cast<int32>(ends[at] >> 32), key[at], best_key, best_id);
        offer(static_cast<int32>(ends[at]), key[at], best_key, best_id);
    }
}

// Find-min on the list, wide keys only: the least number among the edges of least weight.
// Launch: the blocks that share the list.  Lowers best_id.
extern "C" __global__ void streamed_settle_list(uint32 share, const uint32* __restrict__ kept,
                                                const uint64* __restrict__ ends, const uint64* __restrict__ key,
                                                const uint64* __restrict__ id, const uint64* __restrict__ best_key,
                                                uint64* best_id) {
    const int64 start = static_cast<int64>(blockIdx.x) * share;
    for (int64 at = start + threadIdx.x; at < start + kept[blockIdx.x]; at += blockDim.x) {
        const int32 a = static_cast<int32>(ends[at] >> 32), b = static_cast<int32>(ends[at]);
        if (key[at] == best_key[a]) lower_to(&best_id[a], id[at]);
        if (key[at] == best_key[b]) lower_to(&best_id[b], id[at]);
    }
}

// Find-min on the list: the edge that a tree has chosen gives it its link.
// Launch: the blocks that share the list.  Writes link.
extern "C" __global__ void streamed_link_list(uint32 share, const uint32* __restrict__ kept,
                                              const uint64* __restrict__ ends, const uint64* __restrict__ key,
                                              const uint64* __restrict__ id, const uint64* __restrict__ best_key,
                                              const uint64* __restrict__ best_id, int32* link) {
    const int64 start = static_cast<int64>(blockIdx.x) * share;
    for (int64 at = start + threadIdx.x; at < start + kept[blockIdx.x]; at += blockDim.x) {
        const int32 a = static_cast<int32>(ends[at] >> 32), b = static_cast<int32>(ends[at]);
        const uint64 number = PACKED ? 0 : id[at];
        if (chosen(a, key[at], number, best_key, best_id)) link[a] = b;
        if (chosen(b, key[at], number, best_key, best_id)) link[b] = a;
    }
}

// Remove cycles: of two trees that chose the same edge, the smaller number becomes the root.  Every other tree that
// links away adds its edge to the forest.
// Launch: any grid of whole warps.  Writes link, forest; raises control[FOREST_EDGES].
extern "C" __global__ void streamed_remove_cycles(int32 round, const uint32* __restrict__ trees,
                                                  const uint64* __restrict__ best_key,
                                                  const uint64* __restrict__ best_id, int32* link, index_t* forest,
                                                  uint32* control) {
    for (int64 first = grid_thread() - lane_id(); first < trees[round]; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool joins = t < trees[round] && links_away(static_cast<int32>(t), link);
        const uint32 slot = warp_append(&control[FOREST_EDGES], joins);
        if (joins) forest[slot] = static_cast<index_t>(PACKED ? best_key[t] & 0xffffffffu : best_id[t]);
    }
}

// Merge trees: pointer jumping, up to JUMPS links in a launch.  A launch that follows one without change returns at
// once, so that the host need not ask.
// Launch: any grid, ceil(log_JUMPS trees) + 1 times with step = 0, 1, …  Writes link, changed[step].
extern "C" __global__ void streamed_merge_trees(int32 round, int32 step, const uint32* __restrict__ trees, int32* link,
                                                uint32* changed) {
    if (step > 0 && changed[step - 1] == 0) return;
    if (shorten_links<JUMPS>(trees[round], link)) changed[step] = 1;  // race-allowed: every writer writes 1
}

// Renumber: the roots that have grown are numbered from 0, and every other tree's label leads to its root's.  A tree's
// number takes the place of its key.
// Launch: any grid of whole warps.  Writes best_key, next_root, label, trees[round + 1].
extern "C" __global__ void streamed_number_trees(int32 round, uint32* trees, const int32* __restrict__ link,
                                                 uint64* best_key, const uint64* __restrict__ best_id,
                                                 const int32* __restrict__ root, int32* next_root, int32* label) {
    const uint32 count = trees[round];
    for (int64 first = grid_thread() - lane_id(); first < count; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool grown = t < count && link[t] == t && (PACKED ? best_key[t] : best_id[t]) != NONE;
        const uint32 slot = warp_append(&trees[round + 1], grown);
        if (t >= count) continue;
        const int32 own = round == 0 ? static_cast<int32>(t) : root[t];
        if (grown) {
            best_key[t] = slot;
            next_root[slot] = own;
        } else if (link[t] != t) {
            label[own] = round == 0 ? link[t] : root[link[t]];
        }
    }
}

// Renumber: the edges of the list learn the numbers of their trees; those inside a tree are dropped, and each block
// closes up its share.  Round 0 holds labels, which a tree without an outgoing edge may have only if no edge has it.
// Launch: the blocks that share the list, of BLOCK threads.  Writes ends, key, id, kept; raises control[LEFT].
extern "C" __global__ void streamed_rename_list(uint32 share, uint32* kept, uint64* ends, uint64* key, uint64* id,
                                                const int32* __restrict__ link, const uint64* __restrict__ best_key,
                                                uint32* control) {
    __shared__ uint32 warp_total[BLOCK / WARP];
    const int warp = threadIdx.x / WARP;
    const int64 start = static_cast<int64>(blockIdx.x) * share;
    const uint32 count = kept[blockIdx.x];
    uint32 stayed = 0;
    for (uint32 base = 0; base < count; base += BLOCK) {
        const int64 at = start + base + threadIdx.x;
        uint64 a = 0, b = 0, mine = 0, number = 0;
        if (base + threadIdx.x < count) {
            a = best_key[link[static_cast<int32>(ends[at] >> 32)]];
            b = best_key[link[static_cast<int32>(ends[at])]];
            mine = key[at];
            if (!PACKED) number = id[at];
        }
        const unsigned stays = __ballot_sync(FULL_MASK, a != b);
        if (lane_id() == 0) warp_total[warp] = static_cast<uint32>(__popc(stays));
        __syncthreads();  // and all of this portion has been read: what is written now lies before the next
        uint32 slot = stayed + __popc(stays & lanes_before());
        for (int w = 0; w < BLOCK / WARP; ++w) {
            if (w < warp) slot += warp_total[w];
            stayed += warp_total[w];
        }
        if (a != b) {
            ends[start + slot] = a << 32 | b;
            key[start + slot] = mine;
            if (!PACKED) id[start + slot] = number;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        kept[blockIdx.x] = stayed;
        if (stayed != 0) atomicAdd(&control[LEFT], stayed);
    }
}

// After a part: every vertex's label becomes its tree's root.
// Launch: any grid.  Writes label.
extern "C" __global__ void streamed_flatten(int32 vertices, int32* label) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        const int32 start = label[v];  // race-allowed: only thread v writes it
        int32 root = start;
        for (;;) {
            const int32 next = label[root];  // race-allowed: any value it holds leads to the same root
            if (next == root) break;
            root = next;
        }
        if (root != start) label[v] = root;  // race-allowed: a shortcut to the same root
    }
}
