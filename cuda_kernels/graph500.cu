/*
Graph500 on a device: the edge list of the reference code, kernel 1 (rows of that list), the parents of kernel 3, and
the validation.  The search itself is delta_stepping.cu.

    words              seed (5), scrambling (2), and from word 7 on the matrices (5, 5) that jump 2^k edges ahead
    edges (3 m)        tuples in three words: the lower 32 bits of either end, and the upper 16 bits of both
    input (m)          weights of the tuples
    starts (n+2)       kernel 1 counts arcs of vertex v in starts[v + 2]; running sums make starts[v + 1] the start of
                       its row; while arcs are placed it moves to the row's end, which is where row v + 1 begins.  So
                       the first n + 1 words are the offsets in the end
    offsets, targets, weights    the rows: arcs in any order, duplicates kept, loops dropped
    distance (n)       float32; of the search NaN (all bits set) where not reached, and -1 after graph500_settle
    parent (n)         -1 where not reached
    pairs (n)          parent << 32 | bits of the distance, so that one gather brings both
    found              words of 64 bits, see the two enums

In launch order: generate; survey, count, tile_sums, running_sums, place; first_hub, push, tight, settle, hang;
check_vertices, climb, check_tuples, check_confirmed.

Parents are found by pulling.  An arc v -> u of weight w is tight for v if d(u) + w = d(v).  Let D be the distance of
the nearest vertex with many arcs.  Few vertices are nearer than D; these push along all of their arcs.  From the others
w must not exceed d(v) - D: weights are read in order, and a distance is gathered only for the few arcs that are so
short, also where the root itself lies far from everything.  A tight arc
from a nearer vertex, d(u) < d(v), cannot be part of a cycle.  Where only arcs from equally far vertices are tight (a
weight of zero, or one that rounding absorbs) the vertex hangs itself on one that has a parent already.

Source: Graph500 specification 2.0, sections 3 to 6; the generator's formulas are in gpugraph/graph500/generator.py.
*/
#include "csr.cuh"

constexpr uint64 PRIME = 2147483647;
constexpr int BLOCK = 256;       // threads of tile_sums and running_sums
constexpr int TILE = 8 * BLOCK;  // words that one block of these takes
constexpr int ARC_TILE = 1024;   // consecutive arcs that a warp takes,
constexpr int SIDE = 4;          // so many of them side by side in a lane
constexpr int HUB = 1024;        // a vertex with so many arcs is a hub
constexpr int32 NONE = -1;       // no parent

// What survey finds: the largest label, and the first tuple with a label or a weight that is none.
enum { LARGEST, FIRST_BAD };

// What validation finds: the first vertex or tuple that breaks a rule, ~0 if there is none; last, how many tuples have
// their ends in the root's component.
enum { RANGE, UNLIKE, ROOT, CYCLE, SPLIT, TOO_FAR, UNCONFIRMED, TUPLES };

// ------------------------------------------------------------------ edges

struct Numbers {
    uint64 z[5];
    // A product of two residues is below 2^62, so that three of them and a residue fit a word.
    __device__ __forceinline__ void jump(const uint64* __restrict__ matrix) {
        uint64 next[5];
        for (int row = 0; row < 5; ++row) {
            const uint64* const m = matrix + 5 * row;
            const uint64 first = (m[0] * z[0] + m[1] * z[1] + m[2] * z[2]) % PRIME;
            next[row] = (first + m[3] * z[3] + m[4] * z[4]) % PRIME;
        }
        for (int row = 0; row < 5; ++row) z[row] = next[row];
    }
    __device__ __forceinline__ uint32 draw() {
        const uint64 next = (107374182ull * z[0] + 104480ull * z[4]) % PRIME;
        for (int i = 4; i > 0; --i) z[i] = z[i - 1];
        z[0] = next;
        return static_cast<uint32>(next);
    }
};

__device__ __forceinline__ uint64 reversed(uint64 x, int32 bits) { return __brevll(x) >> (64 - bits); }

__device__ __forceinline__ uint64 scrambled(uint64 v, int32 bits, uint64 first, uint64 second) {
    v = reversed((v + first + second) * (first | 0x4519840211493211ull), bits);
    return reversed(v * (second | 0x3050852102C843A5ull), bits);
}

// Launch: 2^lanes threads, or more, which have nothing to do.  Thread t makes the edges t, t + 2^lanes, and so on.
// Writes edges and weights, each by one thread; no atomics.
extern "C" __global__ void graph500_generate(int64 count, int32 scale, int32 lanes, const uint64* __restrict__ words,
                                             uint32* edges, float32* weights) {
    const int64 thread = grid_thread(), step = 1ll << lanes;
    if (thread >= step) return;
    const uint64* const jumps = words + 7;
    Numbers at;
    for (int i = 0; i < 5; ++i) at.z[i] = words[i];
    for (int bit = 0; bit < lanes; ++bit) {
        if (thread >> bit & 1) at.jump(jumps + 25 * bit);
    }
    for (int64 i = thread; i < count; i += step) {
        Numbers own = at;
        uint64 u = 0, v = 0;
        for (int level = 0; level < scale; ++level) {
            uint32 x = own.draw();
            while (x < PRIME % 10000) x = own.draw();
            x %= 10000;
            uint64 down = x >= 1900 && (x < 3800 || x >= 9500), right = x < 1900 || x >= 9500;
            if (u == v && down > right) {
                down = 0;
                right = 1;
            }
            u = u << 1 | down;
            v = v << 1 | right;
        }
        weights[i] = static_cast<float32>(static_cast<float64>(static_cast<float32>(own.draw())) *
                                          0.000000000465661287524579692);
        u = scrambled(u, scale, words[5], words[6]);
        v = scrambled(v, scale, words[5], words[6]);
        edges[3 * i] = static_cast<uint32>(u);
        edges[3 * i + 1] = static_cast<uint32>(v);
        edges[3 * i + 2] = static_cast<uint32>(u >> 32 | v >> 32 << 16);
        at.jump(jumps + 25 * lanes);
    }
}

// ------------------------------------------------------------------ kernel 1

// Launch: any grid of whole warps.  Writes found[LARGEST] by atomicMax, found[FIRST_BAD] by atomicMin.
extern "C" __global__ void graph500_survey(int64 count, const uint32* __restrict__ edges,
                                           const float32* __restrict__ input, uint64* found) {
    uint32 largest = 0;
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = edges[3 * i], v = edges[3 * i + 1];
        const float32 w = input[i];
        // The largest label gives n, which has to fit a signed word; a weight that is no number fails, too.
        if (edges[3 * i + 2] != 0 || u >= 0x7ffffffeu || v >= 0x7ffffffeu || !(w >= 0.0f && w <= 1.0f)) {
            lower_to(&found[FIRST_BAD], static_cast<uint64>(i));
            continue;
        }
        if (u > largest) largest = u;
        if (v > largest) largest = v;
    }
    largest = ~warp_min(~largest);
    if (lane_id() == 0) atomicMax(&found[LARGEST], static_cast<uint64>(largest));
}

// Launch: any grid, once for each range [first, last) of vertices, whose counters stay in the cache.  Writes starts, by
// atomicAdd.
extern "C" __global__ void graph500_count(int64 count, const uint32* __restrict__ edges, uint32 first, uint32 last,
                                          index_t* starts) {
    count_t* const arcs = reinterpret_cast<count_t*>(starts);
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = __ldcs(&edges[3 * i]), v = __ldcs(&edges[3 * i + 1]);
        if (u == v) continue;
        if (first <= u && u < last) atomicAdd(&arcs[u + 2], static_cast<count_t>(1));
        if (first <= v && v < last) atomicAdd(&arcs[v + 2], static_cast<count_t>(1));
    }
}

// Launch: a block of BLOCK threads for each tile.  Writes sums, each by one thread; no atomics.
extern "C" __global__ void graph500_tile_sums(int64 count, const index_t* __restrict__ starts, int64* sums) {
    __shared__ int64 of_warp[BLOCK / WARP];
    const int64 begin = static_cast<int64>(blockIdx.x) * TILE;
    int64 mine = 0;
    for (int64 i = begin + threadIdx.x; i < begin + TILE && i < count; i += BLOCK) mine += starts[i];
    mine = warp_scan(mine);
    if (lane_id() == WARP - 1) of_warp[threadIdx.x / WARP] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64 sum = 0;
    for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += of_warp[warp];
    sums[blockIdx.x] = sum;
}

// Launch: a block of BLOCK threads for each tile; `before` is the sum of all tiles before each.  Writes starts, each by
// one thread; no atomics.
extern "C" __global__ void graph500_running_sums(int64 count, const int64* __restrict__ before, index_t* starts) {
    __shared__ int64 of_warp[BLOCK / WARP];
    const int64 begin = static_cast<int64>(blockIdx.x) * TILE;
    const int own = threadIdx.x / WARP;
    int64 base = before[blockIdx.x];
    for (int64 round = begin; round < begin + TILE && round < count; round += BLOCK) {
        const int64 i = round + threadIdx.x;
        int64 sum = warp_scan(i < count ? static_cast<int64>(starts[i]) : 0);
        if (lane_id() == WARP - 1) of_warp[own] = sum;
        __syncthreads();
        int64 all = 0;
        for (int warp = 0; warp < BLOCK / WARP; ++warp) {
            if (warp < own) sum += of_warp[warp];
            all += of_warp[warp];
        }
        if (i < count) starts[i] = static_cast<index_t>(base + sum);
        base += all;
        __syncthreads();
    }
}

// Launch: any grid, once for each range [first, last) of vertices.  Every arc takes its place by atomicAdd on starts;
// writes targets and weights there, each by one thread.
extern "C" __global__ void graph500_place(int64 count, const uint32* __restrict__ edges,
                                          const float32* __restrict__ input, uint32 first, uint32 last,
                                          index_t* starts, int32* targets, float32* weights) {
    count_t* const ends = reinterpret_cast<count_t*>(starts);
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = __ldcs(&edges[3 * i]), v = __ldcs(&edges[3 * i + 1]);
        const bool forward = first <= u && u < last, backward = first <= v && v < last;
        if (u == v || !(forward || backward)) continue;
        const float32 w = __ldcs(&input[i]);
        if (forward) {
            const count_t at = atomicAdd(&ends[u + 1], static_cast<count_t>(1));
            targets[at] = static_cast<int32>(v);
            weights[at] = w;
        }
        if (backward) {
            const count_t at = atomicAdd(&ends[v + 1], static_cast<count_t>(1));
            targets[at] = static_cast<int32>(u);
            weights[at] = w;
        }
    }
}

// ------------------------------------------------------------------ parents

// Find the least distance of a hub; *nearest holds the bits of infinity before.
// Launch: any grid of whole warps.  Lowers *nearest.
extern "C" __global__ void graph500_first_hub(int32 vertices, const index_t* __restrict__ offsets,
                                              const float32* __restrict__ distance, uint32* nearest) {
    uint32 least = 0xffffffffu;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (offsets[v + 1] - offsets[v] < HUB) continue;
        const uint32 bits = __float_as_uint(distance[v]);
        if (bits < least) least = bits;
    }
    least = warp_min(least);
    if (lane_id() == 0) lower_to(nearest, least);
}

// Let all vertices that are nearer than the nearest hub offer themselves as parents to those that are further away.
// Launch: any grid of whole warps, each of which takes a row at a time.  Writes parent: every writer is right.
extern "C" __global__ void graph500_push(int32 vertices, const index_t* __restrict__ offsets,
                                         const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                         const float32* __restrict__ distance, const uint32* __restrict__ nearest,
                                         int32* parent) {
    const float32 hub = __uint_as_float(*nearest);
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 mine = first + lane_id();
        unsigned pushing = __ballot_sync(FULL_MASK, mine < vertices && distance[mine] < hub);
        while (pushing != 0) {
            const int32 u = static_cast<int32>(first + first_lane(pushing));
            pushing &= pushing - 1;
            const float32 near = distance[u];
            for (index_t at = offsets[u] + lane_id(); at < offsets[u + 1]; at += WARP) {
                const float32 far = distance[targets[at]];
                if (!(near < far) || near + weights[at] != far) continue;
                parent[targets[at]] = u;  // race-allowed: every writer brings a parent that is right
            }
        }
    }
}

// Give every vertex a parent that is nearer to the root, but no nearer than the nearest hub, and joined to it by a
// tight arc, if there is one.
// Launch: any grid of whole warps.  Writes parent: every writer is right.
extern "C" __global__ void graph500_tight(int32 vertices, index_t arcs, const index_t* __restrict__ offsets,
                                          const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                          const float32* __restrict__ distance, const uint32* __restrict__ nearest,
                                          int32* parent) {
    const float32 hub = __uint_as_float(*nearest);
    const int64 step = grid_threads() / WARP * ARC_TILE;
    for (int64 begin = grid_thread() / WARP * ARC_TILE; begin < arcs; begin += step) {
        const int64 end = begin + ARC_TILE < arcs ? begin + ARC_TILE : static_cast<int64>(arcs);
        int32 row = row_of_arc(offsets, static_cast<index_t>(begin), 0, vertices - 1);
        const int32 last = row_of_arc(offsets, static_cast<index_t>(end - 1), row, vertices - 1);
        for (int64 portion = begin + lane_id(); portion < end; portion += SIDE * WARP) {
            float32 weight[SIDE], far[SIDE], near[SIDE];
            int32 v[SIDE], u[SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                const int64 at = portion + i * WARP;
                weight[i] = at < end ? __ldcs(&weights[at]) : 0.0f;
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                const int64 at = portion + i * WARP;
                u[i] = NONE;
                if (at >= end) continue;
                row = row_of_arc(offsets, static_cast<index_t>(at), row, last);
                v[i] = row;
                far[i] = distance[row];
                // The last term exceeds the rounding of the sum.  No vertex that is not reached passes: NaN.
                if (weight[i] <= far[i] - hub + far[i] * 2.4e-7f) u[i] = targets[at];
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                if (u[i] != NONE) near[i] = distance[u[i]];
            }
#pragma unroll
            for (int i = 0; i < SIDE; ++i) {
                if (u[i] == NONE || !(near[i] < far[i]) || near[i] + weight[i] != far[i]) continue;
                parent[v[i]] = u[i];  // race-allowed: every writer brings a parent that is right
            }
        }
    }
}

// List the reached vertices that have no parent yet, and mark those that are not reached.
// Launch: any grid of whole warps.  Writes distance, list and *count.
extern "C" __global__ void graph500_settle(int32 vertices, float32* distance, const int32* __restrict__ parent,
                                           int32* list, uint32* count) {
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        const bool open = v < vertices && parent[v] == NONE;
        const bool unreached = open && __float_as_uint(distance[v]) == 0xffffffffu;
        if (unreached) distance[v] = -1.0f;
        const bool waits = open && !unreached;
        if (!__any_sync(FULL_MASK, waits)) continue;
        const uint32 slot = warp_append(count, waits);
        if (waits) list[slot] = static_cast<int32>(v);
    }
}

// Hang listed vertices on equally far ones that have a parent.  Who has one got it before whoever reads it here, and so
// on back to a nearer vertex: there is no cycle.
// Launch: any grid of whole warps; a warp takes a vertex.  Writes parent, and adds to *left those that found nothing.
extern "C" __global__ void graph500_hang(int64 count, const int32* __restrict__ list,
                                         const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                                         const weight_t* __restrict__ weights, const float32* __restrict__ distance,
                                         int32* parent, uint32* left) {
    volatile int32* const seen = parent;
    for (int64 i = grid_thread() / WARP; i < count; i += grid_threads() / WARP) {
        const int32 v = list[i];
        const bool has = seen[v] != NONE;  // written by this warp alone, in an earlier launch
        if (__any_sync(FULL_MASK, has)) continue;
        const float32 far = distance[v];
        bool hangs = false;
        for (index_t first = offsets[v]; first < offsets[v + 1] && !hangs; first += WARP) {
            const index_t at = first + lane_id();
            int32 u = NONE;
            if (at < offsets[v + 1] && distance[targets[at]] == far && far + weights[at] == far) u = targets[at];
            if (u != NONE && seen[u] == NONE) u = NONE;  // race-allowed: a parent is written once
            const unsigned offers = __ballot_sync(FULL_MASK, u != NONE);
            hangs = offers != 0;
            if (hangs && lane_id() == first_lane(offers)) seen[v] = u;  // race-allowed: readers take either value
        }
        if (!hangs && lane_id() == 0) atomicAdd(left, 1u);
    }
}

// ------------------------------------------------------------------ validation

// Rules that concern a vertex alone; and what the other kernels read.
// Launch: any grid.  Writes pairs, jump and confirmed, each by one thread, and lowers found.
extern "C" __global__ void graph500_check_vertices(int32 vertices, int32 root, const float32* __restrict__ distance,
                                                   const int32* __restrict__ parent, uint64* pairs, int32* jump,
                                                   uint8* confirmed, uint64* found) {
    for (int64 i = grid_thread(); i < vertices; i += grid_threads()) {
        const int32 v = static_cast<int32>(i), p = parent[v];
        const float32 d = distance[v];
        const uint32 bits = __float_as_uint(d);
        const bool in_range = p >= NONE && p < vertices && (d == -1.0f || bits < 0x7f800000u);
        if (!in_range) lower_to(&found[RANGE], static_cast<uint64>(v));
        if ((p == NONE) != (d == -1.0f)) lower_to(&found[UNLIKE], static_cast<uint64>(v));
        if (v == root && (p != root || d != 0.0f)) lower_to(&found[ROOT], static_cast<uint64>(v));
        pairs[v] = static_cast<uint64>(static_cast<uint32>(p)) << 32 | bits;
        jump[v] = p == NONE || !in_range ? root : p;
        confirmed[v] = v == root || p == NONE;
    }
}

// Let every vertex jump to where its goal has jumped: after k launches at least 2^k steps up the tree.
// Launch: any grid.  Writes jump, each by one thread, and lowers *lowest to a vertex that is not at the root.
extern "C" __global__ void graph500_climb(int32 vertices, int32 root, int32* jump, uint64* lowest) {
    volatile int32* const goal = jump;
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        const int32 here = goal[v];
        if (here == root) continue;
        const int32 next = goal[here];  // race-allowed: a later one is a vertex further up
        goal[v] = next;                 // race-allowed: the same
        if (next != root) lower_to(lowest, static_cast<uint64>(v));
    }
}

// Rules that concern a tuple: both its ends are reached or none is, and their distances differ by at most its weight.
// It confirms an end whose parent is the other one and whose distance is that of the other one plus the weight.
// Launch: any grid of whole warps.  Writes confirmed, whoever writes the same, lowers found, adds to found[TUPLES].
extern "C" __global__ void graph500_check_tuples(int64 count, const uint32* __restrict__ edges,
                                                 const float32* __restrict__ input, const uint64* __restrict__ pairs,
                                                 uint8* confirmed, uint64* found) {
    uint64 inside = 0;
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = __ldcs(&edges[3 * i]), v = __ldcs(&edges[3 * i + 1]);
        const float32 w = __ldcs(&input[i]);
        const uint64 pair_u = pairs[u], pair_v = pairs[v];
        const int32 parent_u = static_cast<int32>(pair_u >> 32), parent_v = static_cast<int32>(pair_v >> 32);
        if (parent_u == NONE && parent_v == NONE) continue;
        if (parent_u == NONE || parent_v == NONE) {
            lower_to(&found[SPLIT], static_cast<uint64>(i));
            continue;
        }
        inside += 1;
        if (u == v) continue;
        const float32 at_u = __uint_as_float(static_cast<uint32>(pair_u));
        const float32 at_v = __uint_as_float(static_cast<uint32>(pair_v));
        if (at_u + w < at_v || at_v + w < at_u) lower_to(&found[TOO_FAR], static_cast<uint64>(i));
        // race-allowed: whoever writes here writes 1, and nobody reads
        if (parent_v == static_cast<int32>(u) && at_v == at_u + w) confirmed[v] = 1;
        if (parent_u == static_cast<int32>(v) && at_u == at_v + w) confirmed[u] = 1;  // race-allowed: the same
    }
    inside = warp_scan(inside);
    if (lane_id() == WARP - 1 && inside != 0) atomicAdd(&found[TUPLES], inside);
}

// Launch: any grid.  Lowers found.
extern "C" __global__ void graph500_check_confirmed(int32 vertices, const uint8* __restrict__ confirmed,
                                                    uint64* found) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (confirmed[v] == 0) lower_to(&found[UNCONFIRMED], static_cast<uint64>(v));
    }
}
