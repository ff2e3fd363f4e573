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
    pick, link, number per vertex, then per component (n)    lightest arc, where it leads, number of the merged component
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

constexpr int BLOCK = 512;
constexpr int WARPS = BLOCK / WARP;
constexpr int LONG_ROW = 16;      // arcs from which a warp reads a row together
constexpr int HUB_ROW = 4096;     // arcs from which a block does
constexpr int IN_FLIGHT = 4;      // loads a lane has under way in a long row
constexpr int BUFFER = 96;        // edges a warp gathers before it writes them to the list
constexpr int CHASE = 32;         // links followed before the others get a chance to shorten the chain
constexpr int MAX_ROUNDS = 34;
constexpr int SAMPLES = BLOCK;    // arcs sampled for the threshold

constexpr int32 NOT_ROOT = -1;    // number of a vertex or component that hooks to another
constexpr int32 DEAD = -2;        // label of an isolated vertex
constexpr int32 NO_LINK = -1;

// A component retires with its final number f; it is stored as retired(f), below every other mark.
__device__ __forceinline__ int32 retired(int32 f) { return -3 - f; }

struct alignas(PACKED ? 16 : 8) Edge {
    weight_key_t key;
    index_t id;
    int32 a, b;
};

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,                // of blocks at the grid barrier
    FOREST,                  // edges picked
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

// What a thread knows of the launch: its barriers passed, and the shared memory of its block.
struct Shared {
    Edge buffer[WARPS][BUFFER];
    uint32 counts[WARPS + 1];
    uint32 base;
    weight_key_t keys[BLOCK];
    index_t positions[BLOCK];
    uint32 levels[MAX_ROUNDS + 1];
    int32 giant;
};

// The pair (key, position) that orders arcs of one row, and edges by their ids.
struct Pick {
    weight_key_t key;
    index_t position;  // -1: nothing yet

    __device__ __forceinline__ bool operator<(const Pick& other) const {
        if (position < 0 || other.position < 0) return position >= 0 && other.position < 0;
        return key < other.key || (key == other.key && position < other.position);
    }
};

constexpr Pick NO_PICK = {NO_KEY, -1};

__device__ __forceinline__ Pick warp_lightest(Pick mine) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const Pick theirs = {__shfl_xor_sync(FULL_MASK, mine.key, offset),
                             __shfl_xor_sync(FULL_MASK, mine.position, offset)};
        if (theirs < mine) mine = theirs;
    }
    return mine;
}

// The lightest pick of the block, in every thread.  All threads must call.
__device__ __forceinline__ Pick block_lightest(Shared& shared, Pick mine) {
    mine = warp_lightest(mine);
    __syncthreads();
    if (lane_id() == 0) {
        shared.keys[threadIdx.x / WARP] = mine.key;
        shared.positions[threadIdx.x / WARP] = mine.position;
    }
    __syncthreads();
    mine = NO_PICK;
    if (lane_id() < WARPS) mine = {shared.keys[lane_id()], shared.positions[lane_id()]};
    return warp_lightest(mine);
}

// Reserve a slot for every thread that asks, with one atomic for the whole block.  All threads must call.
__device__ __forceinline__ uint32 block_append(Shared& shared, uint32* counter, bool asks) {
    const unsigned askers = __ballot_sync(FULL_MASK, asks);
    const int warp = threadIdx.x / WARP;
    __syncthreads();
    if (lane_id() == 0) shared.counts[warp] = __popc(askers);
    __syncthreads();
    if (warp == 0) {
        const uint32 count = lane_id() < WARPS ? shared.counts[lane_id()] : 0;
        uint32 inclusive = count;
        for (int offset = 1; offset < WARP; offset *= 2) {
            const uint32 below = __shfl_up_sync(FULL_MASK, inclusive, offset);
            if (lane_id() >= offset) inclusive += below;
        }
        if (lane_id() < WARPS) shared.counts[lane_id()] = inclusive - count;
        if (lane_id() == WARP - 1) shared.base = inclusive == 0 ? 0 : atomicAdd(counter, inclusive);
    }
    __syncthreads();
    return shared.base + shared.counts[warp] + __popc(askers & ((1u << lane_id()) - 1));
}

// A word of `control` as it is now; after a barrier, the same in every thread.
__device__ __forceinline__ uint32 current(const uint32* word) { return *static_cast<const volatile uint32*>(word); }

// First and step of a loop over whole blocks' worth of items, equally long in all threads of a block.
#define FOR_BLOCKS(first, count) \
    for (int64 first = static_cast<int64>(blockIdx.x) * BLOCK; first < (count); first += static_cast<int64>(gridDim.x) * BLOCK)

// The edges a warp has found and not yet written.
struct Gatherer {
    Edge* buffer;
    uint32 held;
    Edge* list;
    uint32* entries;

    __device__ __forceinline__ void flush() {
        if (held == 0) return;
        __syncwarp();
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(entries, held);
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 i = lane_id(); i < held; i += WARP) list[base + i] = buffer[i];
        __syncwarp();
        held = 0;
    }

    // All 32 lanes must call.
    __device__ __forceinline__ void add(bool found, const Edge& edge) {
        const unsigned finders = __ballot_sync(FULL_MASK, found);
        if (finders == 0) return;
        if (held + WARP > BUFFER) flush();
        if (found) buffer[held + __popc(finders & ((1u << lane_id()) - 1))] = edge;
        held += __popc(finders);
    }
};

// ------------------------------------------------------------------ rows

// Which arcs are listed, and how a listed arc becomes an edge.
struct Listing {
    const Graph graph;
    const int32* __restrict__ label;
    bool light;            // list arcs up to the threshold, of all rows
    Pick threshold;        // light: the heaviest that is listed
    int32 giant;           // heavy: rows of this component are not read

    __device__ __forceinline__ bool reads_row(int32 own) const { return own != DEAD && (light || own != giant); }

    // True, and *edge, if the arc at `position` in the row of u is to be listed.
    __device__ __forceinline__ bool lists(int32 u, int32 own, index_t position, Edge* edge) const {
        weight_key_t key = 0;
        if (light) {
            key = order_key(graph.weights[position]);
            if (threshold < Pick{key, position}) return false;
        }
        const int32 v = graph.targets[position];
        if (light && v < u) return false;
        const int32 other = label[v];
        if (other == own) return false;
        if (!light) {
            // Between two components outside the giant one the edge is met twice: the canonical arc counts.
            if (v < u && other != giant) return false;
            key = order_key(graph.weights[position]);
            if (v < u) position = find_arc(graph.targets, graph.offsets[v], graph.offsets[v + 1], u);
        }
        *edge = {key, position, own, other};
        return true;
    }
};

// Phase 1: the lightest arc of every vertex.  Short rows by one lane, long ones by the warp, hubs are put off.
__device__ void pick_row_minima(const Graph& graph, index_t* pick, int32* link, int32* hubs, uint32* hub_count) {
    for (int64 first = grid_thread() - lane_id(); first < graph.vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        index_t begin = 0, end = 0;
        if (v < graph.vertices) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        const index_t length = end - begin;
        Pick best = NO_PICK;
        if (length < LONG_ROW) {
            for (index_t arc = begin; arc < end; ++arc) {
                const Pick found = {order_key(graph.weights[arc]), arc};
                if (found < best) best = found;
            }
        }
        for (unsigned waiting = __ballot_sync(FULL_MASK, length >= LONG_ROW && length < HUB_ROW); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = __ffs(static_cast<int>(waiting)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            Pick mine = NO_PICK;
            for (index_t portion = row_begin; portion < row_end; portion += WARP * IN_FLIGHT) {
#pragma unroll
                for (int i = 0; i < IN_FLIGHT; ++i) {
                    const index_t arc = portion + i * WARP + lane_id();
                    if (arc < row_end) {
                        const Pick found = {order_key(graph.weights[arc]), arc};
                        if (found < mine) mine = found;
                    }
                }
            }
            mine = warp_lightest(mine);
            if (lane_id() == owner) best = mine;
        }
        const bool is_hub = length >= HUB_ROW;
        if (__any_sync(FULL_MASK, is_hub)) {
            const uint32 slot = warp_append(hub_count, is_hub);
            if (is_hub) hubs[slot] = static_cast<int32>(v);
        }
        if (v < graph.vertices && !is_hub) {
            pick[v] = best.position;
            link[v] = best.position < 0 ? NO_LINK : graph.targets[best.position];
        }
    }
}

// Phase 1, hubs: a block for each.
__device__ void pick_hub_minima(Shared& shared, const Graph& graph, index_t* pick, int32* link, const int32* hubs,
                                uint32 hub_count) {
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 v = hubs[h];
        const index_t end = graph.offsets[v + 1];
        Pick best = NO_PICK;
        for (index_t portion = graph.offsets[v]; portion < end; portion += BLOCK * IN_FLIGHT) {
#pragma unroll
            for (int i = 0; i < IN_FLIGHT; ++i) {
                const index_t arc = portion + i * BLOCK + threadIdx.x;
                if (arc < end) {
                    const Pick found = {order_key(graph.weights[arc]), arc};
                    if (found < best) best = found;
                }
            }
        }
        best = block_lightest(shared, best);
        if (threadIdx.x == 0) {
            pick[v] = best.position;
            link[v] = graph.targets[best.position];
        }
    }
}

// Phases 3 and 5: list the edges that join two components; hubs are put off.
__device__ void list_edges(const Listing& listing, Gatherer& gatherer, int32* hubs, uint32* hub_count) {
    const Graph& graph = listing.graph;
    for (int64 first = grid_thread() - lane_id(); first < graph.vertices; first += grid_threads()) {
        const int64 v = first + lane_id();
        index_t begin = 0, end = 0;
        int32 own = DEAD;
        if (v < graph.vertices) own = listing.label[v];
        if (listing.reads_row(own)) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        const index_t length = end - begin;
        const bool is_hub = length >= HUB_ROW;
        // All lanes walk their short rows side by side, so that the warp can gather what they find.
        const index_t steps = length < LONG_ROW ? length : 0;
        for (index_t i = 0; __any_sync(FULL_MASK, i < steps); ++i) {
            Edge edge;
            const bool found = i < steps && listing.lists(static_cast<int32>(v), own, begin + i, &edge);
            gatherer.add(found, edge);
        }
        for (unsigned waiting = __ballot_sync(FULL_MASK, length >= LONG_ROW && !is_hub); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = __ffs(static_cast<int>(waiting)) - 1;
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const int32 row_own = __shfl_sync(FULL_MASK, own, owner);
            const int32 u = static_cast<int32>(first) + owner;
            for (index_t portion = row_begin; portion < row_end; portion += WARP) {
                const index_t arc = portion + lane_id();
                Edge edge;
                const bool found = arc < row_end && listing.lists(u, row_own, arc, &edge);
                gatherer.add(found, edge);
            }
        }
        if (__any_sync(FULL_MASK, is_hub)) {
            const uint32 slot = warp_append(hub_count, is_hub);
            if (is_hub) hubs[slot] = static_cast<int32>(v);
        }
    }
}

// Phases 3 and 5, hubs: a block for each.
__device__ void list_hub_edges(const Listing& listing, Gatherer& gatherer, const int32* hubs, uint32 hub_count) {
    const Graph& graph = listing.graph;
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 u = hubs[h];
        const int32 own = listing.label[u];
        const index_t end = graph.offsets[u + 1];
        for (index_t portion = graph.offsets[u]; portion < end; portion += BLOCK) {
            const index_t arc = portion + threadIdx.x;
            Edge edge;
            const bool found = arc < end && listing.lists(u, own, arc, &edge);
            gatherer.add(found, edge);
        }
    }
}

// The threshold below which about `wanted` of all arcs lie: the quantile of a sample.  All threads must call; the same
// in every block, for every block draws the same sample.
__device__ Pick sample_threshold(Shared& shared, const Graph& graph, uint64 wanted) {
    const uint64 stratum = static_cast<uint64>(graph.arcs) / SAMPLES;
    const int i = threadIdx.x;
    const uint64 jitter = (static_cast<uint64>(i) * 0x9E3779B97F4A7C15ull >> 32) % stratum;
    const index_t arc = static_cast<index_t>(i * stratum + jitter);
    const Pick mine = {order_key(graph.weights[arc]), arc};
    __syncthreads();
    shared.keys[i] = mine.key;
    shared.positions[i] = mine.position;
    __syncthreads();
    // Rank by counting: every thread compares its pick with all others.
    uint32 rank = 0;
    for (int j = 0; j < SAMPLES; ++j) rank += Pick{shared.keys[j], shared.positions[j]} < mine;
    const uint32 quantile = static_cast<uint32>(wanted * SAMPLES / static_cast<uint64>(graph.arcs));
    __syncthreads();
    if (rank == quantile) {
        shared.keys[0] = mine.key;
        shared.positions[0] = mine.position;
    }
    __syncthreads();
    const Pick threshold = {shared.keys[0], shared.positions[0]};
    __syncthreads();
    return threshold;
}

// The component that most of 32 sampled arcs lead to.  All threads must call; the same in every block.
__device__ int32 find_giant(Shared& shared, const Graph& graph, const int32* label) {
    __syncthreads();
    if (threadIdx.x < WARP) {
        const index_t arc = static_cast<index_t>(static_cast<uint64>(graph.arcs) * (2 * lane_id() + 1) / (2 * WARP));
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

// ------------------------------------------------------------------ hooking

// Hook and number: of two that picked each other the smaller is a root, all others that picked join the forest.
// A root is numbered among the live; one that picked nothing is DEAD (a vertex) or retires (a component).
// Resets best for the next round.  All threads must call.
__device__ void hook_and_number(Shared& shared, uint32 count, bool vertices, const index_t* pick, const int32* link,
                                int32* number, uint64* best_key, uint64* best_id, index_t* forest, uint32* control,
                                uint32* live) {
    FOR_BLOCKS(first, count) {
        const int64 t = first + threadIdx.x;
        bool joins = false, root = false, retires = false;
        if (t < count) {
            const int32 other = link[t];
            root = other != NO_LINK && t < other && link[other] == t;
            joins = other != NO_LINK && !root;
            retires = other == NO_LINK && !vertices;
            if (!vertices) {
                best_key[t] = ~0ull;
                if (!PACKED) best_id[t] = ~0ull;
            }
        }
        const uint32 edge = block_append(shared, &control[FOREST], joins);
        if (joins) forest[edge] = pick[t];
        const uint32 fresh = block_append(shared, live, root);
        uint32 final = 0;
        if (!vertices) final = block_append(shared, &control[FINALS], retires);
        if (t < count) {
            number[t] = root ? static_cast<int32>(fresh)
                             : joins ? NOT_ROOT : retires ? retired(static_cast<int32>(final)) : DEAD;
        }
    }
}

// Every vertex or component learns the number of its root.  Follows at most CHASE links, then leaves a shortcut and
// says so: the caller repeats until nobody did.
__device__ void learn_number(uint32 count, int32* link, const int32* number, int32* learned, uint32* unfinished) {
    bool left = false;
    for (int64 t = grid_thread(); t < count; t += grid_threads()) {
        int32 at = static_cast<int32>(t);
        int32 found = number[at];
        int hops = 0;
        for (; found == NOT_ROOT && hops < CHASE; ++hops) {
            at = static_cast<volatile int32*>(link)[at];  // race-allowed: a shortcut leads to the same root
            found = number[at];
        }
        if (found == NOT_ROOT) {
            link[t] = at;  // race-allowed: a shortcut to the same root
            left = true;
        }
        learned[t] = found;
    }
    if (left) *unfinished = 1;  // race-allowed: every writer writes 1
}

// ------------------------------------------------------------------ the kernel

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` is all 0.
// `wanted` is how many arcs should be light, 0 for all (then phases 5 and 6 are not needed).
// Writes forest; control[FOREST] is the number of its edges, control[LIVE + r] the live components of round r.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
filter_boruvka(int32 vertices, index_t arcs, uint64 wanted, const index_t* __restrict__ offsets,
               const int32* __restrict__ targets, const weight_t* __restrict__ weights, int32* label, index_t* pick,
               int32* link, int32* number, uint64* best_key, uint64* best_id, int32* chain, Edge* list, int32* hubs,
               index_t* forest, uint32* control, uint64* timeline) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    uint32 barriers = 0;
    uint32 chases = 0;
    uint32 stamps = 0;
    const auto barrier = [&]() { grid_barrier(&control[ARRIVALS], &barriers); };
    const auto stamp = [&](uint32 phase) {
        if (grid_thread() == 0) {
            timeline[2 * stamps] = phase;
            timeline[2 * stamps + 1] = device_nanoseconds();
        }
        stamps += 1;
    };
    // Repeats learn_number until every chain has been followed to its root.
    const auto learn = [&](uint32 count, int32* learned) {
        uint32 more = 1;
        while (more != 0) {
            uint32* unfinished = &control[UNFINISHED + chases % 3];
            learn_number(count, link, number, learned, unfinished);
            barrier();
            more = current(unfinished);
            // Two barriers lie between this reset and the last reader of the word.
            if (grid_thread() == 0) control[UNFINISHED + (chases + 2) % 3] = 0;
            chases += 1;
        }
    };

    stamp(0);
    pick_row_minima(graph, pick, link, hubs, &control[HUBS_FIRST]);
    barrier();
    const uint32 hub_rows = current(&control[HUBS_FIRST]);
    if (hub_rows != 0) {
        pick_hub_minima(shared, graph, pick, link, hubs, hub_rows);
        barrier();
    }
    stamp(1);
    hook_and_number(shared, vertices, true, pick, link, number, best_key, best_id, forest, control, &control[LIVE]);
    barrier();
    learn(vertices, label);

    uint32 round = 0;  // counts through both passes
    for (int pass = 0;; ++pass) {
        uint32 live = current(&control[LIVE + round]);
        stamp(2);
        Listing listing = {graph, label, pass == 0, {NO_KEY, arcs}, DEAD};
        if (pass == 0 && wanted != 0) listing.threshold = sample_threshold(shared, graph, wanted);
        if (pass == 1) listing.giant = find_giant(shared, graph, label);
        Gatherer gatherer = {shared.buffer[threadIdx.x / WARP], 0, list, &control[ENTRIES]};
        uint32* hub_count = &control[pass == 0 ? HUBS_LIGHT : HUBS_HEAVY];
        list_edges(listing, gatherer, hubs, hub_count);
        for (int64 t = grid_thread(); t < live; t += grid_threads()) {
            best_key[t] = ~0ull;
            if (!PACKED) best_id[t] = ~0ull;
        }
        if (hub_rows != 0) {
            barrier();
            list_hub_edges(listing, gatherer, hubs, current(hub_count));
        }
        gatherer.flush();
        barrier();

        // Each block keeps a region of the list and compacts it in place, round by round.
        const uint32 entries = current(&control[ENTRIES]);
        Edge* const region = list + static_cast<int64>(entries) * blockIdx.x / gridDim.x;
        uint32 held = static_cast<uint32>(list + static_cast<int64>(entries) * (blockIdx.x + 1) / gridDim.x - region);
        uint32 level = 0;  // where this round's numbers begin in the chain
        uint32 levels = 0;
        const int32* renumbered = nullptr;  // numbers of the round before
        stamp(3);
        while (live > 1) {
            // Find-min: drop edges inside a component, let the others bid at both ends.
            uint32 kept = 0;
            for (uint32 first = 0; first < held; first += BLOCK) {
                const uint32 i = first + threadIdx.x;
                Edge edge;
                bool joins = false;
                if (i < held) {
                    edge = region[i];
                    if (renumbered != nullptr) {
                        edge.a = renumbered[edge.a];
                        edge.b = renumbered[edge.b];
                    }
                    joins = edge.a != edge.b;
                }
                if (renumbered != nullptr) {
                    const unsigned keepers = __ballot_sync(FULL_MASK, joins);
                    const int warp = threadIdx.x / WARP;
                    __syncthreads();
                    if (lane_id() == 0) shared.counts[warp] = __popc(keepers);
                    __syncthreads();
                    uint32 slot = kept, total = 0;
                    for (int w = 0; w < WARPS; ++w) {
                        if (w < warp) slot += shared.counts[w];
                        total += shared.counts[w];
                    }
                    if (joins) region[slot + __popc(keepers & ((1u << lane_id()) - 1))] = edge;
                    kept += total;
                }
                if (!joins) continue;
                const uint64 bid = PACKED ? static_cast<uint64>(edge.key) << 32 | static_cast<uint32>(edge.id) : edge.key;
                lower_to(&best_key[edge.a], bid);
                lower_to(&best_key[edge.b], bid);
            }
            if (renumbered != nullptr) held = kept;
            for (int64 t = grid_thread(); t < live; t += grid_threads()) link[t] = NO_LINK;
            barrier();
            if (!PACKED) {
                for (uint32 i = threadIdx.x; i < held; i += BLOCK) {
                    const Edge edge = region[i];
                    const uint64 id = static_cast<uint64>(edge.id);
                    if (best_key[edge.a] == edge.key) lower_to(&best_id[edge.a], id);
                    if (best_key[edge.b] == edge.key) lower_to(&best_id[edge.b], id);
                }
                barrier();
            }
            // The edge that won a component tells it where it leads; ids are unique, so one thread writes.
            for (uint32 i = threadIdx.x; i < held; i += BLOCK) {
                const Edge edge = region[i];
                const uint64 id = static_cast<uint64>(edge.id);
                const uint64 bid = PACKED ? static_cast<uint64>(edge.key) << 32 | id : edge.key;
                if (best_key[edge.a] == bid && (PACKED || best_id[edge.a] == id)) {
                    link[edge.a] = edge.b;
                    pick[edge.a] = edge.id;
                }
                if (best_key[edge.b] == bid && (PACKED || best_id[edge.b] == id)) {
                    link[edge.b] = edge.a;
                    pick[edge.b] = edge.id;
                }
            }
            barrier();
            round += 1;
            hook_and_number(shared, live, false, pick, link, number, best_key, best_id, forest, control,
                            &control[LIVE + round]);
            barrier();
            learn(live, chain + level);
            renumbered = chain + level;
            if (threadIdx.x == 0) shared.levels[levels] = level;
            levels += 1;
            level += live;
            live = current(&control[LIVE + round]);
        }
        stamp(4);
        if (pass == 1 || wanted == 0) return;

        // Every vertex learns its component after the light rounds; the last live one is numbered like the retired.
        const int32 last = static_cast<int32>(current(&control[FINALS]));
        __syncthreads();
        for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
            int32 component = label[v];
            if (component == DEAD) continue;
            for (uint32 l = 0; l < levels && component >= 0; ++l) component = chain[shared.levels[l] + component];
            label[v] = component >= 0 ? last : -3 - component;
        }
        round += 1;
        if (grid_thread() == 0) {
            control[LIVE + round] = static_cast<uint32>(last) + live;
            control[ENTRIES] = 0;
        }
        barrier();
    }
}
