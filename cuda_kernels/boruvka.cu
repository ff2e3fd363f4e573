/*
Boruvka's minimum spanning forest by four procedures: find the lightest edge of every tree, remove cycles,
merge trees, renumber them.  Every vertex starts as a tree of its own; a round at least halves the trees that
still have an outgoing edge, so a connected graph of n vertices takes at most log2 n rounds.

    offsets (n+1)  targets (arcs)  weights (arcs)      the graph, both arcs of every edge, rows by target
    base, base_byte, base_bits, kept_shift             its targets in compressed form: boruvka_neighbours.cuh
    tree (n)                                           number of the tree each vertex is in; FINISHED at the end
    lower, upper, vertex (segments)                    pieces of at most SEGMENT_ARCS arcs of one vertex's row
    segment_key, segment_id, segment_other (segments)  the lightest outgoing arc of each segment
    best_key, best_id (trees)                          the lightest outgoing edge of each tree
    link, edge, number (trees)                         the tree it leads to, its id; the tree's next number
    trees, segments (rounds)                           how many there are in each round
    changed (rounds, steps)                            whether a step of merge_trees moved a link
    forest (n-1), forest_edges (1)                     ids of the edges found, in any order; how many they are

Invariants.  Edges compare by (weight, id), where an edge's id is the position of its arc u->v, u < v: a total
order, so the edges chosen close no cycle longer than two trees choosing the same edge, and the forest is the
same on every run.  A segment without an outgoing arc will never have one again and is dropped; so is a tree,
whose vertices become FINISHED.

Defines in addition to those of common.cuh and boruvka_neighbours.cuh:
    LANES    4 | 8 | 16 | 32   lanes that read one segment together, chosen by average degree
    SORTED   0 | 1             rows are sorted by (weight, id): the first outgoing arc is the lightest
    HAS_IDS  0 | 1             edge_ids gives the id of every arc (rows or vertices were rearranged)
    SHUFFLES 1 | 0             lanes agree by shuffles; 0: through shared memory, for comparison

Source: A. Kolganov, "Hybrid implementation of the MST algorithm using CPU and GPU", 2015.  The
paper lets one warp reduce all segments of a tree; a giant tree would leave that warp alone with millions of them,
so here warps reduce what lies next to each other and meet at the tree by atomicMin.  In the hybrid the GPU has the
first rows and the CPU the others; what the CPU finds arrives as segments of its own.
*/
#include "common.cuh"
#include "boruvka_neighbours.cuh"
#include "tree_links.cuh"

#ifndef LANES
#define LANES 32
#endif
#ifndef SORTED
#define SORTED 0
#endif
#ifndef HAS_IDS
#define HAS_IDS 0
#endif
#ifndef SHUFFLES
#define SHUFFLES 1
#endif

constexpr int SEGMENT_ARCS = 1024;  // a hub's row is cut, so that no warp is left alone with it
// Trees are numbered from 0.
constexpr int32 FINISHED = -1;      // tree number of vertices whose tree spans its component
constexpr int32 NO_TREE = -1;       // segment_other of a segment without an outgoing arc
constexpr int BLOCK = 256;          // threads of a block, where lanes agree through shared memory
constexpr int JUMPS = 8;            // links followed in one launch of boruvka_merge_trees

// A key of 32-bit weight and 32-bit id fits one atomicMin; wider ones go in two passes.
constexpr bool PACKED = INDEX_BITS == 32 && sizeof(weight_key_t) == 4;
// A packed key ends in an id, which is below 2^31; a wide one may be this word, and then its id differs.
constexpr uint64 NO_BID = ~0ull;

// ------------------------------------------------------------------ helpers

struct Candidate {
    weight_key_t key;
    index_t order;  // breaks ties: position in the row, or the id where rows are not in canonical order
    index_t arc;
    int32 other;  // tree at the other end, NO_TREE if none
};

__device__ __forceinline__ bool lighter(const Candidate& a, const Candidate& b) {
    if (b.other == NO_TREE) return a.other != NO_TREE;
    if (a.other == NO_TREE) return false;
    return a.key < b.key || (a.key == b.key && a.order < b.order);
}

// The lightest candidate of a group of LANES lanes, in every lane of it.
__device__ __forceinline__ Candidate group_lightest(Candidate mine, unsigned group) {
#if !SHUFFLES
    __shared__ Candidate held[BLOCK];
#endif
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
        Candidate theirs;
#if SHUFFLES
        theirs.key = __shfl_xor_sync(group, mine.key, offset);
        theirs.order = __shfl_xor_sync(group, mine.order, offset);
        theirs.arc = __shfl_xor_sync(group, mine.arc, offset);
        theirs.other = __shfl_xor_sync(group, mine.other, offset);
#else
        held[threadIdx.x] = mine;
        __syncwarp(group);
        theirs = held[threadIdx.x ^ offset];
        __syncwarp(group);
#endif
        if (lighter(theirs, mine)) mine = theirs;
    }
    return mine;
}

// The first lane of a group of LANES lanes whose arc is outgoing, LANES if none is; `other` becomes that lane's.
__device__ __forceinline__ int first_outgoing(int32* other, bool outgoing, unsigned group) {
    const int lane = threadIdx.x % LANES;
#if SHUFFLES
    const unsigned votes = __ballot_sync(group, outgoing);
    if (votes == 0) return LANES;
    const int winner = first_lane(votes);
    *other = __shfl_sync(group, *other, winner);
    return winner - (lane_id() - lane);
#else
    __shared__ int first[BLOCK];
    __shared__ int32 trees[BLOCK];
    int winner = outgoing ? lane : LANES;
    trees[threadIdx.x] = *other;
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
        first[threadIdx.x] = winner;
        __syncwarp(group);
        const int theirs = first[threadIdx.x ^ offset];
        __syncwarp(group);
        winner = theirs < winner ? theirs : winner;
    }
    if (winner < LANES) *other = trees[threadIdx.x - lane + winner];
    __syncwarp(group);
    return winner;
#endif
}

// ------------------------------------------------------------------ kernels, in launch order

// Cut the rows [first, last) into segments.  All 32 lanes of a warp must call.
__device__ __forceinline__ void cut_rows(int64 first, int64 last, const index_t* __restrict__ offsets, index_t* lower,
                                         index_t* upper, int32* vertex, uint32* segments) {
    for (int64 start = first + grid_thread() - lane_id(); start < last; start += grid_threads()) {
        const int64 v = start + lane_id();
        index_t begin = 0, end = 0;
        if (v < last) {
            begin = offsets[v];
            end = offsets[v + 1];
        }
        const uint32 pieces = static_cast<uint32>((end - begin + SEGMENT_ARCS - 1) / SEGMENT_ARCS);
        uint32 slot = warp_reserve(segments, pieces);
        for (index_t at = begin; at < end; at += SEGMENT_ARCS, ++slot) {
            lower[slot] = at;
            upper[slot] = end - at < SEGMENT_ARCS ? end : at + SEGMENT_ARCS;
            vertex[slot] = static_cast<int32>(v);
        }
    }
}

// Every vertex becomes a tree, and the first `rows` rows, all of them but in the hybrid, are cut into segments.
// Launch: any grid of whole warps.  Writes tree, lower, upper, vertex, segments[0], trees[0].
extern "C" __global__ void boruvka_start(int32 vertices, int32 rows, const index_t* __restrict__ offsets, int32* tree,
                                         index_t* lower, index_t* upper, int32* vertex, uint32* trees,
                                         uint32* segments) {
    if (grid_thread() == 0) trees[0] = vertices;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) tree[v] = static_cast<int32>(v);
    cut_rows(0, rows, offsets, lower, upper, vertex, &segments[0]);
}

// The hybrid gives the rows [first, last) to the GPU from this round on.
// Launch: any grid of whole warps.  Appends to lower, upper, vertex; raises segments[round].
extern "C" __global__ void boruvka_add_rows(int32 round, int32 first, int32 last, const index_t* __restrict__ offsets,
                                            index_t* lower, index_t* upper, int32* vertex, uint32* segments) {
    cut_rows(first, last, offsets, lower, upper, vertex, &segments[round]);
}

// A tree without choice links to itself.
// Launch: any grid.  Writes link, best_key, best_id over trees[round].
extern "C" __global__ void boruvka_reset_trees(int32 round, const uint32* __restrict__ trees, int32* link,
                                               uint64* best_key, uint64* best_id) {
    for (int64 t = grid_thread(); t < trees[round]; t += grid_threads()) {
        link[t] = static_cast<int32>(t);
        best_key[t] = NO_BID;
        if (!PACKED) best_id[t] = NO_BID;
    }
}

// Find-min, step 1: the lightest outgoing arc of every segment.
// LANES lanes read a segment together, LANES arcs at a time, and agree by shuffles.  Where rows are sorted they stop
// at the first portion that holds an outgoing arc, and never look at what lies before it again.
// Launch: any grid of BLOCK threads.  Writes segment_key, segment_id, segment_other and (sorted) lower.
extern "C" __global__ void boruvka_find_min_segments(int32 round, const uint32* __restrict__ segments,
                                                     const index_t* __restrict__ offsets,
                                                     const int32* __restrict__ targets,
                                                     const int32* __restrict__ base,
                                                     const uint8* __restrict__ base_byte,
                                                     const uint8* __restrict__ base_bits,
                                                     const index_t* __restrict__ kept_shift,
                                                     const weight_t* __restrict__ weights, int32 weight_kind,
                                                     const index_t* __restrict__ edge_ids,
                                                     const int32* __restrict__ tree, index_t* lower,
                                                     const index_t* __restrict__ upper,
                                                     const int32* __restrict__ vertex, weight_key_t* segment_key,
                                                     index_t* segment_id, int32* segment_other) {
    const Neighbours graph = {targets, base, base_byte, base_bits, kept_shift};
    const KeyMap key_of(weight_kind);
    const int lane = threadIdx.x % LANES;
    const unsigned group = (LANES == WARP ? FULL_MASK : (1u << (LANES % WARP)) - 1) << (lane_id() - lane);
    for (int64 s = grid_thread() / LANES; s < segments[round]; s += grid_threads() / LANES) {
        const int32 u = vertex[s];
        const int32 own = tree[u];
        const Row row = open_row(graph, u);
        const index_t end = upper[s];
        Candidate best = {NO_KEY, 0, 0, NO_TREE};
        for (index_t portion = lower[s]; portion < end; portion += LANES) {
            const index_t arc = portion + lane;
            int32 other = own;
            if (arc < end) {
                const int32 v = target_of(graph, row, arc);
                other = round == 0 ? v : tree[v];
            }
#if SORTED
            const int winner = first_outgoing(&other, other != own, group);
            if (winner < LANES) {
                best.other = other;
                best.arc = portion + winner;
                break;
            }
#else
            if (other == own) continue;
            const Candidate found = {key_of(weights[arc]), HAS_IDS ? edge_ids[arc] : arc, arc, other};
            if (lighter(found, best)) best = found;
#endif
        }
#if SORTED
        if (best.other != NO_TREE) best.key = key_of(weights[best.arc]);
#else
        best = group_lightest(best, group);
#endif
        if (lane != 0) continue;
        segment_other[s] = best.other;
        if (best.other == NO_TREE) continue;
        segment_key[s] = best.key;
        if (SORTED) lower[s] = best.arc;
        if (HAS_IDS) {
            segment_id[s] = edge_ids[best.arc];
        } else {
            const int32 v = target_of(graph, row, best.arc);
            segment_id[s] = u < v ? best.arc : arc_to(graph, v, offsets[v], offsets[v + 1], u);
        }
    }
}

// Find-min, step 2: the lightest edge of every tree; of its weight only, where weight and id do not fit one key.
// A warp whose 32 segments are all of one tree sends one atomicMin instead of 32.
// Launch: any grid of whole warps.  Lowers best_key.
extern "C" __global__ void boruvka_find_min_trees(int32 round, const uint32* __restrict__ segments,
                                                  const int32* __restrict__ tree, const int32* __restrict__ vertex,
                                                  const weight_key_t* __restrict__ segment_key,
                                                  const index_t* __restrict__ segment_id,
                                                  const int32* __restrict__ segment_other, uint64* best_key) {
    for (int64 first = grid_thread() - lane_id(); first < segments[round]; first += grid_threads()) {
        const int64 s = first + lane_id();
        int32 own = NO_TREE;
        uint64 key = NO_BID;
        if (s < segments[round] && segment_other[s] != NO_TREE) {
            own = tree[vertex[s]];
            key = segment_key[s];
            if (PACKED) key = key << 32 | static_cast<uint32>(segment_id[s]);
        }
        const int32 common = __shfl_sync(FULL_MASK, own, 0);
        if (__all_sync(FULL_MASK, own == common)) {
            key = warp_min(key);
            if (lane_id() != 0) own = NO_TREE;
        }
        if (own != NO_TREE) lower_to(&best_key[own], key);
    }
}

// Find-min, step 2, second pass of wide keys: the least id among the edges of least weight.
// Launch: any grid.  Lowers best_id.
extern "C" __global__ void boruvka_break_ties(int32 round, const uint32* __restrict__ segments,
                                              const int32* __restrict__ tree, const int32* __restrict__ vertex,
                                              const weight_key_t* __restrict__ segment_key,
                                              const index_t* __restrict__ segment_id,
                                              const int32* __restrict__ segment_other,
                                              const uint64* __restrict__ best_key, uint64* best_id) {
    for (int64 s = grid_thread(); s < segments[round]; s += grid_threads()) {
        if (segment_other[s] == NO_TREE) continue;
        const int32 own = tree[vertex[s]];
        if (segment_key[s] == best_key[own]) lower_to(&best_id[own], static_cast<uint64>(segment_id[s]));
    }
}

// The segment that holds a tree's lightest edge gives the tree its link.  An edge leaves a tree by one arc only,
// so exactly one thread writes.
// Launch: any grid.  Writes link, edge.
extern "C" __global__ void boruvka_link_trees(int32 round, const uint32* __restrict__ segments,
                                              const int32* __restrict__ tree, const int32* __restrict__ vertex,
                                              const weight_key_t* __restrict__ segment_key,
                                              const index_t* __restrict__ segment_id,
                                              const int32* __restrict__ segment_other,
                                              const uint64* __restrict__ best_key, const uint64* __restrict__ best_id,
                                              int32* link, index_t* edge) {
    for (int64 s = grid_thread(); s < segments[round]; s += grid_threads()) {
        if (segment_other[s] == NO_TREE) continue;
        const int32 own = tree[vertex[s]];
        const uint64 id = static_cast<uint64>(segment_id[s]);
        const uint64 key = segment_key[s];
        const bool chosen = PACKED ? (key << 32 | id) == best_key[own] : key == best_key[own] && id == best_id[own];
        if (!chosen) continue;
        link[own] = segment_other[s];
        edge[own] = segment_id[s];
    }
}

// Remove cycles: of two trees that chose the same edge, the smaller number becomes the root.  Every other tree that
// links away adds its edge to the forest.
// Launch: any grid of whole warps.  Writes link, forest, *forest_edges.
extern "C" __global__ void boruvka_remove_cycles(int32 round, const uint32* __restrict__ trees,
                                                 const index_t* __restrict__ edge, int32* link, index_t* forest,
                                                 uint32* forest_edges) {
    for (int64 first = grid_thread() - lane_id(); first < trees[round]; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool joins = t < trees[round] && links_away(static_cast<int32>(t), link);
        const uint32 slot = warp_append(forest_edges, joins);
        if (joins) forest[slot] = edge[t];
    }
}

// Merge trees: pointer jumping.  Each launch follows up to JUMPS links, so the deepest link is at least JUMPS times
// less deep after it; a launch that follows one without change returns at once, so that the host need not ask.
// Launch: any grid, ceil(log_JUMPS trees) + 1 times with step = 0, 1, …  Writes link, changed[step].
extern "C" __global__ void boruvka_merge_trees(int32 round, int32 step, const uint32* __restrict__ trees, int32* link,
                                               uint32* changed) {
    if (step > 0 && changed[step - 1] == 0) return;
    if (shorten_links<JUMPS>(trees[round], link)) changed[step] = 1;  // race-allowed: every writer writes 1
}

// Renumber, part 1: the roots that may still grow are numbered from 0; those without an outgoing edge are finished.
// Launch: any grid of whole warps.  Writes number, trees[round + 1].
extern "C" __global__ void boruvka_number_roots(int32 round, uint32* trees, const int32* __restrict__ link,
                                                const uint64* __restrict__ best_key,
                                                const uint64* __restrict__ best_id, int32* number) {
    const uint32 count = trees[round];
    for (int64 first = grid_thread() - lane_id(); first < count; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool root = t < count && link[t] == t;
        const bool grows = root && (PACKED ? best_key[t] : best_id[t]) != NO_BID;
        const uint32 slot = warp_append(&trees[round + 1], grows);
        if (root) number[t] = grows ? static_cast<int32>(slot) : FINISHED;
    }
}

// Renumber, part 2: every vertex learns the new number of its tree.
// Launch: any grid.  Writes tree.
extern "C" __global__ void boruvka_relabel_vertices(int32 vertices, const int32* __restrict__ link,
                                                    const int32* __restrict__ number, int32* tree) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        const int32 t = tree[v];
        if (t != FINISHED) tree[v] = number[link[t]];
    }
}

// Renumber, part 3: segments that found nothing are dropped.
// Launch: any grid of whole warps.  Writes kept_lower, kept_upper, kept_vertex, segments[round + 1].
extern "C" __global__ void boruvka_keep_segments(int32 round, uint32* segments, const index_t* __restrict__ lower,
                                                 const index_t* __restrict__ upper, const int32* __restrict__ vertex,
                                                 const int32* __restrict__ segment_other, index_t* kept_lower,
                                                 index_t* kept_upper, int32* kept_vertex) {
    const uint32 count = segments[round];
    for (int64 first = grid_thread() - lane_id(); first < count; first += grid_threads()) {
        const int64 s = first + lane_id();
        const bool keep = s < count && segment_other[s] != NO_TREE;
        const uint32 slot = warp_append(&segments[round + 1], keep);
        if (!keep) continue;
        kept_lower[slot] = lower[s];
        kept_upper[slot] = upper[s];
        kept_vertex[slot] = vertex[s];
    }
}
