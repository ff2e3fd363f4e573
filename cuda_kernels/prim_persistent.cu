/*
Prim's minimum spanning forest in one launch, without a loop on the host.  The vertices are divided among the blocks in
ranges; each block keeps the candidate edges of its own in a tournament (prim/tournament.cuh), on chip where they fit.
One step:

    1  read      every thread of every block knows the vertex that joined last and loads its share of that row
    2  leave     meanwhile the vertex's own block plays its groups without it
    3  offer     each arc is offered to the candidate it leads to; one that improves climbs
    4  choose    the blocks agree on the lightest candidate of all (prim/exchange.cuh); one block simply takes its own

    offsets (n+1)  targets (arcs)  weights (arcs)     the graph
    parent (n)                        the tree's end of the edge by which each vertex joined; NO_VERTEX of a root
    key_store, from_store (n), winner_store (blocks * winners)   the tournaments, where they do not fit on chip; else 1
    slots (2 * blocks * SLOT_WORDS)   the blocks' candidates, 0 at the start
    forest (n-1), forest_edges (1)    ids of the tree edges, in any order; how many they are, 0 at the start
    stop (1)                          0 at the start; the host may set it: then the kernel ends before its time

Invariants.  Edges compare by (weight, smaller endpoint, larger endpoint), so the forest is the canonical one.  When no
candidate has an edge, one without joins as the root of a new tree: any component structure ends after n-1 steps.  All
blocks take the same steps, and wait for each other only where they choose.

Defines in addition to those of common.cuh:
    ON_CHIP  0..3   what lies in shared memory: nothing; the winners; the candidates too; where the block's share of
                    each row begins and how long it is, too (then long rows are read once, not once by every block)

Source: ours, to remove the launches that limit W. Wang, Y. Huang, S. Guo, "Design and implementation of GPU-based
Prim's algorithm", 2011 (section VI-E there); the tournament is the tree of losers of D. Knuth, "The art of computer
programming", volume 3, section 5.4.1, with the winners kept.
*/
#include "prim/exchange.cuh"
#include "prim/tournament.cuh"

#ifndef ON_CHIP
#define ON_CHIP 2
#endif

constexpr int MAX_THREADS = 512;
constexpr int ITEMS = 4;  // arcs that a thread has under way together
constexpr int LINE = 128;  // bytes of a cache line
constexpr uint32 STOP_STEPS = 256;  // from one look at `stop` to the next: some hundred microseconds

typedef unsigned short uint16;

// ------------------------------------------------------------------ helpers

// A barrier of the block; of a single warp, which needs less.
__device__ __forceinline__ void block_barrier() {
    if (blockDim.x > WARP) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}

// The next `count` elements of the block's dynamic shared memory; each array begins at a multiple of eight bytes.
template <typename T>
__device__ __forceinline__ T* carve(unsigned char*& free, int64 count) {
    T* const array = reinterpret_cast<T*>(free);
    free += (count * sizeof(T) + 7) / 8 * 8;
    return array;
}

// lower_bound() in a whole row of a graph of `vertices`, from where the vertex would be were targets spread
// evenly: on dense rows that is a line or two away, and a line is loaded once.
__device__ __forceinline__ index_t lower_bound_near(const int32* __restrict__ targets, index_t begin, index_t end,
                                                    int32 vertex, int32 vertices) {
    const index_t guess = begin + static_cast<index_t>(static_cast<int64>(end - begin) * vertex / vertices);
    index_t low = begin, high = end, reach = 16;
    if (guess < end && targets[guess] < vertex) {
        low = guess + 1;
        for (; high - low > reach && targets[low + reach] < vertex; reach *= 4) low += reach + 1;
        if (high - low > reach) high = low + reach;
    } else {
        high = guess;
        for (; high - low > reach && targets[high - 1 - reach] >= vertex; reach *= 4) high -= reach + 1;
        if (high - low > reach) low = high - reach;
    }
    return lower_bound(targets, low, high, vertex);
}

// The block's share of every row.
struct Rows {
    const index_t* offsets;
    index_t* begin;  // on chip
    uint16* length;  // on chip; a share is no longer than the range of vertices that it leads to

    __device__ __forceinline__ void start(const Tournament& own, int32 vertices,
                                          const int32* __restrict__ targets) const {
#if ON_CHIP >= 3
        for (uint32 v = threadIdx.x; v < static_cast<uint32>(vertices); v += blockDim.x) {
            index_t low = offsets[v], high = offsets[v + 1];
            if (gridDim.x > 1) {
                const index_t row = low;
                low = lower_bound_near(targets, row, high, own.first, vertices);
                high = lower_bound_near(targets, row, high, own.first + own.size, vertices);
            }
            begin[v] = low;
            length[v] = static_cast<uint16>(high - low);
        }
#endif
    }

    __device__ __forceinline__ void of(int32 v, int64* from, int64* to) const {
#if ON_CHIP >= 3
        *from = begin[v];
        *to = *from + length[v];
#else
        *from = offsets[v];
        *to = offsets[v + 1];
#endif
    }
};

// Let the row of the block's best candidate come nearer: the next vertex is the best of one of the blocks.  All warps
// but the first, which is busy choosing, take part.
__device__ __forceinline__ void prefetch_row(const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                                             const weight_t* __restrict__ weights, int32 v) {
    const int64 end = offsets[v + 1], step = blockDim.x - WARP;
    for (int64 arc = offsets[v] + (threadIdx.x - WARP) * (LINE / 4); arc < end; arc += step * (LINE / 4)) {
        prefetch_line(&targets[arc]);
        prefetch_line(&weights[arc]);
        if (sizeof(weight_t) == 8) prefetch_line(&weights[arc + LINE / 8 < end ? arc + LINE / 8 : arc]);
    }
}

// ------------------------------------------------------------------ kernel

// Launch: cooperative, as many blocks as chosen but no more than vertices, blockDim.x a multiple of 32 up to
// MAX_THREADS, dynamic shared memory for what is on chip.  A block writes parent of its own vertices and its slots;
// forest is appended to by all, through the counter forest_edges.  `ahead`: rows are prefetched.
extern "C" __global__ void __launch_bounds__(MAX_THREADS, 1)
prim_persistent(int32 vertices, const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                const weight_t* __restrict__ weights, int32 weight_kind, int32 ahead, int32* parent,
                weight_key_t* key_store, int32* from_store, int32* winner_store, uint64* slots, index_t* forest,
                uint32* forest_edges, const uint32* stop) {
    extern __shared__ __align__(16) unsigned char chip[];
    __shared__ int32 chosen;
    unsigned char* free = chip;
    const bool first_warp = threadIdx.x < WARP;
    const KeyMap key_of(weight_kind);

    Tournament own;
    own.first = static_cast<int32>(static_cast<int64>(vertices) * blockIdx.x / gridDim.x);
    own.size = static_cast<int32>(static_cast<int64>(vertices) * (blockIdx.x + 1) / gridDim.x) - own.first;
    own.top = winners(own.size) - 1;
#if ON_CHIP >= 2
    own.key = carve<weight_key_t>(free, own.size);
    own.from = carve<int32>(free, own.size);
#else
    own.key = key_store + own.first;
    own.from = from_store + own.first;
#endif
#if ON_CHIP >= 1
    own.winner = carve<int32>(free, own.top + 1);
#else
    own.winner = winner_store + static_cast<int64>(winners((vertices - 1) / gridDim.x + 1)) * blockIdx.x;
#endif
    Rows rows = {offsets, nullptr, nullptr};
#if ON_CHIP >= 3
    rows.begin = carve<index_t>(free, vertices);
    rows.length = carve<uint16>(free, vertices);
#endif
    own.start();
    rows.start(own, vertices, targets);
    if (blockIdx.x == 0 && threadIdx.x == 0) parent[0] = NO_VERTEX;
    __syncthreads();

    int32 v = 0, prefetched = NOBODY;
    for (uint32 step = 1; step < static_cast<uint32>(vertices); ++step) {
        int64 at, end;
        rows.of(v, &at, &end);
        bool leaves = own.has(v);
        do {
            int32 target[ITEMS];
            weight_key_t key[ITEMS];
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const int64 arc = at + i * static_cast<int>(blockDim.x) + threadIdx.x;
                target[i] = arc < end ? targets[arc] : NO_VERTEX;
                key[i] = arc < end ? key_of(weights[arc]) : NO_KEY;
            }
            if (leaves && first_warp) own.leave(v - own.first);
            leaves = false;
            block_barrier();  // before the offers: the tournament is unchanged, whatever was played
            unsigned improved = 0;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                if (own.has(target[i]) && own.offer(target[i] - own.first, key[i], v)) improved |= 1u << i;
            }
            block_barrier();  // before climbing: the leaves are written
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                if (improved >> i & 1) own.climb(target[i] - own.first);
            }
            at += ITEMS * static_cast<int>(blockDim.x);
        } while (at < end);
        block_barrier();

        if (first_warp) {
            Candidate best = own.best();
            const bool may_stop = step % STOP_STEPS == 0;
            if (may_stop && blockIdx.x == 0 && *static_cast<const volatile uint32*>(stop) != 0) best.to = STOPS;
            if (gridDim.x > 1) {
                publish(slots, step, best);
                best = lightest_of_all(slots, step, may_stop);
            } else if (best.to == STOPS) {
                best = nobody();
            }
            v = best.to;
            if (threadIdx.x == 0) {
                chosen = v;
                if (own.has(v)) parent[v] = best.from;
            }
        } else if (ahead != 0 && gridDim.x > 1) {
            const int32 best = own.winner[own.top];
            if (best != NOBODY && best != prefetched) prefetch_row(offsets, targets, weights, own.first + best);
            prefetched = best;
        }
        block_barrier();  // before the winner leaves: all have read it
        if (!first_warp) v = chosen;
        if (v == NO_VERTEX) return;  // the host wants it
    }
    __syncthreads();

    const uint32 size = static_cast<uint32>(own.size);
    for (uint32 start = threadIdx.x - lane_id(); start < size; start += blockDim.x) {
        const uint32 i = start + lane_id();
        const int32 to = own.first + static_cast<int32>(i), from = i < size ? parent[to] : NO_VERTEX;
        const uint32 slot = warp_append(forest_edges, from != NO_VERTEX);
        if (from == NO_VERTEX) continue;
        const int32 low = from < to ? from : to, high = from < to ? to : from;
        forest[slot] = find_arc(targets, offsets[low], offsets[low + 1], high);
    }
}
