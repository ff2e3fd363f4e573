/*
Prim's minimum spanning forest with a min-reduction on the GPU (GMR).  The tree grows by one vertex a step: the
lightest candidate edge joins, is swapped to the front of the candidate list, and its new vertex C is compared with
every candidate that is left.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph as V / E / W
    vertex_pairs (n), arc_pairs (arcs)              or as pairs: (degree, start) and (neighbour, weight)
    from, to, weight (n)                            the candidate list R1, R2, R3: the lightest edge known from the tree
                                                    to each vertex outside; the first `step` entries are the tree
    block_weight, block_index (blocks)              T1, T2: what each block of the first reduction found
    current (1)                                     C, the vertex that joined last
    forest (n-1), forest_edges (1)                  ids of the tree edges, in any order; how many they are

Invariants.  `to` is a permutation of the vertices without the first; an entry with from = NO_VERTEX has no edge yet.
Edges compare by (weight, smaller endpoint, larger endpoint), so the forest is the canonical one.  When no candidate
has an edge, the next vertex starts a new tree.  As in the papers n-2 steps are made: the last candidate is alone.

Defines in addition to those of common.cuh:
    PAIRS  0 | 1   read the graph as pairs through the read-only cache (32-bit weights and indices)

Source: W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based Prim's algorithm", 2011, sections III-IV;
S. Guo, W. Wang, L. Wang, on the same, 2011, section 2.  The texts contradict each other on when the second reduction
runs; here it runs exactly when the first had more than one block.
*/
#include "common.cuh"
#include "prim/candidates.cuh"

#ifndef PAIRS
#define PAIRS 0
#endif

constexpr int MAX_THREADS = 256;
constexpr int ROW_PART = 512;  // arcs of C's row that are in shared memory at a time

#if PAIRS
#define GRAPH_PARAMETERS const int2 *__restrict__ vertex_pairs, const int2 *__restrict__ arc_pairs
#define GRAPH_ARGUMENTS vertex_pairs, arc_pairs
#else
#define GRAPH_PARAMETERS                                                             \
    const index_t *__restrict__ offsets, const int32 *__restrict__ targets,          \
        const weight_t *__restrict__ weights, int32 weight_kind
#define GRAPH_ARGUMENTS offsets, targets, weights, weight_kind
#endif

// ------------------------------------------------------------------ helpers

// True if candidate i (of key a) comes before candidate j (of key b).  Endpoints are read only to break a tie.
__device__ __forceinline__ bool before(const Candidates& list, weight_key_t a, int32 i, weight_key_t b, int32 j) {
    if (a != b) return a < b;
    return j < 0 || (i >= 0 && endpoints(list, i) < endpoints(list, j));
}

// The lightest of one candidate per thread of a block of SIZE threads, in thread 0.  A template, as in the paper, so
// that the loop is unrolled; and as there the last warp goes on alone, though not without a barrier of its own.
template <int SIZE>
__device__ __forceinline__ void reduce_shared(const Candidates& list, weight_key_t* keys, int32* indices) {
    const int i = threadIdx.x;
#pragma unroll
    for (int half = SIZE / 2; half > 0; half /= 2) {
        if (i < half && before(list, keys[i + half], indices[i + half], keys[i], indices[i])) {
            keys[i] = keys[i + half];
            indices[i] = indices[i + half];
        }
        if (half > WARP) {
            __syncthreads();
        } else {
            __syncwarp();
        }
    }
}

// The same for any of the paper's block sizes.
__device__ __forceinline__ void block_lightest(const Candidates& list, weight_key_t& key, int32& index) {
    __shared__ weight_key_t keys[MAX_THREADS];
    __shared__ int32 indices[MAX_THREADS];
    keys[threadIdx.x] = key;
    indices[threadIdx.x] = index;
    __syncthreads();
    switch (blockDim.x) {
        case 256: reduce_shared<256>(list, keys, indices); break;
        case 128: reduce_shared<128>(list, keys, indices); break;
        case 64: reduce_shared<64>(list, keys, indices); break;
        case 32: reduce_shared<32>(list, keys, indices); break;
        case 16: reduce_shared<16>(list, keys, indices); break;
        case 8: reduce_shared<8>(list, keys, indices); break;
        case 4: reduce_shared<4>(list, keys, indices); break;
        case 2: reduce_shared<2>(list, keys, indices); break;
    }
    key = keys[0];
    index = indices[0];
}

// The graph in either layout: where a row begins and ends, where an arc leads, and the key of its weight.
struct Graph {
#if PAIRS
    const int2* __restrict__ vertex_pairs;
    const int2* __restrict__ arc_pairs;

    __device__ Graph(const int2* vertices, const int2* arcs) : vertex_pairs(vertices), arc_pairs(arcs) {}
    __device__ index_t begin(int32 v) const { return __ldg(&vertex_pairs[v]).y; }
    __device__ index_t end(int32 v) const {
        const int2 row = __ldg(&vertex_pairs[v]);
        return row.y + row.x;
    }
    __device__ int32 target(index_t arc) const { return __ldg(&arc_pairs[arc]).x; }
    __device__ weight_key_t key(index_t arc) const { return static_cast<weight_key_t>(__ldg(&arc_pairs[arc]).y); }
#else
    const index_t* __restrict__ offsets;
    const int32* __restrict__ targets;
    const weight_t* __restrict__ weights;
    KeyMap key_of;

    __device__ Graph(const index_t* offsets, const int32* targets, const weight_t* weights, int32 weight_kind)
        : offsets(offsets), targets(targets), weights(weights), key_of(weight_kind) {}
    __device__ index_t begin(int32 v) const { return offsets[v]; }
    __device__ index_t end(int32 v) const { return offsets[v + 1]; }
    __device__ int32 target(index_t arc) const { return targets[arc]; }
    __device__ weight_key_t key(index_t arc) const { return key_of(weights[arc]); }
#endif
};

// The position in [begin, end) at which ascending `target(position)` is v, -1 if there is none.
template <typename Target>
__device__ __forceinline__ index_t find(index_t begin, index_t end, int32 v, Target target) {
    while (begin < end) {
        const index_t middle = begin + (end - begin) / 2;
        const int32 found = target(middle);
        if (found == v) return middle;
        if (found < v) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return -1;
}

// Candidate v learns of its edge from C, of this key.
__device__ __forceinline__ void update(int32 c, int32 v, weight_key_t key, int32* from, weight_key_t* weight) {
    const uint64 old = *from == NO_VERTEX ? ~0ull : endpoints(*from, v);
    if (key < *weight || (key == *weight && endpoints(c, v) < old)) {
        *weight = key;
        *from = c;
    }
}

// ------------------------------------------------------------------ kernels, in launch order

// Pack the graph for PAIRS: (degree, start) of every vertex, (neighbour, weight) of every arc.
// Launch: any grid, once, before the run.  Writes vertex_pairs, arc_pairs.
#if PAIRS
extern "C" __global__ void prim_pack_pairs(int32 vertices, index_t arcs, const index_t* __restrict__ offsets,
                                           const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                           int32 weight_kind, int2* vertex_pairs, int2* arc_pairs) {
    const KeyMap key_of(weight_kind);
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        vertex_pairs[v] = make_int2(static_cast<int>(offsets[v + 1] - offsets[v]), static_cast<int>(offsets[v]));
    }
    for (int64 arc = grid_thread(); arc < arcs; arc += grid_threads()) {
        // The weight travels as its order-preserving key: nothing else is ever done with it.
        arc_pairs[arc] = make_int2(targets[arc], static_cast<int>(key_of(weights[arc])));
    }
}
#endif

// Vertex 0 is the tree; every other vertex is a candidate without an edge.
// Launch: any grid.  Writes from, to, weight, *current.
extern "C" __global__ void prim_start(int32 vertices, int32* from, int32* to, weight_key_t* weight, int32* current) {
    if (grid_thread() == 0) *current = 0;
    for (int64 i = grid_thread(); i < vertices - 1; i += grid_threads()) {
        from[i] = NO_VERTEX;
        to[i] = static_cast<int32>(i) + 1;
        weight[i] = NO_KEY;
    }
}

// Kernel 3, compare and update: every candidate looks for itself in the row of C, which each block brings to shared
// memory, a part at a time; a lighter edge replaces the one it had.
// Launch: any grid.  Each thread writes its own entries of from, weight in [step, n-1).
extern "C" __global__ void prim_compare_update(int32 vertices, int32 step, GRAPH_PARAMETERS,
                                               const int32* __restrict__ current, int32* from,
                                               const int32* __restrict__ to, weight_key_t* weight) {
    __shared__ int32 targets_of_c[ROW_PART];
    __shared__ weight_key_t keys_of_c[ROW_PART];
    const Graph graph(GRAPH_ARGUMENTS);
    const int32 c = *current;
    const index_t end = graph.end(c);
    for (index_t part = graph.begin(c); part < end; part += ROW_PART) {
        const index_t size = end - part < ROW_PART ? end - part : ROW_PART;
        __syncthreads();
        for (index_t i = threadIdx.x; i < size; i += blockDim.x) {
            targets_of_c[i] = graph.target(part + i);
            keys_of_c[i] = graph.key(part + i);
        }
        __syncthreads();
        for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) {
            const int32 v = to[i];
            if (v < targets_of_c[0] || v > targets_of_c[size - 1]) continue;
            const index_t at = find(0, size, v, [&](index_t place) { return targets_of_c[place]; });
            if (at >= 0) update(c, v, keys_of_c[at], &from[i], &weight[i]);
        }
    }
}

// The same the other way round, for comparison: every candidate looks for C in its own row, in global memory.
// Launch: any grid.  Each thread writes its own entries of from, weight in [step, n-1).
extern "C" __global__ void prim_compare_update_from_n(int32 vertices, int32 step, GRAPH_PARAMETERS,
                                                      const int32* __restrict__ current, int32* from,
                                                      const int32* __restrict__ to, weight_key_t* weight) {
    const Graph graph(GRAPH_ARGUMENTS);
    const int32 c = *current;
    for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) {
        const int32 v = to[i];
        const index_t arc = find(graph.begin(v), graph.end(v), c, [&](index_t place) { return graph.target(place); });
        if (arc >= 0) update(c, v, graph.key(arc), &from[i], &weight[i]);
    }
}

// Kernel 1 of the reduction: each block finds its lightest candidate of [step, n-1), first in global memory with a grid
// stride, then in shared memory, so that any length will do.  A single block has the answer and lets it join the tree.
// Launch: blockDim.x a power of two.  Writes block_weight, block_index; or, with one block, the list and *current.
extern "C" __global__ void prim_reduce_candidates(int32 vertices, int32 step, int32* from, int32* to,
                                                  weight_key_t* weight, weight_key_t* block_weight,
                                                  int32* block_index, int32* current) {
    const Candidates list = {from, to, weight};
    weight_key_t key = NO_KEY;
    int32 index = -1;
    for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) {
        if (before(list, weight[i], static_cast<int32>(i), key, index)) {
            key = weight[i];
            index = static_cast<int32>(i);
        }
    }
    block_lightest(list, key, index);
    if (threadIdx.x != 0) return;
    if (gridDim.x == 1) {
        join_tree(list, step, index, current);
    } else {
        block_weight[blockIdx.x] = key;
        block_index[blockIdx.x] = index;
    }
}

// Kernel 2 of the reduction: one block reduces what the blocks of kernel 1 found; launched only if there were several.
// Launch: one block, blockDim.x a power of two.  Writes the list and *current.
extern "C" __global__ void prim_reduce_blocks(int32 blocks, int32 step, int32* from, int32* to, weight_key_t* weight,
                                              const weight_key_t* __restrict__ block_weight,
                                              const int32* __restrict__ block_index, int32* current) {
    const Candidates list = {from, to, weight};
    weight_key_t key = NO_KEY;
    int32 index = -1;
    for (int32 b = threadIdx.x; b < blocks; b += blockDim.x) {
        if (before(list, block_weight[b], block_index[b], key, index)) {
            key = block_weight[b];
            index = block_index[b];
        }
    }
    block_lightest(list, key, index);
    if (threadIdx.x == 0) join_tree(list, step, index, current);
}

// The tree edges as canonical ids: the position of the arc from the smaller endpoint.
// Launch: any grid of whole warps, once, after the last step.  Writes forest, *forest_edges.
extern "C" __global__ void prim_edge_ids(int32 vertices, const index_t* __restrict__ offsets,
                                         const int32* __restrict__ targets, const int32* __restrict__ from,
                                         const int32* __restrict__ to, index_t* forest, uint32* forest_edges) {
    for (int64 first = grid_thread() - lane_id(); first < vertices - 1; first += grid_threads()) {
        const int64 i = first + lane_id();
        const bool is_edge = i < vertices - 1 && from[i] != NO_VERTEX;
        const uint32 slot = warp_append(forest_edges, is_edge);
        if (!is_edge) continue;
        const int32 u = from[i] < to[i] ? from[i] : to[i], v = from[i] < to[i] ? to[i] : from[i];
        forest[slot] = find_arc(targets, offsets[u], offsets[u + 1], v);
    }
}
