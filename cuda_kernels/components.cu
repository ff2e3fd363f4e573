/*
Connected components in one cooperative launch: trees of vertices are joined until every component is one tree; then
every vertex learns the smallest vertex of its tree.

    1  start     every vertex points to a smaller neighbour.  Each block has tiles of consecutive vertices; where
                 neighbours are close in number, the first two arcs of its rows are joined in shared memory first
    2  jump      vertices that point out of their tile point to their root
    3  sample    windows: the trees at both ends of the first arcs of rows outside of the giant are joined.  Before each
                 window the giant is found anew, the most frequent root of a sample of vertices; the windows end where
                 little is left outside of it, or where they would read more than half of what is left
    4  rest      rows outside of the giant are read, each until its tree joins the giant
    5  hubs      the rows among them that are too long for a warp, a block for each
    6  label     every vertex points to its root, and every root learns the smallest vertex below it

Of rows in the giant no more is read: an arc that leaves the giant is found from its other end.  This holds for any tree
that stays the same during 4 and 5.  Where others have rows of the graph, those are empty here, and an arc of which
neither end is looked at joins the giant of one of them with that of another: it is found out later whether they are one
component.

Which of two roots comes before the other decides a hash of their numbers, from 3 on, and the giant's comes before all:
numbers themselves would make chains where neighbours in space are neighbours in number.

    offsets (n+1)  targets (arcs)   the graph, both arcs of every edge, in any order
    parent (n)         the vertex above each; of a root ~m, m being the smallest vertex known below it; of a vertex
                       without arcs itself, if these are all rows; in the end the label, the smallest vertex of the
                       component
    hubs (n)           rows too long for a warp
    control, next_control (CONTROL_WORDS)  counters of this launch (enum Control), and of the one behind it
    timeline (END + 1) when each phase began (enum Phase)

Invariants.  In 1 a parent is a smaller vertex; from then on only a root gets a parent that was no ancestor, and one
that comes before it; the order changes only between windows, when nothing is joined.  So there is no cycle, and a root
that has got a parent never is one again.  An old value of parent[v] is an ancestor too, so that it may be read from a
cache; whether a root still is one, only the compare-and-swap that links it decides.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads.

Source: M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
IPDPS 2018 (the sample, the giant); J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation
for GPUs", HPDC 2018 (a start without atomics, hooking by compare-and-swap while paths are halved).  Tiles, windows and
the order by hash are ours.
*/
#include "common.cuh"


constexpr int BLOCK = 512;
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 1200)
constexpr int RESIDENT = 2;      // blocks of a multiprocessor that holds fewer threads
#elif defined(INDEX) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int RESIDENT = 3;      // of four would spill
#else
constexpr int RESIDENT = INDEX_BITS == 64 ? 3 : 4;
#endif
constexpr int TILE = 4096;       // most vertices of a tile
constexpr int CLOSE = 8;         // one of so many vertices has a neighbour in its tile: the tile is joined by itself
constexpr int FIRST_WINDOW = 2;  // arcs of every row in the first window,
constexpr int PROBE = 16;        // and one row of so many is read first where no tree holds half of the vertices
constexpr int WIDER = 4;         // windows grow by this factor
constexpr int AHEAD = 4;         // vertices that a lane looks at together, for those outside of the giant
constexpr int QUEUE = (AHEAD + 1) * WARP;
constexpr int SHORT_ROW = 16;    // below this many arcs one lane reads a row,
constexpr int HUB_ROW = 8192;    // below this many a warp, and from it on a block
constexpr int SAMPLES = BLOCK;   // vertices whose root is looked up,
constexpr int FEW = 16;          // one of so many at least belongs to a giant

enum Skips { READ_ALL, SKIP, WHOLE };  // whether to skip a giant's rows; WHOLE: and these are all rows of the graph

// Phases; `timeline` holds the nanoseconds at the beginning of each that was entered.
enum Phase { START, JUMP, SAMPLE, REST, HUBS, LABEL, END };

constexpr uint32 NO_GIANT = 0x80000000u;  // neither a vertex nor a root's ~m: vertices are fewer than 2^31

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,        // of blocks at the grid barrier
    HUB_COUNT,       // hubs met
    GIANT_ROOT,      // the root of the giant; NO_GIANT where all rows are to be read
    GIANT_VOTES,     // of the vertices sampled, those that belong to it,
    OUTSIDE,         // those that do not, but have arcs,
    OUTSIDE_ARCS,    // and the arcs of their rows
    CONTROL_WORDS
};

// ------------------------------------------------------------------ trees

// A one-to-one scramble of a vertex: of two roots, the one with the smaller scramble comes first.
__device__ __forceinline__ uint32 rank_of(int32 v) {
    const uint32 mixed = (static_cast<uint32>(v) ^ static_cast<uint32>(v) >> 16) * 0x9e3779b1u;
    return mixed ^ mixed >> 15;
}

// A vertex's parent, maybe an old one.  The first-level cache may answer: all threads ask for the giant's root.
__device__ __forceinline__ int32 parent_seen(const int32* parent, int32 v) {
#ifdef __CUDA_ARCH__
    int32 above;
    asm volatile("ld.global.s32 %0, [%1];" : "=r"(above) : "l"(parent + v));
    return above;
#else
    return parent[v];  // race-allowed: any ancestor will do
#endif
}

// Tell whether root a comes before root b; the giant's comes before all.
__device__ __forceinline__ bool comes_first(int32 a, int32 b, int32 giant) {
    return a == giant || (b != giant && rank_of(a) < rank_of(b));
}

// The root of v's tree as far as it can be seen, or the giant's if that is on the way.  Every vertex on the way gets
// its grandparent as parent.
__device__ __forceinline__ int32 find_root(int32* parent, int32 v, int32 giant) {
    if (v == giant) return v;
    int32 above = parent_seen(parent, v);
    while (above >= 0) {
        if (above == giant) return above;
        const int32 next = parent_seen(parent, above);
        if (next < 0) return above;
        parent[v] = next;  // race-allowed: v is no root, and `next` is one of its ancestors
        v = above;
        above = next;
    }
    return v;
}

// Join the trees of a and b: of their roots the later one gets the other as parent.  Returns the common root.
__device__ __forceinline__ int32 join(int32* parent, int32 a, int32 b, int32 giant) {
    a = find_root(parent, a, giant);
    b = find_root(parent, b, giant);
    while (a != b) {
        if (comes_first(a, b, giant)) {
            const int32 swap = a;
            a = b;
            b = swap;
        }
        const int32 found = atomicCAS(&parent[a], ~a, b);
        if (found == ~a) return b;
        a = find_root(parent, found, -1);  // another thread has linked it
    }
    return a;
}

// Let v point to its root, and change no other vertex: who halves the paths of others may undo what they have found.
// Nothing may be joined meanwhile.  Returns the root.
__device__ __forceinline__ int32 point_to_root(int32* parent, int32 v) {
    int32 above = parent_seen(parent, v);
    if (above < 0) return v;
    for (;;) {
        const int32 next = parent_seen(parent, above);
        if (next < 0 || next == above) return above;
        parent[v] = next;  // race-allowed: an ancestor; it shortens the way of those below
        above = next;
    }
}

// Join the tree of `root`, which `near` belongs to, with that of the other end of an arc.  Returns the common root.
__device__ __forceinline__ int32 join_arc(int32* parent, int32 near, int32 root, int32 other, int32 giant) {
    const int32 there = parent_seen(parent, other);
    if (there == near || there == root || other == root) return root;
    return join(parent, root, there < 0 ? other : there, giant);
}

// Give a root's word a smaller vertex of its tree.
__device__ __forceinline__ void raise_to(int32* word, int32 value) {
    if (value > *static_cast<volatile int32*>(word)) atomicMax(word, value);  // race-allowed: the word only rises
}

// ------------------------------------------------------------------ tiles: trees in shared memory

__device__ __forceinline__ int32 tile_root(int32* up, int32 i) {
    int32 above = up[i];  // race-allowed: any ancestor will do
    while (above != i) {
        const int32 next = up[above];  // race-allowed: any ancestor will do
        if (next == above) return above;
        up[i] = next;  // race-allowed: i is no root, and `next` is one of its ancestors
        i = above;
        above = next;
    }
    return i;
}

// Link every vertex of a tile to its root.  Nothing may be joined meanwhile.
__device__ __forceinline__ void flatten_tile(int32* up, int32 size) {
    for (int32 i = threadIdx.x; i < size; i += BLOCK) {
        int32 above = up[i];  // race-allowed: any ancestor will do
        for (;;) {
            const int32 next = up[above];  // race-allowed: any ancestor will do
            if (next == above) break;
            up[i] = next;  // race-allowed: an ancestor; it shortens the way of those below
            above = next;
        }
    }
}

// Join the trees of two vertices of a tile; the smaller root stays one.
__device__ __forceinline__ void join_in_tile(int32* up, int32 i, int32 j) {
    int32 a = tile_root(up, i), b = tile_root(up, j);
    while (a != b) {
        if (a < b) {
            const int32 swap = a;
            a = b;
            b = swap;
        }
        const int32 found = atomicCAS(&up[a], a, b);
        if (found == a) return;
        a = tile_root(up, found);
    }
}

// Trees of the vertices [base, base + size): each points to a smaller neighbour; where neighbours are close in number,
// to the root of what the first two arcs of rows join within the tile, which points to a vertex before the tile.
// All threads must call.
__device__ __forceinline__ void start_tile(int32 base, int32 size, const index_t* __restrict__ offsets,
                                           const int32* __restrict__ targets, int32* parent, int32* up, bool whole) {
    const auto inside = [&](int32 v) { return v >= base && v < base + size; };
    // Sampled in the middle, where a neighbour to either side is as likely inside as it can be.
    const int32 sampled = base + size / 2 - BLOCK / 2 + static_cast<int32>(threadIdx.x);
    bool close = false;
    if (inside(sampled)) {
        const index_t begin = offsets[sampled], end = offsets[sampled + 1];
        close = begin < end && inside(targets[begin]);
        if (!close && begin + 1 < end) close = inside(targets[begin + 1]);
    }
    if (__syncthreads_count(close) * CLOSE < (size < BLOCK ? size : BLOCK)) {
        for (int32 i = threadIdx.x; i < size; i += BLOCK) {
            const int32 v = base + i;
            const index_t begin = offsets[v], end = offsets[v + 1];
            const int32 first = begin < end ? targets[begin] : v;
            parent[v] = first < v ? first : begin < end || !whole ? ~v : v;
        }
        return;
    }
    for (int32 i = threadIdx.x; i < size; i += BLOCK) {
        const int32 v = base + i;
        const index_t begin = offsets[v], end = offsets[v + 1];
        const int32 first = begin < end ? targets[begin] : v;
        int32 hung = first;
        if (first < base && begin + 1 < end) hung = targets[begin + 1];
        up[i] = hung >= base && hung < v ? hung - base : i;
        parent[v] = first < base ? first : begin < end || !whole ? ~v : v;
    }
    __syncthreads();
    flatten_tile(up, size);
    __syncthreads();
    for (int32 i = threadIdx.x; i < size; i += BLOCK) {
        const int32 v = base + i;
        const index_t begin = offsets[v], end = offsets[v + 1];
        for (index_t arc = begin; arc < end && arc < begin + FIRST_WINDOW; ++arc) {
            const int32 other = targets[arc];
            if (inside(other)) join_in_tile(up, i, other - base);
        }
    }
    __syncthreads();
    for (int32 i = threadIdx.x; i < size; i += BLOCK) {
        const int32 root = tile_root(up, i);
        if (root == i) continue;
        const int32 outside = parent[base + i];
        // race-allowed: each of them is a neighbour of the tree
        if (outside >= 0 && outside < base) parent[base + root] = outside;
        parent[base + i] = base + root;
    }
    __syncthreads();  // `up` is used again
}

// Vertices of a tile: a block has consecutive ones, a single one if that is no longer than TILE.
__device__ __forceinline__ uint32 tile_span(int32 vertices) {
    const uint32 share = (static_cast<uint32>(vertices) + gridDim.x - 1) / gridDim.x;
    return share < TILE ? (share + BLOCK - 1) / BLOCK * BLOCK : TILE;
}

// Start the trees of this block's tiles.  All threads must call.
__device__ __noinline__ void start_tiles(int32 vertices, const index_t* __restrict__ offsets,
                                         const int32* __restrict__ targets, int32* parent, int32* up, bool whole) {
    const uint32 n = static_cast<uint32>(vertices), span = tile_span(vertices), tiles = (n + span - 1) / span;
    const uint32 stop = static_cast<uint32>(static_cast<uint64>(tiles) * (blockIdx.x + 1) / gridDim.x) * span;
    for (uint32 base = static_cast<uint32>(static_cast<uint64>(tiles) * blockIdx.x / gridDim.x) * span; base < stop;
         base += span) {
        start_tile(static_cast<int32>(base), static_cast<int32>(span < n - base ? span : n - base), offsets, targets,
                   parent, up, whole);
    }
}

// ------------------------------------------------------------------ the giant

// The most frequent root among SAMPLES vertices, no giant where it is none of every FEW; and of the vertices that do
// not belong to it the number, and the arcs of their rows.  Nothing may be joined meanwhile.  All threads must call.
__device__ __noinline__ void find_giant(int32 vertices, const index_t* __restrict__ offsets, const int32* parent,
                                        uint32* control) {
    __shared__ uint4 roots[SAMPLES / 4];
    __shared__ uint64 best, outside;
    if (threadIdx.x == 0) best = outside = 0;
    const int32 sampled = static_cast<int32>(static_cast<uint64>(rank_of(threadIdx.x)) * vertices >> 32);
    const index_t length = offsets[sampled + 1] - offsets[sampled];
    int32 root = sampled;
    for (int32 above = parent_seen(parent, root); above >= 0 && above != root; above = parent_seen(parent, root)) {
        root = above;
    }
    const uint32 mine = static_cast<uint32>(root);
    reinterpret_cast<uint32*>(roots)[threadIdx.x] = mine;
    __syncthreads();
    uint32 votes = 0;
    for (int i = 0; i < SAMPLES / 4; ++i) {
        const uint4 four = roots[i];
        votes += (four.x == mine) + (four.y == mine) + (four.z == mine) + (four.w == mine);
    }
    const uint64 least = warp_min(~(static_cast<uint64>(votes) << 32 | mine));
    if (lane_id() == 0) atomicMax(&best, ~least);
    __syncthreads();
    const uint32 most = static_cast<uint32>(best >> 32);
    const bool none = most * FEW < SAMPLES;
    const bool out = (none || mine != static_cast<uint32>(best)) && length > 0;
    const index_t counted = length < 1 << 20 ? length : static_cast<index_t>(1 << 20);
    const uint32 arcs = warp_scan(out ? static_cast<uint32>(counted) : 0u);
    const uint32 count = __popc(__ballot_sync(FULL_MASK, out));
    if (lane_id() == WARP - 1) atomicAdd(&outside, static_cast<uint64>(count) << 32 | arcs);
    __syncthreads();
    if (threadIdx.x == 0) {
        control[GIANT_ROOT] = none ? NO_GIANT : static_cast<uint32>(best);
        control[GIANT_VOTES] = most;
        control[OUTSIDE] = static_cast<uint32>(outside >> 32);
        control[OUTSIDE_ARCS] = static_cast<uint32>(outside);
    }
}

// ------------------------------------------------------------------ outside of the giant

// Call body(v) for the vertices that do not point to the giant's root, in 32 lanes at once, with -1 where there is none
// left; of all vertices, or of one run of AHEAD warps in `every`.  `queue` has room for QUEUE vertices of this warp.
template <typename Body>
__device__ __forceinline__ void each_outside(int32 vertices, const int32* parent, int32 giant, int every, int32* queue,
                                             Body body) {
    const uint32 n = static_cast<uint32>(vertices), step = gridDim.x * BLOCK * AHEAD * every;
    int waiting = 0;
    for (uint32 first = (blockIdx.x * BLOCK + threadIdx.x) / WARP * (WARP * AHEAD) * every + lane_id();;) {
        for (; waiting < WARP && first - lane_id() < n; first += step) {
            int32 above[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                above[k] = first + k * WARP < n ? parent_seen(parent, static_cast<int32>(first + k * WARP)) : giant;
            }
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                const int32 v = static_cast<int32>(first + k * WARP);
                const bool out = first + k * WARP < n && above[k] != giant && above[k] != v;
                const unsigned outs = __ballot_sync(FULL_MASK, out);
                if (out) queue[waiting + __popc(outs & lanes_before())] = v;
                waiting += __popc(outs);
            }
        }
        if (waiting == 0) return;
        __syncwarp();
        const int taken = waiting < WARP ? waiting : WARP;
        waiting -= taken;
        const int32 v = lane_id() < taken ? queue[waiting + lane_id()] : -1;
        __syncwarp();
        body(v);
    }
}

// ------------------------------------------------------------------ the kernel

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` as above, vertices > 0; `skips`
// is one of enum Skips.  Writes parent; makes next_control 0.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
components_hook(int32 skips, int32 vertices, const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                int32* parent, int32* hubs, uint32* control, uint32* next_control, uint64* timeline) {
    __shared__ int32 up[TILE];
    uint32 barriers = 0;
    const auto barrier = [&]() { grid_barrier(&control[ARRIVALS], &barriers); };
    const auto enter = [&](Phase phase) {
        if (grid_thread() == 0) timeline[phase] = device_nanoseconds();
    };
    const auto word = [&](Control name) { return *static_cast<volatile uint32*>(&control[name]); };

    enter(START);
    clear_for_next(next_control, CONTROL_WORDS);
    const uint32 n = static_cast<uint32>(vertices);
    start_tiles(vertices, offsets, targets, parent, up, skips == WHOLE);
    barrier();

    enter(JUMP);
    const uint32 span = tile_span(vertices);
    // In the order of their numbers: those before are through by the time that others come to them.
    for (uint32 v = blockIdx.x * BLOCK + threadIdx.x; v < n; v += gridDim.x * BLOCK) {
        const int32 above = parent_seen(parent, static_cast<int32>(v));
        if (above >= 0 && above < static_cast<int32>(v / span * span)) point_to_root(parent, static_cast<int32>(v));
    }
    barrier();

    enter(SAMPLE);
    int32* const queue = up + threadIdx.x / WARP * QUEUE;
    int32 giant = static_cast<int32>(NO_GIANT);
    bool probed = false;
    for (int from = 0, to = FIRST_WINDOW; skips;) {
        if (blockIdx.x == 0) find_giant(vertices, offsets, parent, control);
        barrier();
        giant = static_cast<int32>(word(GIANT_ROOT));
        const uint32 arcs = word(OUTSIDE_ARCS);
        const bool probes = !probed && word(GIANT_VOTES) < word(OUTSIDE);
        const int every = probes ? PROBE : 1;
        probed = true;
        // A window pays if enough is left to read outside of the giant, and if it is a small part of that.
        if (arcs * 4 < SAMPLES || static_cast<uint64>(arcs) * every < 2ull * to * word(OUTSIDE)) break;
        each_outside(vertices, parent, giant, every, queue, [&](int32 v) {
            if (v < 0 || v == giant) return;
            const int32 above = parent_seen(parent, v), near = above < 0 ? v : above;
            int32 root = find_root(parent, near, giant);
            if (root != giant) {
                const index_t begin = offsets[v], end = offsets[v + 1];
                const index_t last = end - begin < to ? end : begin + to;
                for (index_t arc = begin + from; arc < last && root != giant; ++arc) {
                    root = join_arc(parent, near, root, targets[arc], giant);
                }
            }
            if (root == giant) parent[v] = giant;  // race-allowed: an ancestor
        });
        barrier();
        if (every > 1) continue;
        from = to;
        to *= WIDER;
    }

    enter(REST);
    each_outside(vertices, parent, giant, 1, queue, [&](int32 v) {
        index_t begin = 0, end = 0;
        int32 near = giant, root = giant;
        if (v >= 0 && v != giant) {
            const int32 above = parent_seen(parent, v);
            near = above < 0 ? v : above;
            root = find_root(parent, near, giant);
        }
        // A vertex of the giant needs no look: an arc of its row that leaves it is found from its other end.
        if (v >= 0 && v != giant && root != giant) {
            begin = offsets[v];
            end = offsets[v + 1];
        }
        const index_t length = end - begin;
        if (length < SHORT_ROW) {
            for (index_t arc = begin; arc < end && root != giant; ++arc) {
                root = join_arc(parent, near, root, targets[arc], giant);
            }
        }
        unsigned waiting = __ballot_sync(FULL_MASK, length >= SHORT_ROW && length < HUB_ROW);
        for (; waiting != 0; waiting &= waiting - 1) {
            const int owner = first_lane(waiting);
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const int32 row_near = __shfl_sync(FULL_MASK, near, owner);
            int32 row_root = __shfl_sync(FULL_MASK, root, owner);
            for (index_t arc = row_begin + lane_id(); arc - lane_id() < row_end; arc += WARP) {
                if (arc < row_end) row_root = join_arc(parent, row_near, row_root, targets[arc], giant);
                if (__any_sync(FULL_MASK, row_root == giant)) break;
            }
        }
        note_hubs(hubs, &control[HUB_COUNT], length >= HUB_ROW, v);
    });
    barrier();

    enter(HUBS);
    const uint32 hub_count = word(HUB_COUNT);
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 v = hubs[h];
        int32 root = find_root(parent, v, giant);
        const index_t end = offsets[v + 1];
        for (index_t arc = offsets[v] + threadIdx.x; arc < end && root != giant; arc += BLOCK) {
            root = join_arc(parent, v, root, targets[arc], giant);
        }
    }
    if (hub_count != 0) barrier();

    enter(LABEL);
    int32 lowered = -1;  // the root that this lane, or one before it, has lowered
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        const int32 root = v < vertices ? point_to_root(parent, static_cast<int32>(v)) : -1;
        // Of neighbouring lanes with one root the first has the smallest vertex, and of a lane's vertices the first.
        const int32 before = __shfl_up_sync(FULL_MASK, root, 1);
        const bool news = root > v && root != lowered && (lane_id() == 0 || before != root);
        if (news) raise_to(&parent[root], ~static_cast<int32>(v));
        lowered = root;
    }
    barrier();
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        const int32 root = parent[v];
        const int32 seen = root < 0 ? root : parent_seen(parent, root);
        const int32 label = seen < 0 ? ~seen : seen;  // the root may have its label already
        if (label != root) parent[v] = label;  // race-allowed: the label of this vertex, whether read before or after
    }
    enter(END);
}
