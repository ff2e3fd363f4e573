/*
Prim's minimum spanning forest on the trees that some rounds of Boruvka's left, in one cooperative launch.

The arcs are those of boruvka_scan.cu: listed tree by tree, several between two trees where several join them.

    ends (trees)                where each tree's arcs end in the list; they begin where those of the tree before end
    other, key, id (arcs)       the tree an arc leads to, its weight, the id of its edge
    best (trees)                position of the lightest arc that leads from the grown tree to each tree, -1 if none
    joined (trees)              1 for the trees that have joined
    block_arc, block_tree (blocks)  the lightest candidate that each block found, and where it leads
    forest, forest_edges (1)    ids of the edges found, behind those that Boruvka's rounds found; how many
    barrier (3)                 words of grid_barrier_or_stop(), 0 before the launch

A step: the arcs of the tree that joined last are offered to the trees they lead to; then every block finds the lightest
candidate of its share, and every block the lightest of those, which joins.  When no candidate has an arc, any tree that
has not joined begins the next component.

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 6, ask for the
combination; R. C. Prim, "Shortest connection networks and some generalizations", 1957.
*/
#include "common.cuh"

constexpr int BLOCK = 256;
constexpr int RESIDENT = 2;  // blocks of a multiprocessor, at least
constexpr int WARPS = BLOCK / WARP;
// Arcs and trees are numbered from 0.
constexpr index_t NO_ARC = -1;
constexpr int32 NO_TREE = -1;

// ------------------------------------------------------------------ helpers

struct Arcs {
    const weight_key_t* __restrict__ key;
    const index_t* __restrict__ id;
};

// A tree that might join, and the arc that would bring it.
struct Candidate {
    index_t arc;
    int32 tree;
};

// True if a comes before b: a tree before none, an arc before none, the lighter arc, of equal ones the one of lesser
// id, and without arcs the tree of lesser number.
__device__ __forceinline__ bool before(const Arcs& arcs, const Candidate& a, const Candidate& b) {
    if (a.tree == NO_TREE || b.tree == NO_TREE) return a.tree != NO_TREE;
    if (a.arc == NO_ARC || b.arc == NO_ARC) return a.arc != b.arc ? a.arc != NO_ARC : a.tree < b.tree;
    const weight_key_t left = arcs.key[a.arc], right = arcs.key[b.arc];
    return left != right ? left < right : arcs.id[a.arc] < arcs.id[b.arc];
}

// atomicCAS for either width of an index.
__device__ __forceinline__ index_t swap_if(index_t* cell, index_t expected, index_t value) {
    return static_cast<index_t>(atomicCAS(reinterpret_cast<count_t*>(cell), static_cast<count_t>(expected),
                                          static_cast<count_t>(value)));
}

// Offer an arc to the tree it leads to: it replaces a heavier one.
__device__ __forceinline__ void offer(const Arcs& arcs, index_t* cell, index_t arc) {
    index_t held = *static_cast<volatile index_t*>(cell);  // race-allowed: the swap fails if it is stale
    while (held == NO_ARC || arcs.key[arc] < arcs.key[held] ||
           (arcs.key[arc] == arcs.key[held] && arcs.id[arc] < arcs.id[held])) {
        const index_t found = swap_if(cell, held, arc);
        if (found == held) return;
        held = found;
    }
}

// The first candidate of a block, in every thread.  All threads must call.
__device__ __forceinline__ Candidate block_first(const Arcs& arcs, Candidate mine) {
    __shared__ index_t arc[WARPS];
    __shared__ int32 tree[WARPS];
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const Candidate theirs = {__shfl_xor_sync(FULL_MASK, mine.arc, offset),
                                  __shfl_xor_sync(FULL_MASK, mine.tree, offset)};
        if (before(arcs, theirs, mine)) mine = theirs;
    }
    __syncthreads();
    if (lane_id() == 0) {
        arc[threadIdx.x / WARP] = mine.arc;
        tree[threadIdx.x / WARP] = mine.tree;
    }
    __syncthreads();
    for (int w = 0; w < WARPS; ++w) {
        const Candidate theirs = {arc[w], tree[w]};
        if (before(arcs, theirs, mine)) mine = theirs;
    }
    return mine;
}

// ------------------------------------------------------------------ kernels

// Launch: cooperative, BLOCK threads; `best` is all -1, `joined` and `barrier` all 0.  Writes forest, *forest_edges.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
boruvka_prim(int32 trees, const count_t* __restrict__ ends, const int32* __restrict__ other,
             const weight_key_t* __restrict__ key, const index_t* __restrict__ id, index_t* best, uint8* joined,
             index_t* block_arc, int32* block_tree, index_t* forest, uint32* forest_edges, uint32* barrier) {
    const Arcs arcs = {key, id};
    uint32 barriers = 0;
    int32 current = 0;
    if (grid_thread() == 0) joined[0] = 1;
    for (int32 step = 1; step < trees; ++step) {
        const int64 begin = current == 0 ? 0 : ends[current - 1], end = ends[current];
        for (int64 arc = begin + grid_thread(); arc < end; arc += grid_threads()) {
            // The tree that joins in this step is never looked at: no arc leads from a tree to itself.
            if (!joined[other[arc]]) offer(arcs, &best[other[arc]], static_cast<index_t>(arc));
        }
        if (grid_barrier_or_stop(barrier, &barriers)) return;

        Candidate mine = {NO_ARC, NO_TREE};
        for (int64 t = grid_thread(); t < trees; t += grid_threads()) {
            const Candidate found = {best[t], static_cast<int32>(t)};
            if (!joined[t] && before(arcs, found, mine)) mine = found;
        }
        mine = block_first(arcs, mine);
        if (threadIdx.x == 0) {
            block_arc[blockIdx.x] = mine.arc;
            block_tree[blockIdx.x] = mine.tree;
        }
        grid_barrier(barrier, &barriers);

        mine = {NO_ARC, NO_TREE};
        for (int b = threadIdx.x; b < static_cast<int>(gridDim.x); b += BLOCK) {
            const Candidate found = {block_arc[b], block_tree[b]};
            if (before(arcs, found, mine)) mine = found;
        }
        mine = block_first(arcs, mine);
        current = mine.tree;
        if (grid_thread() == 0) {
            joined[current] = 1;
            if (mine.arc != NO_ARC) {
                forest[*forest_edges] = id[mine.arc];
                *forest_edges += 1;
            }
        }
    }
}
