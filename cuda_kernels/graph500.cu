/*
Graph500 on a device: the edge list of the reference code, kernel 1 (rows of that list), the parents of kernel 3, and
the validation.  The search itself is delta_stepping.cu.

    words              seed (5), scrambling (2), and from word 7 on the matrices (5, 5) that jump 2^k edges ahead
    edges (3 m)        tuples in three words: the lower 32 bits of either end, and the upper 16 bits of both
    input (m)          weights of the tuples
    degree (labels)    arcs of each vertex, loops left out
    rank (labels), label (n)    the number of a vertex in the rows, NONE where it has no arc; and the other way round.
                       Vertices with many arcs come first, by class: so the distances that are gathered most lie
                       together
    renamed            tuples, as many as are renamed at a time: the ranks of both ends, NONE for a loop
    starts (n+2)       of the vertices that have arcs: kernel 1 puts the arcs of v into starts[v + 2]; running sums make
                       starts[v + 1] the start of its row; while arcs are placed it moves to the row's end, which is
                       where row v + 1 begins.  So the first n + 1 words are the offsets in the end
    offsets, targets, weights    the rows: arcs in any order, duplicates kept, loops dropped
    distance (n)       float32; of the search NaN (all bits set) where not reached
    parent (n)         NONE where there is none yet
    distance, parent (labels)    the same for all labels in the end, -1 where not reached
    piece_vertex, piece_begin    the rows of hubs in pieces of PIECE arcs: whose, and where each begins
    pairs (n)          parent << 32 | bits of the distance, so that one gather brings both
    found              words of 64 bits, see the two enums

In launch order: generate; survey, count, count_classes, rank, tile_sums, running_sums, rename, place, list_pieces;
first_hub, push, tight, list_open, attach, unrank; check_vertices, climb, check_tuples, check_confirmed.

Parents are found by pulling.  An arc v -> u of weight w is tight for v if d(u) + w = d(v).  Let D be the distance of
the nearest vertex with many arcs.  Few vertices are nearer than D; these push along all of their arcs.  From the others
w must not exceed d(v) - D: weights are read in order, and a distance is gathered only for the few arcs that are so
short (1.3 a vertex at scale 20), also where the root itself lies far from everything.  A tight arc from a nearer
vertex, d(u) < d(v), cannot be part of a cycle.  Where only arcs from equally far vertices are tight (a weight of zero,
or one that rounding absorbs) the vertex takes one that has a parent already.

Source: Graph500 specification 2.0, sections 3 to 6; the generator's formulas are in gpugraph/ext/graph500/generator.py.
*/
#include "csr.cuh"

constexpr uint64 PRIME = 2147483647;
constexpr int BLOCK = 256;       // threads of a block
constexpr int SHARE = 8;         // words that a thread takes where a block has a tile:
constexpr int TILE = SHARE * BLOCK;
constexpr int CLASSES = 64;      // of degrees, two to a doubling
constexpr int QUAD = 4;          // consecutive arcs that a lane takes, whose weights one load brings
constexpr int HUB = 1024;        // a vertex with so many arcs is a hub; its row is cut
constexpr int PIECE = 4096;      // into pieces of so many arcs, one for a warp
constexpr int HELD = 2 * WARP;   // arcs that may be tight, of which a warp holds back so many at most
constexpr int RESIDENT = INDEX_BITS == 32 ? 6 : 5;  // blocks of a multiprocessor that look for tight arcs; more spill
constexpr int32 NONE = -1;       // no parent, no rank: both are vertices, from 0 on

// What survey finds: the largest label, the first tuple with a label or a weight that is none, and how many are loops.
enum { LARGEST, FIRST_BAD, LOOPS };

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

// Launch: any grid of whole warps.  Writes found[LARGEST] by atomicMax, found[FIRST_BAD] by atomicMin, and adds to
// found[LOOPS].
extern "C" __global__ void graph500_survey(int64 count, const uint32* __restrict__ edges,
                                           const float32* __restrict__ input, uint64* found) {
    uint32 largest = 0;
    uint64 loops = 0;
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = edges[3 * i], v = edges[3 * i + 1];
        const float32 w = input[i];
        loops += u == v;
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
    loops = warp_scan(loops);
    if (lane_id() == WARP - 1 && loops != 0) atomicAdd(&found[LOOPS], loops);
}

// Launch: any grid, once for each range [first, last) of labels, whose counters stay in the cache.  Writes degree, by
// atomicAdd.
extern "C" __global__ void graph500_count(int64 count, const uint32* __restrict__ edges, uint32 first, uint32 last,
                                          uint32* degree) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = __ldcs(&edges[3 * i]), v = __ldcs(&edges[3 * i + 1]);
        if (u == v) continue;
        if (first <= u && u < last) atomicAdd(&degree[u], 1u);
        if (first <= v && v < last) atomicAdd(&degree[v], 1u);
    }
}

// The class of a degree, which is not 0; great degrees come first.
__device__ __forceinline__ int class_of(uint32 degree) {
    const int doubling = 31 - __clz(static_cast<int>(degree));
    return CLASSES - 1 - 2 * doubling - (doubling == 0 ? 0 : degree >> (doubling - 1) & 1);
}

// Launch: any grid of BLOCK threads.  Adds to `sizes` how many vertices each class has.
extern "C" __global__ void graph500_count_classes(int32 labels, const uint32* __restrict__ degree, uint32* sizes) {
    __shared__ uint32 own[CLASSES];
    if (threadIdx.x < CLASSES) own[threadIdx.x] = 0;
    __syncthreads();
    for (int64 v = grid_thread(); v < labels; v += grid_threads()) {
        if (degree[v] != 0) atomicAdd(&own[class_of(degree[v])], 1u);
    }
    __syncthreads();
    if (threadIdx.x < CLASSES && own[threadIdx.x] != 0) atomicAdd(&sizes[threadIdx.x], own[threadIdx.x]);
}

// Give every vertex that has arcs its rank; `taken` begins with the first rank of each class.  Vertices of a class that
// have neighbouring labels get neighbouring ranks.
// Launch: a block of BLOCK threads for each tile.  Writes rank, label and starts, each by one thread, and adds to
// taken.
extern "C" __global__ void graph500_rank(int32 labels, const uint32* __restrict__ degree, uint32* taken, int32* rank,
                                         int32* label, index_t* starts) {
    __shared__ uint32 own[CLASSES];
    if (threadIdx.x < CLASSES) own[threadIdx.x] = 0;
    __syncthreads();
    const int64 begin = static_cast<int64>(blockIdx.x) * TILE + threadIdx.x;
    uint32 arcs[SHARE], place[SHARE];
#pragma unroll
    for (int i = 0; i < SHARE; ++i) {
        const int64 v = begin + i * BLOCK;
        arcs[i] = v < labels ? degree[v] : 0;
        place[i] = arcs[i] != 0 ? atomicAdd(&own[class_of(arcs[i])], 1u) : 0;
    }
    __syncthreads();
    if (threadIdx.x < CLASSES && own[threadIdx.x] != 0) {
        own[threadIdx.x] = atomicAdd(&taken[threadIdx.x], own[threadIdx.x]);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < SHARE; ++i) {
        const int64 v = begin + i * BLOCK;
        if (v >= labels) continue;
        const uint32 at = arcs[i] != 0 ? own[class_of(arcs[i])] + place[i] : static_cast<uint32>(NONE);
        rank[v] = static_cast<int32>(at);
        if (arcs[i] == 0) continue;
        label[at] = static_cast<int32>(v);
        starts[at + 2ull] = static_cast<index_t>(arcs[i]);
    }
}

// Launch: any grid.  Writes renamed, each by one thread.
extern "C" __global__ void graph500_rename(int64 count, const uint32* __restrict__ edges,
                                           const int32* __restrict__ rank, int2* renamed) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint32 u = __ldcs(&edges[3 * i]), v = __ldcs(&edges[3 * i + 1]);
        int2 ends = {NONE, NONE};
        if (u != v) ends = {rank[u], rank[v]};
        renamed[i] = ends;
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

// Launch: any grid, once for each range [first, last) of ranks, whose counters, and the sectors that are being filled,
// stay in the cache.  Every arc takes its place by atomicAdd on starts; writes targets and weights there, each by one
// thread.
extern "C" __global__ void graph500_place(int64 count, const int2* __restrict__ renamed,
                                          const float32* __restrict__ input, uint32 first, uint32 last,
                                          index_t* starts, int32* targets, float32* weights) {
    count_t* const ends = reinterpret_cast<count_t*>(starts);
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int2 ends_of = __ldcs(&renamed[i]);
        const uint32 u = static_cast<uint32>(ends_of.x), v = static_cast<uint32>(ends_of.y);
        const bool forward = first <= u && u < last, backward = first <= v && v < last;  // NONE lies beyond all
        if (!(forward || backward)) continue;
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

// List the pieces of the rows of hubs; one that has fewer arcs than a piece is one.
// Launch: any grid of whole warps.  Writes piece_vertex and piece_begin, each by one thread, and adds to *pieces.
extern "C" __global__ void graph500_list_pieces(int32 vertices, const index_t* __restrict__ offsets,
                                                int32* piece_vertex, index_t* piece_begin, uint32* pieces) {
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        index_t begin = 0, length = 0;
        if (v < vertices) {
            begin = offsets[v];
            length = offsets[v + 1] - begin;
        }
        const uint32 mine = length < HUB ? 0 : static_cast<uint32>((length - 1) / PIECE + 1);
        if (!__any_sync(FULL_MASK, mine != 0)) continue;
        const uint32 slot = warp_reserve(pieces, mine);
        for (uint32 i = 0; i < mine; ++i) {
            piece_vertex[slot + i] = static_cast<int32>(v);
            piece_begin[slot + i] = begin + static_cast<index_t>(i) * PIECE;
        }
    }
}

// ------------------------------------------------------------------ parents

// Find the least distance of a hub; *nearest holds the bits of infinity before.
// Launch: any grid of whole warps.  Lowers *nearest.
extern "C" __global__ void graph500_first_hub(int64 pieces, const int32* __restrict__ piece_vertex,
                                              const float32* __restrict__ distance, uint32* nearest) {
    uint32 least = 0xffffffffu;
    for (int64 i = grid_thread(); i < pieces; i += grid_threads()) {
        const uint32 bits = __float_as_uint(distance[piece_vertex[i]]);
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

// Arcs that may be tight.  A warp holds them back until it has one for each lane: the two gathers that decide wait for
// each
// other, and few of the arcs that a warp reads at a time are so short.
struct Candidates {
    struct Held {
        int32 vertex[HELD];
        index_t arc[HELD];
        float32 weight[HELD];
    };
    const int32* __restrict__ targets;
    const float32* __restrict__ distance;
    int32* parent;
    Held& held;  // in shared memory
    int count;

    // Take in the arcs of those lanes that bring one, out of v.  All lanes must call.
    __device__ __forceinline__ void add(bool brings, int32 v, index_t arc, float32 weight) {
        const unsigned bringing = __ballot_sync(FULL_MASK, brings);
        if (bringing == 0) return;
        if (brings) {
            const int slot = count + __popc(bringing & lanes_before());
            held.vertex[slot] = v;
            held.arc[slot] = arc;
            held.weight[slot] = weight;
        }
        count += __popc(bringing);
        if (count >= WARP) look(WARP);
    }

    // Look at the last `some` that are held.  All lanes must call.
    __device__ __forceinline__ void look(int some) {
        __syncwarp();
        count -= some;
        if (lane_id() < some) {
            const int slot = count + lane_id();
            const int32 v = held.vertex[slot], u = targets[held.arc[slot]];
            const float32 near = distance[u], far = distance[v];
            if (near < far && near + held.weight[slot] == far) {
                parent[v] = u;  // race-allowed: every writer brings a parent that is right
            }
        }
        __syncwarp();
    }
};

// What arcs are looked through for: those out of v that are no longer than `most`; none where that is negative, or NaN.
struct Row {
    int32 vertex;
    float32 most;
    index_t begin, end;
};

__device__ __forceinline__ Row row_of(int32 v, const float32* __restrict__ distance, float32 hub, index_t begin,
                                      index_t end) {
    const float32 far = distance[v];
    // The last term exceeds the rounding of the sum.  What is not reached is NaN.
    return {v, far - hub + far * 2.4e-7f, begin, end};
}

// Look through those of four consecutive arcs that are the row's.  All lanes must call, each with its own.
__device__ __forceinline__ void look_through(const Row& row, index_t first, index_t arcs,
                                             const weight_t* __restrict__ weights, Candidates& candidates) {
    float32 weight[QUAD] = {};
    if (first < row.end) load_streamed(weights, first, arcs, weight);
#pragma unroll
    for (int i = 0; i < QUAD; ++i) {
        const index_t arc = first + i;
        candidates.add(arc >= row.begin && arc < row.end && weight[i] <= row.most, row.vertex, arc, weight[i]);
    }
}

// Give every vertex a parent that is nearer to the root, but no nearer than the nearest hub, and joined to it by a
// tight arc, if there is one.
// Launch: any grid of BLOCK threads.  A warp takes pieces of hubs, and then 32 vertices at a time, whose arcs it shares
// out to its lanes.  Writes parent: every writer is right.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
graph500_tight(int32 vertices, index_t arcs, int64 pieces, const int32* __restrict__ piece_vertex,
               const index_t* __restrict__ piece_begin, const index_t* __restrict__ offsets,
               const int32* __restrict__ targets, const weight_t* __restrict__ weights,
               const float32* __restrict__ distance, const uint32* __restrict__ nearest, int32* parent) {
    __shared__ Candidates::Held held[BLOCK / WARP];
    Candidates candidates = {targets, distance, parent, held[threadIdx.x / WARP], 0};
    const float32 hub = __uint_as_float(*nearest);
    for (int64 i = grid_thread() / WARP; i < pieces; i += grid_threads() / WARP) {
        const int32 v = piece_vertex[i];
        const index_t begin = piece_begin[i], end = offsets[v + 1];
        const Row row = row_of(v, distance, hub, begin, end - begin < PIECE ? end : begin + PIECE);
        if (!(row.most >= 0.0f)) continue;
        for (index_t first = begin / QUAD * QUAD; first < row.end; first += WARP * QUAD) {
            look_through(row, first + lane_id() * QUAD, arcs, weights, candidates);
        }
    }
    for (int64 batch = grid_thread() - lane_id(); batch < vertices; batch += grid_threads()) {
        const int64 v = batch + lane_id();
        Row own = {0, -1.0f, 0, 0};
        if (v < vertices) own = row_of(static_cast<int32>(v), distance, hub, offsets[v], offsets[v + 1]);
        if (!(own.most >= 0.0f) || own.end - own.begin >= HUB) own.end = own.begin;
        const index_t quad = own.begin / QUAD;
        const uint32 mine = own.begin < own.end ? static_cast<uint32>((own.end - 1) / QUAD - quad + 1) : 0;
        const uint32 inclusive = warp_scan(mine), total = __shfl_sync(FULL_MASK, inclusive, WARP - 1);
        const index_t origin = quad - static_cast<index_t>(inclusive - mine);
        for (uint32 turn = lane_id(); turn - lane_id() < total; turn += WARP) {
            // The first lane whose rows, with those before it, hold more than `turn` quads.
            const int owner = lanes_up_to(turn, inclusive);
            const index_t first = (__shfl_sync(FULL_MASK, origin, owner) + static_cast<index_t>(turn)) * QUAD;
            Row row = {static_cast<int32>(batch) + owner, __shfl_sync(FULL_MASK, own.most, owner),
                       __shfl_sync(FULL_MASK, own.begin, owner), __shfl_sync(FULL_MASK, own.end, owner)};
            if (turn >= total) row.end = first;
            look_through(row, first, arcs, weights, candidates);
        }
    }
    candidates.look(candidates.count);
}

// List the reached vertices that have no parent yet.
// Launch: any grid of whole warps.  Writes list and *count.
extern "C" __global__ void graph500_list_open(int32 vertices, const float32* __restrict__ distance,
                                              const int32* __restrict__ parent, int32* list, uint32* count) {
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        const bool open = v < vertices && parent[v] == NONE && __float_as_uint(distance[v]) != 0xffffffffu;
        if (!__any_sync(FULL_MASK, open)) continue;
        const uint32 slot = warp_append(count, open);
        if (open) list[slot] = static_cast<int32>(v);
    }
}

// Give listed vertices an equally far parent.  Who has one got it before whoever reads it here, and so
// on back to a nearer vertex: there is no cycle.
// Launch: any grid of whole warps; a warp takes a vertex.  Writes parent, and adds to *unattached those that found
// nothing.
extern "C" __global__ void graph500_attach(int64 count, const int32* __restrict__ list,
                                           const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                                           const weight_t* __restrict__ weights, const float32* __restrict__ distance,
                                           int32* parent, uint32* unattached) {
    volatile int32* const seen = parent;
    for (int64 i = grid_thread() / WARP; i < count; i += grid_threads() / WARP) {
        const int32 v = list[i];
        const bool has = seen[v] != NONE;  // written by this warp alone, in an earlier launch
        if (__any_sync(FULL_MASK, has)) continue;
        const float32 far = distance[v];
        bool attached = false;
        for (index_t first = offsets[v]; first < offsets[v + 1] && !attached; first += WARP) {
            const index_t at = first + lane_id();
            int32 u = NONE;
            // Few weights are so small that a distance absorbs them: only their targets are read.
            if (at < offsets[v + 1] && far + weights[at] == far && distance[targets[at]] == far) u = targets[at];
            if (u != NONE && seen[u] == NONE) u = NONE;  // race-allowed: a parent is written once
            const unsigned offers = __ballot_sync(FULL_MASK, u != NONE);
            attached = offers != 0;
            if (attached && lane_id() == first_lane(offers)) seen[v] = u;  // race-allowed: readers take either value
        }
        if (!attached && lane_id() == 0) atomicAdd(unattached, 1u);
    }
}

// Bring distances and parents back to the labels of the input.
// Launch: any grid.  Writes label_distance and label_parent, each by one thread.
extern "C" __global__ void graph500_unrank(int32 labels, int32 root, const int32* __restrict__ rank,
                                           const int32* __restrict__ label, const float32* __restrict__ distance,
                                           const int32* __restrict__ parent, float32* label_distance,
                                           int32* label_parent) {
    for (int64 v = grid_thread(); v < labels; v += grid_threads()) {
        const int32 at = rank[v];
        const bool reached = at != NONE && __float_as_uint(distance[at]) != 0xffffffffu;
        const int32 above = reached ? parent[at] : NONE;
        label_distance[v] = v == root ? 0.0f : reached ? distance[at] : -1.0f;
        label_parent[v] = v == root ? root : above == NONE ? NONE : label[above];
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
