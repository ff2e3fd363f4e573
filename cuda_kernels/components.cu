/*
Connected components in one cooperative launch: trees of vertices are hooked onto each other until every component is
one tree; then every vertex learns the smallest vertex of its tree.

    1  start     every vertex points to the target of its row's first arc, if that is a smaller vertex, and then
                 on its root
    2  sample    the trees at both ends of the first two arcs of every row are joined: on most graphs this leaves one
                 giant tree and crumbs
    3  flatten   every vertex points to its root
    4  giant     the most frequent root of a sample of vertices
    5  rest      the rows of vertices outside of the giant are read, and every arc in them joins two trees
    6  hubs      the rows among them that are too long for a warp, a block for each
    7  label     every vertex points to its root, and every root learns the smallest vertex below it

Only the rows of phase 5 and 6 are read as a whole; an arc between two trees always has an end outside of the giant, and
is found from there.  Of all other rows two arcs are read.  Where others have rows of the graph, those are empty here,
and an arc of which neither end is looked at joins the giant of one of them with that of another: it is found out later
whether they are one component.

Which of two roots comes before the other decides a hash of their numbers, from 2 on: numbers themselves would make
chains as long as a road network is wide, for neighbours in space are neighbours in number.  In 1 chains may be long:
neighbouring lanes follow neighbouring ones, and all shorten them at once.

    offsets (n+1)  targets (arcs)   the graph, both arcs of every edge, in any order
    parent (n)         the vertex above each, a root its own; in the end the label: the smallest vertex of the component
    least (n)          of a root: the smallest vertex below it
    hubs (n)           rows too long for a warp
    control, next_control (CONTROL_WORDS)  counters of this launch (enum Control), and of the one behind it
    timeline (END + 1) when each phase began (enum Phase)

Invariants.  In 1 a parent is a smaller vertex; from then on only a root gets a parent that was no ancestor, and one
that comes before it.  So there is no cycle, and a root that has got a parent never is one again.  An old value of
parent[v] is an ancestor too, so that it may be read from a cache; whether a root still is one, only the
compare-and-swap that links it decides.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads.

Source: M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
IPDPS 2018 (the sample, the giant); J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation
for GPUs", HPDC 2018 (a start without atomics, hooking by compare-and-swap while paths are halved).  The order by hash
is ours.
*/
#include "common.cuh"

constexpr int BLOCK = 512;
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ >= 1200)
constexpr int RESIDENT = 2;      // blocks of a multiprocessor that holds fewer threads
#else
constexpr int RESIDENT = 4;
#endif
constexpr int EARLY = 2;         // arcs of every row that are looked at
constexpr int SHORT_ROW = 16;    // below this many arcs one lane reads a row,
constexpr int HUB_ROW = 8192;    // below this many a warp, and from it on a block
constexpr int SAMPLES = BLOCK;   // vertices asked for their root,
constexpr int FEW = 16;          // one of so many at least belongs to a giant

// Phases; `timeline` holds the nanoseconds at the beginning of each that was entered.
enum Phase { START, SAMPLE, FLATTEN, GIANT, REST, HUBS, LABEL, END };

constexpr uint32 NO_GIANT = 0xffffffffu;

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,        // of blocks at the grid barrier
    HUB_COUNT,       // hubs met
    GIANT_ROOT,      // the root of the giant; NO_GIANT where all rows are to be read
    CONTROL_WORDS
};

// ------------------------------------------------------------------ helpers

// A one-to-one scramble of a vertex: of two, the one with the smaller scramble comes first.
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

// The root of v's tree as far as it can be seen.  Every vertex on the way gets its grandparent as parent.
__device__ __forceinline__ int32 find_root(int32* parent, int32 v) {
    int32 above = parent_seen(parent, v);
    while (above != v) {
        const int32 next = parent_seen(parent, above);
        if (next == above) return above;
        parent[v] = next;  // race-allowed: v is no root, and `next` is one of its ancestors
        v = above;
        above = next;
    }
    return v;
}

// Join the trees of u and v: of their roots the later one gets the other as parent.  Returns the common root.
__device__ __forceinline__ int32 join(int32* parent, int32 u, int32 v) {
    int32 a = find_root(parent, u), b = find_root(parent, v);
    while (a != b) {
        if (rank_of(a) < rank_of(b)) {
            const int32 swap = a;
            a = b;
            b = swap;
        }
        const int32 found = atomicCAS(&parent[a], a, b);
        if (found == a) return b;
        a = find_root(parent, found);  // another thread has linked it
    }
    return a;
}

// Let v point to its root, and change no other vertex: who halves the paths of others may undo what they have found.
// Nothing may be joined meanwhile.  Returns the root.
__device__ __forceinline__ int32 hang_on_root(int32* parent, int32 v) {
    int32 above = parent_seen(parent, v);
    for (;;) {
        const int32 next = parent_seen(parent, above);
        if (next == above) return above;
        parent[v] = next;  // race-allowed: an ancestor; it shortens the way of those below
        above = next;
    }
}

// Join v's tree, in which `near` is an ancestor of v, with those of the targets of arcs begin, begin + step, ….
__device__ __forceinline__ void join_row(const int32* __restrict__ targets, int32* parent, int32 v, int32 near,
                                         index_t begin, index_t end, int step) {
    for (index_t arc = begin; arc < end; arc += step) {
        const int32 other = targets[arc];
        if (parent_seen(parent, other) != near) join(parent, v, other);
    }
}

// The most frequent root among SAMPLES vertices that lie evenly spread; NO_GIANT where it is none of every FEW.
// All threads must call.
__device__ void find_giant(int32 vertices, const int32* parent, uint32* giant) {
    __shared__ int32 roots[SAMPLES];
    __shared__ uint64 best;
    const int32 mine = parent[static_cast<int64>(threadIdx.x) * vertices / SAMPLES];
    roots[threadIdx.x] = mine;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    uint32 votes = 0;
    for (int i = 0; i < SAMPLES; ++i) votes += roots[i] == mine;
    atomicMax(&best, static_cast<uint64>(votes) << 32 | static_cast<uint32>(mine));
    __syncthreads();
    if (threadIdx.x == 0) *giant = (best >> 32) * FEW < SAMPLES ? NO_GIANT : static_cast<uint32>(best);
}

// ------------------------------------------------------------------ the kernel

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` as above, vertices > 0; `skips`
// tells to leave the rows of a giant alone.  Writes parent; makes next_control 0.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
components_hook(int32 skips, int32 vertices, const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                int32* parent, int32* least, int32* hubs, uint32* control, uint32* next_control, uint64* timeline) {
    uint32 barriers = 0;
    const auto barrier = [&]() { grid_barrier(&control[ARRIVALS], &barriers); };
    const auto enter = [&](Phase phase) {
        if (grid_thread() == 0) timeline[phase] = device_nanoseconds();
    };

    enter(START);
    clear_for_next(next_control, CONTROL_WORDS);
    for (int64 i = grid_thread(); i < vertices; i += grid_threads()) {
        const int32 v = static_cast<int32>(i);
        const index_t begin = offsets[v], end = offsets[v + 1];
        const int32 first = begin < end ? targets[begin] : v;
        parent[v] = first < v ? first : v;
        least[v] = v;
    }
    barrier();
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) hang_on_root(parent, static_cast<int32>(v));
    barrier();

    enter(SAMPLE);
    for (int64 i = grid_thread(); i < vertices; i += grid_threads()) {
        const int32 v = static_cast<int32>(i);
        const index_t begin = offsets[v], end = offsets[v + 1];
        const index_t last = end - begin < EARLY ? end : begin + EARLY;
        int32 near = parent_seen(parent, v);
        // A root has not been linked by its first arc.
        for (index_t arc = near == v ? begin : begin + 1; arc < last; ++arc) {
            if (targets[arc] != near) near = join(parent, near, targets[arc]);
        }
    }
    barrier();

    enter(FLATTEN);
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) hang_on_root(parent, static_cast<int32>(v));
    barrier();

    enter(GIANT);
    if (blockIdx.x == 0) {
        if (skips) find_giant(vertices, parent, &control[GIANT_ROOT]);
        else if (threadIdx.x == 0) control[GIANT_ROOT] = NO_GIANT;
    }
    barrier();

    enter(REST);
    const int32 giant = static_cast<int32>(*static_cast<volatile uint32*>(&control[GIANT_ROOT]));
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        index_t begin = 0, end = 0;
        // A vertex of the giant needs no look: an arc of it that leaves the giant is found from its other end.
        const int32 near = v < vertices ? parent_seen(parent, static_cast<int32>(v)) : giant;
        if (near != giant) {
            begin = offsets[v];
            end = offsets[v + 1];
        }
        const index_t length = end - begin;
        if (length < SHORT_ROW) join_row(targets, parent, static_cast<int32>(v), near, begin, end, 1);
        unsigned waiting = __ballot_sync(FULL_MASK, length >= SHORT_ROW && length < HUB_ROW);
        for (; waiting != 0; waiting &= waiting - 1) {
            const int owner = first_lane(waiting);
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const int32 row_near = __shfl_sync(FULL_MASK, near, owner);
            const int32 u = static_cast<int32>(first) + owner;
            join_row(targets, parent, u, row_near, row_begin + lane_id(), row_end, WARP);
            __syncwarp();
        }
        note_hubs(hubs, &control[HUB_COUNT], length >= HUB_ROW, static_cast<int32>(v));
    }
    barrier();

    enter(HUBS);
    const uint32 hub_count = *static_cast<volatile uint32*>(&control[HUB_COUNT]);
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 v = hubs[h];
        const int32 near = parent_seen(parent, v);
        join_row(targets, parent, v, near, offsets[v] + threadIdx.x, offsets[v + 1], BLOCK);
    }
    if (hub_count != 0) barrier();

    enter(LABEL);
    int32 told = -1;  // the root that this lane, or one before it, has reported a smaller vertex to
    for (int64 first = grid_thread() - lane_id(); first < vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        const int32 root = v < vertices ? hang_on_root(parent, static_cast<int32>(v)) : -1;
        // Of neighbouring lanes with one root the first has the smallest vertex, and of a lane's vertices the first.
        const int32 before = __shfl_up_sync(FULL_MASK, root, 1);
        const bool news = root >= 0 && root != told && (lane_id() == 0 || before != root);
        if (news) lower_to(&least[root], static_cast<int32>(v));
        told = root;
    }
    barrier();
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) parent[v] = least[parent[v]];
    enter(END);
}
