/*
The whole minimum spanning forest in one cooperative launch: Boruvka's rounds on a list of light edges, then on the few
heavy edges that still join two components.

    1  row minimum      every vertex picks its lightest arc: 4 bytes per arc, no atomics, no labels
    2  hook and number  of two vertices that picked each other the smaller is a root; all others join the forest;
                        roots get dense numbers, and every vertex the number of its root
    3  light edges      arcs below a sampled threshold that join two components are listed (all arcs, if degrees are low)
    4  rounds           each component picks its lightest listed edge, hooks, and is renumbered; edges inside are dropped
    5  heavy edges      as 3, for the rest: after 4 nearly all vertices lie in one giant component, and an edge that joins
                        two components has an end outside of it, so only the rows of vertices outside are read
    6  rounds           as 4

    offsets (n+1)  targets (arcs)  weights (arcs)      the graph, both arcs of every edge, rows by target
    label (n)          component of each vertex; DEAD if isolated
    pick, link, up (n) per vertex, then per component: the lightest arc, where it leads; the parent, or a root's number
    tile_row (arcs / TILE)     the row in which each tile of arcs begins, so that an arc finds its tail
    best_key, best_id  (components <= n/2)             lightest listed edge of each component
    chain (n)          the numbers of each round behind each other, to find a vertex's component after all rounds
    list (edges)       listed edges; each block keeps a region of it and compacts it in place
    hubs               rows too long for a warp
    forest (n-1)       picked edges, each by the position of one of its arcs

Invariants.  Edges compare by (weight, id), id = position of the arc u->v with u < v.  Inside a row that is (weight,
position).  Every edge in the forest is the lightest that leaves some set of vertices, so the order in which edges are
listed cannot change the forest.  Live components at least halve in a round; one without a listed edge retires.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads.

Source: O. Boruvka 1926; V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree algorithm", ALENEX
2009 (the threshold); A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for GPUs", SC
2023 (filtering on the GPU).  Dense renumbering, the row minimum without atomics, in-place regions and reading only the
rows outside the giant component are ours.
*/
#include "common.cuh"

constexpr bool PACKED = INDEX_BITS == 32 && sizeof(weight_key_t) == 4;

// Tuned on an H200; docs/performance/mst.md tells what each is worth.
constexpr int BLOCK = 448;         // as many threads as leave 72 registers for each: fewer would spill
constexpr int RESIDENT = PACKED ? 2 : 1;  // blocks of a multiprocessor
constexpr int WARPS = BLOCK / WARP;
constexpr int SHORT_ROW = 32;      // below this many arcs one lane finds the minimum of a row,
constexpr int MEDIUM_ROW = 512;    // below this many GROUP lanes,
constexpr int HUB_ROW = 4096;      // below this many a warp, and from it on a block
constexpr int GROUP = 8;
constexpr int LISTED_ALONE = 16;   // below this many arcs one lane lists the edges of a row, below HUB_ROW a warp
constexpr int IN_FLIGHT = 4;       // weights a thread has under way in a row,
constexpr int STREAMED = PACKED ? 4 : 2;  // when arcs are streamed (shared memory bounds it),
constexpr int LISTED = 2;          // when edges of a row are listed; every edge brings two more loads
constexpr int PER_THREAD = 2;      // edges or components a thread has under way in a round
constexpr int TILE = 512;              // arcs for each entry of tile_row
constexpr int BUFFER = PACKED ? 96 : 64;         // edges a warp gathers before it writes them to the list
constexpr int POSITIONS = WARP * (STREAMED + 1);  // arcs a warp gathers before it looks at them
constexpr int CHASE = 32;              // links followed before the others get a chance to shorten the chain
constexpr int MAX_ROUNDS = 34;
constexpr int SAMPLES = BLOCK;         // arcs sampled for the threshold

constexpr int32 NO_LINK = -1;
constexpr int32 DEAD = -1;             // label of an isolated vertex
constexpr int32 NO_GIANT = -2;

// `up` holds a parent (>= 0), DEAD, or what became of a root: its number among the live, or among the retired.
__device__ __forceinline__ int32 live_root(uint32 number) { return -2 - 2 * static_cast<int32>(number); }
__device__ __forceinline__ int32 retired_root(uint32 number) { return -3 - 2 * static_cast<int32>(number); }

// `label` and `chain` hold the number of a live component (>= 0), DEAD, or a retired one.
__device__ __forceinline__ int32 retired(uint32 number) { return -2 - static_cast<int32>(number); }
__device__ __forceinline__ int32 learned(int32 up) {
    if (up == DEAD) return DEAD;
    const uint32 code = static_cast<uint32>(-2 - up);
    return code % 2 == 0 ? static_cast<int32>(code / 2) : retired(code / 2);
}

struct alignas(PACKED ? 16 : 8) Edge {
    weight_key_t key;
    index_t id;
    int32 a, b;
};

// Phases; `timeline` holds the nanoseconds at the beginning of each that was entered.
enum Phase { ROW_MINIMA, HOOK, LIGHT_EDGES, LIGHT_ROUNDS, SPREAD, HEAVY_EDGES, HEAVY_ROUNDS, END };

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,                // of blocks at the grid barrier
    FOREST,                  // edges picked
    ROUNDS,                  // rounds made
    ENTRIES,                 // edges listed
    HUBS_FIRST,              // hubs met by each of the three walks over the rows
    HUBS_LIGHT,
    HUBS_HEAVY,
    FINALS,                  // components retired
    UNFINISHED,              // three words that take turns: some chain was too long
    LIVE = UNFINISHED + 3,   // live components of each round
    CONTROL_WORDS = LIVE + 2 * MAX_ROUNDS
};

// ------------------------------------------------------------------ helpers

struct Graph {
    int32 vertices;
    index_t arcs;
    const index_t* __restrict__ offsets;
    const int32* __restrict__ targets;
    const weight_t* __restrict__ weights;
};

// The shared memory of a block.
struct Shared {
    Edge buffer[WARPS][BUFFER];
    index_t positions[WARPS][POSITIONS];
    weight_key_t sample_key[SAMPLES];
    index_t sample_arc[SAMPLES];
    uint64 counts[WARPS];
    uint32 bases[3];
    uint32 levels[MAX_ROUNDS];
    int32 giant;
};

// The pair (key, arc) that orders the arcs of a row.
struct Pick {
    weight_key_t key;
    index_t arc;

    __device__ __forceinline__ bool operator<(const Pick& other) const {
        return key < other.key || (key == other.key && arc < other.arc);
    }
};

constexpr index_t NO_ARC = static_cast<index_t>(INDEX_BITS == 32 ? 0x7fffffffll : 0x7fffffffffffffffll);
constexpr Pick NO_PICK = {NO_KEY, NO_ARC};

// The lightest pick of each group of LANES lanes, in every lane of it.  All 32 lanes must call.
template <int LANES>
__device__ __forceinline__ Pick group_lightest(Pick mine) {
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
        const Pick theirs = {__shfl_xor_sync(FULL_MASK, mine.key, offset), __shfl_xor_sync(FULL_MASK, mine.arc, offset)};
        if (theirs < mine) mine = theirs;
    }
    return mine;
}

// A word of `control` as it is now; after a barrier, the same in every thread.
__device__ __forceinline__ uint32 current(const uint32* word) { return *static_cast<const volatile uint32*>(word); }

// Three counters of at most 21 bits in one word, so that one scan serves all of them.
__device__ __forceinline__ uint64 counted(uint32 first, uint32 second, uint32 third) {
    return static_cast<uint64>(third) << 42 | static_cast<uint64>(second) << 21 | first;
}
__device__ __forceinline__ uint32 counter(uint64 word, int which) {
    return static_cast<uint32>(word >> (21 * which)) & 0x1fffff;
}

// Sum of the words of all threads before this one; *total is that of the block.  All threads must call.
__device__ __forceinline__ uint64 block_scan(Shared& shared, uint64 mine, uint64* total) {
    uint64 inclusive = mine;
    for (int offset = 1; offset < WARP; offset *= 2) {
        const uint64 below = __shfl_up_sync(FULL_MASK, inclusive, offset);
        if (lane_id() >= offset) inclusive += below;
    }
    __syncthreads();
    if (lane_id() == WARP - 1) shared.counts[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    uint64 before = inclusive - mine, sum = 0;
    for (int warp = 0; warp < WARPS; ++warp) {
        const uint64 count = shared.counts[warp];
        if (warp < threadIdx.x / WARP) before += count;
        sum += count;
    }
    *total = sum;
    return before;
}

// The edges a warp has found and not yet written.
struct Gatherer {
    Shared& shared;
    uint32 held;
    Edge* list;
    uint32* entries;

    __device__ __forceinline__ void flush() {
        if (held == 0) return;
        __syncwarp();
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(entries, held);
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 i = lane_id(); i < held; i += WARP) list[base + i] = shared.buffer[threadIdx.x / WARP][i];
        __syncwarp();
        held = 0;
    }

    // Makes room for `rounds` calls of add().
    __device__ __forceinline__ void reserve(uint32 rounds) {
        if (held + rounds * WARP > BUFFER) flush();
    }

    // All 32 lanes must call.
    __device__ __forceinline__ void add(bool found, const Edge& edge) {
        const unsigned finders = __ballot_sync(FULL_MASK, found);
        if (found) shared.buffer[threadIdx.x / WARP][held + __popc(finders & ((1u << lane_id()) - 1))] = edge;
        held += __popc(finders);
    }
};

// ------------------------------------------------------------------ phase 1: row minima

// The lightest arc of [begin, end), of which this lane sees every STRIDE-th.  Loads past the end are turned back to
// the last arc, so that they need no branch and can all be under way at once.
template <int STRIDE>
__device__ __forceinline__ Pick lightest_arc(const Graph& graph, index_t begin, index_t end, int lane) {
    Pick best = NO_PICK;
    for (index_t portion = begin; portion < end; portion += STRIDE * IN_FLIGHT) {
        Pick found[IN_FLIGHT];
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            const index_t ahead = static_cast<index_t>(i) * STRIDE + lane;
            found[i].arc = ahead < end - portion ? portion + ahead : end - 1;
            found[i].key = order_key(graph.weights[found[i].arc]);
        }
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
            if (found[i] < best) best = found[i];
        }
    }
    return best;
}

__device__ __forceinline__ void take_pick(const Graph& graph, int64 v, const Pick& best, index_t* pick, int32* link) {
    pick[v] = best.arc;
    link[v] = best.arc == NO_ARC ? NO_LINK : graph.targets[best.arc];
}

// The lightest arc of every vertex; hubs are put off.  Notes the row in which each tile begins.
__device__ void pick_row_minima(const Graph& graph, index_t* pick, int32* link, int32* tile_row, int32* hubs,
                                uint32* hub_count) {
    for (int64 first = grid_thread() - lane_id(); first < graph.vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        index_t begin = 0, end = 0;
        if (v < graph.vertices) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        const index_t length = end - begin;
        for (index_t tile = (begin + TILE - 1) / TILE; tile * TILE < end; ++tile) tile_row[tile] = static_cast<int32>(v);
        if (v < graph.vertices && length < SHORT_ROW) take_pick(graph, v, lightest_arc<1>(graph, begin, end, 0), pick, link);
        // Four groups of lanes take four rows at a time.
        unsigned waiting = __ballot_sync(FULL_MASK, length >= SHORT_ROW && length < MEDIUM_ROW);
        while (waiting != 0) {
            unsigned mine = waiting;
            for (int group = 0; group < lane_id() / GROUP; ++group) mine &= mine - 1;
            for (int group = 0; group < WARP / GROUP; ++group) waiting &= waiting - 1;
            const int owner = mine == 0 ? 0 : __ffs(static_cast<int>(mine)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            Pick best = NO_PICK;
            if (mine != 0) best = lightest_arc<GROUP>(graph, row_begin, row_end, lane_id() % GROUP);
            best = group_lightest<GROUP>(best);
            if (mine != 0 && lane_id() % GROUP == 0) take_pick(graph, first + owner, best, pick, link);
        }
        for (waiting = __ballot_sync(FULL_MASK, length >= MEDIUM_ROW && length < HUB_ROW); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = __ffs(static_cast<int>(waiting)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const Pick best = group_lightest<WARP>(lightest_arc<WARP>(graph, row_begin, row_end, lane_id()));
            if (lane_id() == 0) take_pick(graph, first + owner, best, pick, link);
        }
        const bool is_hub = length >= HUB_ROW;
        if (__any_sync(FULL_MASK, is_hub)) {
            const uint32 slot = warp_append(hub_count, is_hub);
            if (is_hub) hubs[slot] = static_cast<int32>(v);
        }
    }
}

// The lightest arc of every hub, a block for each.
__device__ void pick_hub_minima(Shared& shared, const Graph& graph, index_t* pick, int32* link, const int32* hubs,
                                uint32 hub_count) {
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 v = hubs[h];
        const Pick mine = lightest_arc<BLOCK>(graph, graph.offsets[v], graph.offsets[v + 1], threadIdx.x);
        const Pick best = group_lightest<WARP>(mine);
        __syncthreads();
        if (lane_id() == 0) {
            shared.sample_key[threadIdx.x / WARP] = best.key;
            shared.sample_arc[threadIdx.x / WARP] = best.arc;
        }
        __syncthreads();
        if (threadIdx.x != 0) continue;
        Pick lightest = NO_PICK;
        for (int warp = 0; warp < WARPS; ++warp) {
            const Pick theirs = {shared.sample_key[warp], shared.sample_arc[warp]};
            if (theirs < lightest) lightest = theirs;
        }
        take_pick(graph, v, lightest, pick, link);
    }
}

// ------------------------------------------------------------------ phase 2: hook and number

// Of two that picked each other the smaller is a root; all others that picked join the forest.  A root is numbered among
// the live; one that picked nothing is DEAD (a vertex) or retires (a component).  Best keys of components are reset for
// the next round.  All threads must call.
__device__ void hook_and_number(Shared& shared, uint32 count, bool vertices, const index_t* pick, const int32* link,
                                int32* up, uint64* best_key, uint64* best_id, index_t* forest, uint32* control,
                                uint32* live) {
    for (int64 first = static_cast<int64>(blockIdx.x) * BLOCK * PER_THREAD; first < count;
         first += static_cast<int64>(gridDim.x) * BLOCK * PER_THREAD) {
        int32 other[PER_THREAD], back[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            other[k] = t < count ? link[t] : NO_LINK;
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) back[k] = other[k] == NO_LINK ? NO_LINK : link[other[k]];
        uint64 mine = 0;
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            const bool root = other[k] != NO_LINK && back[k] == t && t < other[k];
            mine += counted(other[k] != NO_LINK && !root, root, other[k] == NO_LINK && !vertices && t < count);
        }
        uint64 total;
        const uint64 before = block_scan(shared, mine, &total);
        if (threadIdx.x < 3) {
            uint32* const word = threadIdx.x == 0 ? &control[FOREST] : threadIdx.x == 1 ? live : &control[FINALS];
            const uint32 asked = counter(total, threadIdx.x);
            shared.bases[threadIdx.x] = asked == 0 ? 0 : atomicAdd(word, asked);
        }
        __syncthreads();
        uint32 edge = shared.bases[0] + counter(before, 0);
        uint32 number = shared.bases[1] + counter(before, 1);
        uint32 final = shared.bases[2] + counter(before, 2);
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * BLOCK + threadIdx.x;
            if (t >= count) continue;
            if (other[k] == NO_LINK) {
                up[t] = vertices ? DEAD : retired_root(final++);
            } else if (back[k] == t && t < other[k]) {
                up[t] = live_root(number++);
            } else {
                up[t] = other[k];
                forest[edge++] = pick[t];
            }
            if (!vertices) {
                best_key[t] = ~0ull;
                if (!PACKED) best_id[t] = ~0ull;
            }
        }
    }
}

// Every vertex or component learns the number of its root.  Follows at most CHASE links, then leaves a shortcut and says
// so: the caller repeats until nobody did.
__device__ void learn_number(uint32 count, int32* up, int32* number, uint32* unfinished) {
    bool left = false;
    for (int64 first = grid_thread(); first < count; first += grid_threads() * PER_THREAD) {
        int32 at[PER_THREAD], found[PER_THREAD];
        bool climbing = true;
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * grid_threads();
            at[k] = t < count ? static_cast<int32>(t) : 0;
            found[k] = t < count ? static_cast<volatile int32*>(up)[t] : +DEAD;  // race-allowed: shortcuts keep the root
        }
        for (int hop = 0; climbing && hop < CHASE; ++hop) {
            climbing = false;
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                if (found[k] < 0) continue;
                at[k] = found[k];
                found[k] = static_cast<volatile int32*>(up)[at[k]];  // race-allowed: shortcuts keep the root
                climbing |= found[k] >= 0;
            }
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const int64 t = first + k * grid_threads();
            if (t >= count) continue;
            if (found[k] >= 0) {
                up[t] = found[k];  // race-allowed: a shortcut to the same root
                left = true;
            } else {
                number[t] = learned(found[k]);
            }
        }
    }
    if (left) *unfinished = 1;  // race-allowed: every writer writes 1
}

// ------------------------------------------------------------------ phases 3 and 5: listing edges

// The threshold below which about `wanted` of all arcs lie: the quantile of a sample.  All threads must call; the same
// in every block, for every block draws the same sample.
__device__ Pick sample_threshold(Shared& shared, const Graph& graph, uint64 wanted) {
    const int i = threadIdx.x;
    const uint64 stratum = static_cast<uint64>(graph.arcs) / SAMPLES;
    const uint64 jitter = (static_cast<uint64>(i) * 0x9E3779B97F4A7C15ull >> 32) % stratum;
    const index_t arc = static_cast<index_t>(i * stratum + jitter);
    const Pick mine = {order_key(graph.weights[arc]), arc};
    shared.sample_key[i] = mine.key;
    shared.sample_arc[i] = mine.arc;
    __syncthreads();
    // Rank by counting: every thread compares its pick with all others.
    uint32 rank = 0;
    for (int j = 0; j < SAMPLES; ++j) rank += Pick{shared.sample_key[j], shared.sample_arc[j]} < mine;
    const uint32 quantile = static_cast<uint32>(wanted * SAMPLES / static_cast<uint64>(graph.arcs));
    __syncthreads();
    if (rank == quantile) {
        shared.sample_key[0] = mine.key;
        shared.sample_arc[0] = mine.arc;
    }
    __syncthreads();
    return {shared.sample_key[0], shared.sample_arc[0]};
}

// The row of an arc: the last that begins at or before it.
__device__ __forceinline__ int32 row_of(const Graph& graph, const int32* __restrict__ tile_row, index_t arc) {
    const index_t tile = arc / TILE;
    int32 low = tile_row[tile];
    int32 high = (tile + 1) * TILE < graph.arcs ? tile_row[tile + 1] : graph.vertices - 1;
    while (low < high) {
        const int32 middle = low + (high - low + 1) / 2;
        if (graph.offsets[middle] <= arc) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

// List the edges up to the threshold that join two components: the weights of all arcs stream by, and only the few that
// are light are looked at, 32 at a time.
__device__ void list_light_arcs(Shared& shared, const Graph& graph, const int32* __restrict__ label,
                                const int32* __restrict__ tile_row, const Pick& threshold, Gatherer& gatherer) {
    index_t* const positions = shared.positions[threadIdx.x / WARP];
    uint32 pending = 0;
    const auto look_at = [&](uint32 count) {
        __syncwarp();
        const bool valid = lane_id() < count;
        index_t arc = 0;
        if (valid) arc = positions[pending - count + lane_id()];
        pending -= count;
        __syncwarp();
        Edge edge;
        bool found = false;
        if (valid) {
            const int32 v = graph.targets[arc];
            const int32 u = row_of(graph, tile_row, arc);
            if (u < v) {
                edge = {order_key(graph.weights[arc]), arc, label[u], label[v]};
                found = edge.a != edge.b;
            }
        }
        gatherer.reserve(1);
        gatherer.add(found, edge);
    };
    const index_t step = static_cast<index_t>(grid_threads()) * STREAMED;
    const index_t start = static_cast<index_t>(grid_thread() - lane_id()) * STREAMED;
    for (index_t portion = start; portion < graph.arcs; portion += step) {
        weight_t weight[STREAMED];
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            const index_t ahead = i * WARP + lane_id();
            weight[i] = graph.weights[ahead < graph.arcs - portion ? portion + ahead : graph.arcs - 1];
        }
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            const index_t ahead = i * WARP + lane_id();
            const Pick mine = {order_key(weight[i]), portion + ahead};
            const bool light = ahead < graph.arcs - portion && !(threshold < mine);
            const unsigned lights = __ballot_sync(FULL_MASK, light);
            if (light) positions[pending + __popc(lights & ((1u << lane_id()) - 1))] = mine.arc;
            pending += __popc(lights);
        }
        while (pending >= WARP) look_at(WARP);
        if (graph.arcs - portion <= step) break;  // the next portion's number may not fit index_t
    }
    look_at(pending);
}

// List the edges of a row that join two components.  A lane sees every STRIDE-th arc; all 32 must call, with an empty
// range if they have none.  Between two components other than the giant one an edge is met twice: the canonical arc counts.
template <int STRIDE>
__device__ __forceinline__ void list_row(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                         int32 own, index_t begin, index_t end, int lane, Gatherer& gatherer) {
    for (index_t portion = begin; __any_sync(FULL_MASK, portion < end); portion += STRIDE * LISTED) {
        index_t arc[LISTED];
        int32 target[LISTED], other[LISTED];
#pragma unroll
        for (int i = 0; i < LISTED; ++i) {
            const index_t ahead = static_cast<index_t>(i) * STRIDE + lane;
            arc[i] = portion < end && ahead < end - portion ? portion + ahead : NO_ARC;
            target[i] = arc[i] == NO_ARC ? u : graph.targets[arc[i]];
        }
#pragma unroll
        for (int i = 0; i < LISTED; ++i) {
            other[i] = target[i] > u || (target[i] < u && giant != NO_GIANT) ? label[target[i]] : own;
            if (target[i] < u && other[i] != giant) other[i] = own;
        }
        gatherer.reserve(LISTED);
#pragma unroll
        for (int i = 0; i < LISTED; ++i) {
            const bool found = other[i] != own;
            Edge edge;
            if (found) {
                const int32 v = target[i];
                const index_t id = u < v ? arc[i] : find_arc(graph.targets, graph.offsets[v], graph.offsets[v + 1], u);
                edge = {order_key(graph.weights[arc[i]]), id, own, other[i]};
            }
            gatherer.add(found, edge);
        }
    }
}

// List the edges of all rows outside the giant component (of all rows, if there is NO_GIANT); hubs are put off.
__device__ void list_rows(const Graph& graph, const int32* __restrict__ label, int32 giant, Gatherer& gatherer,
                          int32* hubs, uint32* hub_count) {
    const uint32 vertices = graph.vertices;
    const uint32 step = static_cast<uint32>(grid_threads());
    for (uint32 first = static_cast<uint32>(grid_thread()) - lane_id(); first < vertices; first += step) {
        const uint32 v = first + lane_id();
        index_t begin = 0, end = 0;
        int32 own = DEAD;
        if (v < vertices) own = label[v];
        if (own != DEAD && own != giant) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        const index_t length = end - begin;
        const index_t short_end = length < LISTED_ALONE ? end : begin;
        list_row<1>(graph, label, giant, static_cast<int32>(v), own, begin, short_end, 0, gatherer);
        for (unsigned waiting = __ballot_sync(FULL_MASK, length >= LISTED_ALONE && length < HUB_ROW); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = __ffs(static_cast<int>(waiting)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const int32 row_own = __shfl_sync(FULL_MASK, own, owner);
            const int32 u = static_cast<int32>(first) + owner;
            list_row<WARP>(graph, label, giant, u, row_own, row_begin, row_end, lane_id(), gatherer);
        }
        const bool is_hub = length >= HUB_ROW;
        if (__any_sync(FULL_MASK, is_hub)) {
            const uint32 slot = warp_append(hub_count, is_hub);
            if (is_hub) hubs[slot] = static_cast<int32>(v);
        }
    }
}

// List the edges of the hubs that were put off, a block for each.
__device__ void list_hubs(const Graph& graph, const int32* __restrict__ label, int32 giant, Gatherer& gatherer,
                          const int32* hubs, uint32 hub_count) {
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 u = hubs[h];
        list_row<BLOCK>(graph, label, giant, u, label[u], graph.offsets[u], graph.offsets[u + 1], threadIdx.x, gatherer);
    }
}

// The component that most of 32 sampled arcs lead to.  All threads must call; the same in every block.
__device__ int32 find_giant(Shared& shared, const Graph& graph, const int32* label) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        const index_t arc = static_cast<index_t>(static_cast<uint64>(graph.arcs) / (2 * WARP) * (2 * lane_id() + 1));
        const int32 component = label[graph.targets[arc]];
        int votes = 0;
        for (int lane = 0; lane < WARP; ++lane) votes += __shfl_sync(FULL_MASK, component, lane) == component;
        int most = votes;
        for (int offset = WARP / 2; offset > 0; offset /= 2) {
            const int theirs = __shfl_xor_sync(FULL_MASK, most, offset);
            most = theirs > most ? theirs : most;
        }
        const int winner = __ffs(static_cast<int>(__ballot_sync(FULL_MASK, votes == most))) - 1;
        if (lane_id() == winner) shared.giant = component;
    }
    __syncthreads();
    return shared.giant;
}

// ------------------------------------------------------------------ phases 4 and 6: rounds

__device__ __forceinline__ uint64 bid_of(const Edge& edge) {
    return PACKED ? static_cast<uint64>(edge.key) << 32 | static_cast<uint32>(edge.id) : edge.key;
}

// Edges inside a component are dropped from the block's region, the others bid at both ends.  `renumbered` tells what
// became of the components of the round before; nullptr in the first round.  Returns the edges kept.
__device__ uint32 compact_and_bid(Shared& shared, Edge* region, uint32 held, const int32* renumbered, uint64* best_key) {
    uint32 kept = 0;
    for (uint32 first = 0; first < held; first += BLOCK * PER_THREAD) {
        Edge edge[PER_THREAD];
        bool joins[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * BLOCK + threadIdx.x;
            joins[k] = i < held;
            edge[k] = region[joins[k] ? i : first];
        }
        if (renumbered != nullptr) {
            uint32 mine = 0;
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                edge[k].a = renumbered[edge[k].a];
                edge[k].b = renumbered[edge[k].b];
            }
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                joins[k] = joins[k] && edge[k].a != edge[k].b;
                mine += joins[k];
            }
            uint64 total;
            uint32 slot = kept + static_cast<uint32>(block_scan(shared, mine, &total));
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                if (joins[k]) region[slot++] = edge[k];
            }
            kept += static_cast<uint32>(total);
        }
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            at_a[k] = joins[k] ? best_key[edge[k].a] : 0;  // race-allowed: the value only falls
            at_b[k] = joins[k] ? best_key[edge[k].b] : 0;  // race-allowed: the value only falls
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (bid_of(edge[k]) < at_a[k]) lower_to(&best_key[edge[k].a], bid_of(edge[k]));
            if (bid_of(edge[k]) < at_b[k]) lower_to(&best_key[edge[k].b], bid_of(edge[k]));
        }
    }
    return renumbered == nullptr ? held : kept;
}

// Of the edges of least weight, which wide keys cannot tell apart, the least id.
__device__ void bid_again(const Edge* region, uint32 held, const uint64* best_key, uint64* best_id) {
    for (uint32 i = threadIdx.x; i < held; i += BLOCK) {
        const Edge edge = region[i];
        const uint64 id = static_cast<uint64>(edge.id);
        if (best_key[edge.a] == edge.key) lower_to(&best_id[edge.a], id);
        if (best_key[edge.b] == edge.key) lower_to(&best_id[edge.b], id);
    }
}

// The edge that won a component tells it where it leads; ids are unique, so one thread writes.
__device__ void link_components(const Edge* region, uint32 held, const uint64* best_key, const uint64* best_id,
                                index_t* pick, int32* link) {
    for (uint32 first = 0; first < held; first += BLOCK * PER_THREAD) {
        Edge edge[PER_THREAD];
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * BLOCK + threadIdx.x;
            edge[k] = region[i < held ? i : first];
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            at_a[k] = best_key[edge[k].a];
            at_b[k] = best_key[edge[k].b];
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (first + k * BLOCK + threadIdx.x >= held) continue;
            const uint64 bid = bid_of(edge[k]), id = static_cast<uint64>(edge[k].id);
            if (at_a[k] == bid && (PACKED || best_id[edge[k].a] == id)) {
                link[edge[k].a] = edge[k].b;
                pick[edge[k].a] = edge[k].id;
            }
            if (at_b[k] == bid && (PACKED || best_id[edge[k].b] == id)) {
                link[edge[k].b] = edge[k].a;
                pick[edge[k].b] = edge[k].id;
            }
        }
    }
}

// ------------------------------------------------------------------ the kernel

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` is all 0.
// `wanted` is how many arcs should be light, 0 for all (then phases 5 and 6 are not needed).
// Writes forest; control[FOREST] is the number of its edges, control[LIVE + r] the live components of round r.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
filter_boruvka(int32 vertices, index_t arcs, uint64 wanted, const index_t* __restrict__ offsets,
               const int32* __restrict__ targets, const weight_t* __restrict__ weights, int32* label, index_t* pick,
               int32* link, int32* up, uint64* best_key, uint64* best_id, int32* chain, Edge* list, int32* tile_row,
               int32* hubs, index_t* forest, uint32* control, uint64* timeline) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    uint32 barriers = 0, chases = 0;
    const auto barrier = [&]() { grid_barrier(&control[ARRIVALS], &barriers); };
    const auto enter = [&](Phase phase) {
        if (grid_thread() == 0) timeline[phase] = device_nanoseconds();
    };
    // Repeats learn_number until every chain has been followed to its root.
    const auto learn = [&](uint32 count, int32* number) {
        uint32 more = 1;
        while (more != 0) {
            uint32* unfinished = &control[UNFINISHED + chases % 3];
            learn_number(count, up, number, unfinished);
            barrier();
            more = current(unfinished);
            // A barrier lies between the last reader of this word and its reset, and another before its next use.
            if (grid_thread() == 0) control[UNFINISHED + (chases + 2) % 3] = 0;
            chases += 1;
        }
    };

    enter(ROW_MINIMA);
    pick_row_minima(graph, pick, link, tile_row, hubs, &control[HUBS_FIRST]);
    barrier();
    const uint32 hub_rows = current(&control[HUBS_FIRST]);
    if (hub_rows != 0) {
        pick_hub_minima(shared, graph, pick, link, hubs, hub_rows);
        barrier();
    }
    enter(HOOK);
    hook_and_number(shared, vertices, true, pick, link, up, best_key, best_id, forest, control, &control[LIVE]);
    barrier();
    learn(vertices, label);

    uint32 round = 0;  // counts through both passes, with one step between them
    for (uint32 pass = 0;; ++pass) {
        uint32 live = current(&control[LIVE + round]);
        enter(pass == 0 ? LIGHT_EDGES : HEAVY_EDGES);
        Gatherer gatherer = {shared, 0, list, &control[ENTRIES]};
        for (int64 t = grid_thread(); t < live; t += grid_threads()) {
            best_key[t] = ~0ull;
            if (!PACKED) best_id[t] = ~0ull;
        }
        if (pass == 0 && wanted != 0) {
            list_light_arcs(shared, graph, label, tile_row, sample_threshold(shared, graph, wanted), gatherer);
        } else {
            uint32* const hub_count = &control[pass == 0 ? HUBS_LIGHT : HUBS_HEAVY];
            const int32 giant = pass == 0 ? NO_GIANT : find_giant(shared, graph, label);
            list_rows(graph, label, giant, gatherer, hubs, hub_count);
            if (hub_rows != 0) {
                barrier();
                list_hubs(graph, label, giant, gatherer, hubs, current(hub_count));
            }
        }
        gatherer.flush();
        barrier();

        // Each block keeps a region of the list and compacts it in place, round by round.
        enter(pass == 0 ? LIGHT_ROUNDS : HEAVY_ROUNDS);
        const int64 entries = current(&control[ENTRIES]);
        Edge* const region = list + entries * blockIdx.x / gridDim.x;
        uint32 held = static_cast<uint32>(list + entries * (blockIdx.x + 1) / gridDim.x - region);
        uint32 level = 0, levels = 0;  // where this round's numbers begin in the chain, and how many rounds are in it
        const int32* renumbered = nullptr;
        while (live > 1) {
            for (int64 t = grid_thread(); t < live; t += grid_threads()) link[t] = NO_LINK;
            held = compact_and_bid(shared, region, held, renumbered, best_key);
            barrier();
            if (!PACKED) {
                bid_again(region, held, best_key, best_id);
                barrier();
            }
            link_components(region, held, best_key, best_id, pick, link);
            barrier();
            round += 1;
            hook_and_number(shared, live, false, pick, link, up, best_key, best_id, forest, control,
                            &control[LIVE + round]);
            barrier();
            renumbered = chain + level;
            learn(live, chain + level);
            if (threadIdx.x == 0) shared.levels[levels] = level;
            levels += 1;
            level += live;
            live = current(&control[LIVE + round]);
        }
        if (pass == 1 || wanted == 0) {
            if (grid_thread() == 0) control[ROUNDS] = round - pass;
            break;
        }

        // Every vertex learns its component after the light rounds; the last live one is numbered like the retired.
        enter(SPREAD);
        const uint32 last = current(&control[FINALS]);
        __syncthreads();
        for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
            int32 component = label[v];
            if (component == DEAD) continue;
            for (uint32 l = 0; l < levels && component >= 0; ++l) component = chain[shared.levels[l] + component];
            label[v] = component >= 0 ? static_cast<int32>(last) : -2 - component;
        }
        round += 1;
        if (grid_thread() == 0) {
            control[LIVE + round] = last + live;
            control[ENTRIES] = 0;
        }
        barrier();
    }
    enter(END);
}
