/*
Filter-Boruvka over ranks: the phases of filter_boruvka.cu, of which those that read arcs are divided; what the ranks
exchange lies between the launches.

    1  row minimum      every vertex picks its lightest arc: its row lies on one rank as a whole, so the pick is right
    2  hook             the ranks give each other their picks, and each finds the roots among its vertices; these they
                        put together as a bit a vertex, so that all count them alike, and each follows the links of its
                        own vertices to the number of their root; the ranks give each other these labels
    3  light edges      own arcs up to a threshold that join two components are listed (all arcs, if degrees are low),
                        in their order, and the ranks give each other their lists
    4  rounds           as on one device, of which every rank makes all alike: nothing is sent
    5  heavy edges      as 3, for the rest: of a row outside the giant component all edges to others outside, and the
                        lightest into the giant one
    6  rounds           as 4

Steps 3 and 4 are repeated where a list has no room for all that is to be listed.

Edges compare by (key, ends), ends = smaller end << 32 | larger end: the canonical order, the same on every rank, and
that of slots in the list of 3, which holds edges by their first arcs.  In 5 both ends' ranks hold an edge; who lists it
a bit of its ends decides, so that neither has more to do than the other (lists_here).

In a round components are numbered as each rank happens to; between the passes a component has the least of the numbers
that its parts had after 2, which is the same on all ranks.

A rank's rows are those of the vertices [first, last):
    offsets (rows + 1,), targets, weights (arcs,)   the rows; `offsets` is that of the first own vertex
    pick, hubs (rows,), first_row (spans,)          see filter_boruvka.cu; spans and hubs count rows from the first
Of all n vertices:
    link (n,)              the vertex at the other end of the lightest arc; NO_LINK if there is none.  In the rounds
                           `chain` is in the same memory
    label (n,)             component of each vertex; DEAD if isolated
    roots (n / 32 + 1,)    a bit for each root, and in the last word how many vertices have arcs;
    ranked (n / 32,)       each word of these << 32 | how many roots are before it
Of the c components after 2, see filter_boruvka.cu: best_key, best_id, up (c,); now (c,) is what has become of them.
    forest (rows + c,), control[NAMES]              the ends of edges of the forest that this rank keeps: its picks, and
                                                    on one rank those of the rounds
    list                   listed edges: first the own ones, of 3 on pages, then those of all ranks, of which each warp
                           or block of a round compacts a region
    page_of (arcs / PAGE + 1,), held (spans,)       see filter_boruvka.cu, and how many edges a span has
    control (RANK_CONTROL_WORDS,)                   read by the host
    counters (CONTROL_WORDS,)                       of one launch whose blocks wait for each other; 0 before it

Source: see filter_boruvka.cu; that each processor reduces its own part before all agree as in Chung & Condon 1996,
Parallel implementation of Boruvka's minimum spanning tree algorithm, section 4.  Picks of whole rows without
communication, lists that are filtered before they are sent and the division of edges by a bit are ours.
*/
#define EDGES_BY_ENDS
#include "filter_boruvka/row_minima.cuh"
#include "filter_boruvka/hooking.cuh"
#include "filter_boruvka/light_edges.cuh"
#include "filter_boruvka/heavy_edges.cuh"
#include "filter_boruvka/rounds.cuh"

constexpr int SAMPLED = 512;         // arcs sampled by each rank
constexpr int HOOKED = 4;            // vertices that a lane hooks at a time
constexpr int MOST_BLOCKS = 1024;    // of a launch that numbers
constexpr uint64 NO_NAME = 0xffffffffffffffffull;  // ends are below 2^63, and votes at most WARP << 32
constexpr uint32 TOO_MANY = 0xffffffffu;           // edges: the driver makes room for fewer

// Words of `control`.
enum RankControl { EDGES, PAGES_TAKEN, HUB_ROWS, TREES_LEFT, ACTIVE, NAMES, ROUNDS_MADE, RANK_CONTROL_WORDS };

// ------------------------------------------------------------------ row minima

// Launch: any grid of BLOCK threads; control[HUB_ROWS] is 0.  `span` is how many arcs a warp of list_light goes
// through.  Writes pick, link (own), first_row, hubs, control[HUB_ROWS].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_row_minima(int32 rows, index_t arcs, uint64 span, const index_t* __restrict__ offsets,
                           const int32* __restrict__ targets, const weight_t* __restrict__ weights, index_t* pick,
                           int32* link, int32* first_row, int32* hubs, uint32* control) {
    __shared__ uint32 batches;
    const Graph graph = {rows, arcs, offsets, targets, weights};
    if (threadIdx.x == 0) batches = 0;
    __syncthreads();
    pick_row_minima(graph, static_cast<span_t>(span), &batches, pick, link, first_row, hubs, &control[HUB_ROWS]);
}

// Launch: any grid of BLOCK threads, after row_minima.  Writes pick, link of the hubs.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_hub_minima(int32 rows, index_t arcs, const index_t* __restrict__ offsets,
                           const int32* __restrict__ targets, const weight_t* __restrict__ weights, index_t* pick,
                           int32* link, const int32* hubs, const uint32* control) {
    __shared__ Shared shared;
    const Graph graph = {rows, arcs, offsets, targets, weights};
    pick_hub_minima(shared, graph, pick, link, hubs, control[HUB_ROWS]);
}

// ------------------------------------------------------------------ hooking

// Of two vertices that picked each other the smaller is a root; the picks of all others join the forest.
// Launch: any grid of whole warps; `roots` and control[NAMES] are 0.  Writes the bits of own vertices in roots, and how
// many of them have arcs in its last word; forest, control[NAMES].
extern "C" __global__ void forest_on_ranks_hook(int32 vertices, int32 first, int32 last, const int32* __restrict__ link,
                                                uint32* roots, int64* forest, uint32* control) {
    uint32 active = 0;
    const int64 aligned = first / WARP * WARP;
    for (int64 start = aligned + (grid_thread() - lane_id()) * HOOKED; start < last;
         start += grid_threads() * HOOKED) {
        int32 other[HOOKED];
        bool root[HOOKED];
#pragma unroll
        for (int k = 0; k < HOOKED; ++k) {
            const int64 v = start + k * WARP + lane_id();
            other[k] = v >= first && v < last ? link[v] : +NO_LINK;
        }
#pragma unroll
        for (int k = 0; k < HOOKED; ++k) {
            const int64 v = start + k * WARP + lane_id();
            root[k] = v < other[k] && link[other[k]] == v;
        }
        uint32 joining = 0;
#pragma unroll
        for (int k = 0; k < HOOKED; ++k) {
            const unsigned word = __ballot_sync(FULL_MASK, root[k]);
            if (lane_id() == 0 && word != 0) roots[start / WARP + k] = word;
            active += other[k] != NO_LINK;
            joining += other[k] != NO_LINK && !root[k];
        }
        uint32 slot = warp_reserve(&control[NAMES], joining);
#pragma unroll
        for (int k = 0; k < HOOKED; ++k) {
            const int32 v = static_cast<int32>(start) + k * WARP + lane_id();
            if (other[k] != NO_LINK && !root[k]) forest[slot++] = ends_of(v, other[k]);
        }
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) active += __shfl_xor_sync(FULL_MASK, active, offset);
    if (lane_id() == 0 && active != 0) atomicAdd(&roots[(vertices + WARP - 1) / WARP], active);
}

// Count the roots, and let every own vertex learn the number of its root, to which links lead.  The words of roots stay
// in the cache, so a link is followed only from where no root is.  Where a chain is too long, all links are shortened
// before the next look.
// Launch: cooperative, BLOCK threads, at most MOST_BLOCKS.  Writes ranked, counts (blocks,), label (own),
// control[ACTIVE], control[TREES_LEFT]; links.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_label(int32 vertices, int32 first, int32 last, const uint32* __restrict__ roots, uint64* ranked,
                      uint32* counts, int32* link, int32* label, uint32* control, uint32* counters) {
    __shared__ Shared shared;
    uint32 barriers = 0, turns = 0;
    const uint32 words = (static_cast<uint32>(vertices) + WARP - 1) / WARP;
    const uint32 low = static_cast<uint32>(static_cast<uint64>(words) * blockIdx.x / gridDim.x);
    const uint32 high = static_cast<uint32>(static_cast<uint64>(words) * (blockIdx.x + 1) / gridDim.x);
    uint64 mine = 0, total = 0;
    for (uint32 w = low + threadIdx.x; w < high; w += BLOCK) mine += __popc(roots[w]);
    block_scan(shared, mine, &total);
    if (threadIdx.x == 0) counts[blockIdx.x] = static_cast<uint32>(total);
    grid_barrier(&counters[ARRIVALS], &barriers);

    uint64 lower = 0, all = 0;
    for (uint32 b = threadIdx.x; b < gridDim.x; b += BLOCK) {
        const uint64 count = current(&counts[b]);
        all += count;
        if (b < blockIdx.x) lower += count;
    }
    block_scan(shared, lower, &lower);
    block_scan(shared, all, &all);
    if (grid_thread() == 0) {
        control[TREES_LEFT] = static_cast<uint32>(all);
        control[ACTIVE] = roots[words];
    }
    for (uint32 start = low; start < high; start += BLOCK) {
        const uint32 w = start + threadIdx.x;
        const uint32 word = w < high ? roots[w] : 0;
        const uint64 at = block_scan(shared, __popc(word), &total);
        if (w < high) ranked[w] = static_cast<uint64>(word) << 32 | (lower + at);
        lower += total;
    }
    grid_barrier(&counters[ARRIVALS], &barriers);

    static_assert(DEAD == NO_LINK, "a vertex without a link gets no number");
    volatile int32* const links = link;
    const auto is_root = [&](int64 v) { return (roots[v / WARP] >> v % WARP & 1) != 0; };
    int64 begin = first, end = last;
    while (true) {
        bool gave_up = false;
        for (int64 start = begin + grid_thread(); start < end; start += grid_threads() * PER_THREAD) {
            int32 at[PER_THREAD], number[PER_THREAD];  // NO_LINK where there is none, or not yet
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                const int64 v = start + k * grid_threads();
                number[k] = NO_LINK;
                at[k] = v < end ? links[v] : +NO_LINK;  // race-allowed: shortcuts lead to the same root
                if (at[k] != NO_LINK && is_root(v)) at[k] = static_cast<int32>(v);
            }
            bool climbing = true;
            for (int hop = 0; climbing && hop < CHASE; ++hop) {
                climbing = false;
                uint64 word[PER_THREAD];
#pragma unroll
                for (int k = 0; k < PER_THREAD; ++k) {
                    const bool looks = at[k] != NO_LINK && number[k] == NO_LINK;
                    word[k] = looks ? *static_cast<volatile uint64*>(&ranked[at[k] / WARP]) : 0;
                }
#pragma unroll
                for (int k = 0; k < PER_THREAD; ++k) {
                    if (at[k] == NO_LINK || number[k] != NO_LINK) continue;
                    const uint32 bits = static_cast<uint32>(word[k] >> 32), bit = 1u << at[k] % WARP;
                    if ((bits & bit) != 0) {
                        number[k] = static_cast<int32>(static_cast<uint32>(word[k]) + __popc(bits & (bit - 1)));
                    } else {
                        at[k] = links[at[k]];  // race-allowed: shortcuts lead to the same root
                        climbing = true;
                    }
                }
            }
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                const int64 v = start + k * grid_threads();
                if (v >= end) continue;
                if (at[k] != NO_LINK && number[k] == NO_LINK) {
                    links[v] = at[k];  // race-allowed: a shortcut to the same root
                    gave_up = true;
                } else if (v >= first && v < last) {
                    label[v] = number[k];  // DEAD is NO_LINK
                }
            }
        }
        turns += 1;
        if (gave_up) counters[LAST_LONG_CHAIN] = turns;  // race-allowed: every writer writes the same
        grid_barrier(&counters[ARRIVALS], &barriers);
        if (current(&counters[LAST_LONG_CHAIN]) < turns) break;  // who is late may find the next turn's number there
        begin = 0;
        end = vertices;
    }
}

// What has become of each component since the last pass.  Launch: any grid.  Writes: label (vertices,); DEAD stays.
extern "C" __global__ void forest_on_ranks_relabel(int32 vertices, const int32* __restrict__ now, int32* label) {
    for (int64 first = grid_thread(); first < vertices; first += grid_threads() * LABELS) {
        int32 component[LABELS];
        load_each(label, first, grid_threads(), vertices, DEAD, component);
#pragma unroll
        for (int k = 0; k < LABELS; ++k) {
            if (component[k] != DEAD) label[first + k * grid_threads()] = now[component[k]];
        }
    }
}

// ------------------------------------------------------------------ samples

// Launch: any grid.  Writes: sample (2 * SAMPLED,) of this rank: keys, then ends; NO_NAME where there are no arcs.
extern "C" __global__ void forest_on_ranks_sample(int32 rows, int32 first, index_t arcs,
                                                  const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_t* __restrict__ weights, uint64* sample) {
    for (int64 i = grid_thread(); i < SAMPLED; i += grid_threads()) {
        sample[i] = sample[SAMPLED + i] = NO_NAME;
        if (arcs == 0) continue;
        const index_t stratum = arcs / SAMPLED;
        const uint64 jitter = static_cast<uint64>(i) * 0x9E3779B97F4A7C15ull >> 32;
        index_t arc = static_cast<index_t>(static_cast<uint64>(i) * static_cast<uint64>(arcs) / SAMPLED);
        if (stratum > 1) arc += static_cast<index_t>(jitter % static_cast<uint64>(stratum));
        if (arc >= arcs) arc = arcs - 1;
        sample[i] = order_key(weights[arc]);
        sample[SAMPLED + i] = static_cast<uint64>(ends_of(first + row_of_arc(offsets, arc, 0, rows - 1), targets[arc]));
    }
}

// Find the samples of which `rank` are smaller, and write the last of them as the threshold.
// Launch: any grid; `ranks` have each written their samples.  Writes: threshold (2,), by the threads of equal samples
// alike.
extern "C" __global__ void forest_on_ranks_quantile(int32 ranks, int32 rank, const uint64* __restrict__ sample,
                                                    uint64* threshold) {
    const int32 count = ranks * SAMPLED;
    const auto at = [](int32 i) { return i / SAMPLED * 2 * SAMPLED + i % SAMPLED; };
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const uint64 key = sample[at(static_cast<int32>(i))], name = sample[at(static_cast<int32>(i)) + SAMPLED];
        int32 smaller = 0, equal = 0;
        for (int32 j = 0; j < count; ++j) {
            const uint64 other_key = sample[at(j)], other_name = sample[at(j) + SAMPLED];
            const bool same_key = other_key == key;
            smaller += other_key < key || (same_key && other_name < name);
            equal += same_key && other_name == name;
        }
        if (smaller <= rank && rank < smaller + equal) {
            threshold[0] = key;   // race-allowed: equal samples write the same
            threshold[1] = name;  // race-allowed: equal samples write the same
        }
    }
}

// The component that most of 32 sampled arcs lead to, with its votes.
// Launch: one warp.  Writes: giant (1,), votes << 32 | component; 0 where there are no arcs.
extern "C" __global__ void forest_on_ranks_find_giant(index_t arcs, const int32* __restrict__ targets,
                                                      const int32* __restrict__ label, uint64* giant) {
    if (arcs == 0) {
        if (lane_id() == 0) *giant = 0;
        return;
    }
    const index_t arc = static_cast<index_t>(static_cast<uint64>(arcs) / (2 * WARP) * (2 * lane_id() + 1));
    const int32 component = label[targets[arc]];
    int votes = 0;
    for (int lane = 0; lane < WARP; ++lane) votes += __shfl_sync(FULL_MASK, component, lane) == component;
    const uint64 lost = ~(static_cast<uint64>(votes) << 32 | static_cast<uint32>(component));
    const uint64 least = warp_min(lost);
    if (lane_id() == 0) *giant = ~least;
}

// ------------------------------------------------------------------ listing

// The least position here that comes after all edges of the ends up to `last`, of those whose first arcs are here.
__device__ __forceinline__ index_t position_after(const Graph& graph, int32 first, uint64 last) {
    const int64 u = static_cast<int64>(last >> 32), v = static_cast<int64>(last & 0xffffffffu);
    if (u < first) return 0;
    if (u >= graph.vertices) return graph.arcs;
    return lower_bound(graph.targets, graph.offsets[u], graph.offsets[u + 1], static_cast<int32>(v + 1));
}

// List the own edges up to the threshold that join two components, or `all` that do, by the spans of their first arcs.
// Launch: a warp for each span of arcs, BLOCK threads; control[PAGES_TAKEN] is 0.  `room` is how many pages the list
// has.  Writes the list, page_of, and held (spans,), how many edges each span has.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_list_light(int32 rows, int32 first, index_t arcs, uint64 span, int32 all,
                           const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                           const weight_t* __restrict__ weights, const int32* __restrict__ first_row,
                           const int32* __restrict__ label, const uint64* __restrict__ threshold, Edge* list,
                           uint32 room, uint32* page_of, uint32* held, uint32* control) {
    __shared__ Shared shared;
    const Graph graph = {first + rows, arcs, offsets - first, targets, weights};  // rows by their vertices
    if (threadIdx.x == 0 && !all) {
        const index_t after = position_after(graph, first, threshold[1]);
        shared.threshold = {static_cast<weight_key_t>(threshold[0]), after - 1};
    }
    __syncthreads();
    const uint64 base = grid_thread() / WARP * span;
    if (base >= static_cast<uint64>(arcs)) return;
    const uint64 rest = static_cast<uint64>(arcs) - base;
    const count_t begin = static_cast<count_t>(base), end = static_cast<count_t>(base + (span < rest ? span : rest));
    const Pages pages = {list, room, page_of, &control[PAGES_TAKEN]};
    Lister lister = {graph, label, pages, base, 0, 0, first + first_row[grid_thread() / WARP]};
    if (all) {
        list_all(graph, begin, end, lister);
    } else {
        list_light(shared, graph, begin, end, lister);
    }
    if (lane_id() == 0) held[grid_thread() / WARP] = lister.held;
}

// Launch: one block of BLOCK threads, after list_light.  Writes control[EDGES], how many edges all spans have together;
// TOO_MANY if they took more pages than there are.
extern "C" __global__ void forest_on_ranks_tally(uint32 spans, uint32 room, const uint32* __restrict__ held,
                                                 uint32* control) {
    __shared__ Shared shared;
    uint64 mine = 0, total;
    for (uint32 s = threadIdx.x; s < spans; s += BLOCK) mine += held[s];
    block_scan(shared, mine, &total);
    if (threadIdx.x == 0) control[EDGES] = control[PAGES_TAKEN] > room ? TOO_MANY : static_cast<uint32>(total);
}

// Put the edges of all spans one after the other, in order.
// Launch: a warp for each span, BLOCK threads, after list_light.  Writes packed (control[EDGES],).
extern "C" __global__ void forest_on_ranks_pack(uint32 spans, uint64 span, Edge* list, uint32* page_of,
                                                const uint32* __restrict__ held, Edge* packed) {
    __shared__ Shared shared;
    uint64 lower = 0;
    for (uint32 s = threadIdx.x; s < blockIdx.x * WARPS; s += BLOCK) lower += held[s];
    block_scan(shared, lower, &lower);
    const uint32 own = blockIdx.x * WARPS + threadIdx.x / WARP;
    for (uint32 s = blockIdx.x * WARPS; s < own && s < spans; ++s) lower += held[s];
    if (own >= spans) return;
    const Pages pages = {list, 0, page_of, nullptr};
    for (uint32 i = lane_id(); i < held[own]; i += WARP) packed[lower + i] = *pages.at(own * span + i);
}

// The giant component, by the votes for it and its number; NO_NAME if there is none.
__device__ __forceinline__ int32 giant_of(uint64 votes) {
    return votes == NO_NAME ? NO_GIANT : static_cast<int32>(votes & 0xffffffffu);
}

// List all own edges that join two components, of rows outside the giant one, or of all; hubs are put off.
// Launch: any grid of BLOCK threads; control[EDGES] and control[HUB_ROWS] are 0.  Writes the list, hubs.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_list_rows(int32 rows, int32 first, index_t arcs, const index_t* __restrict__ offsets,
                          const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                          const int32* __restrict__ label, const uint64* __restrict__ giant_votes, int32* hubs,
                          Edge* edges, uint32 room, uint32* control) {
    __shared__ Edge buffers[WARPS][BUFFER];
    const Graph graph = {rows, arcs, offsets, targets, weights};
    Gatherer<uint32> gatherer = {buffers[threadIdx.x / WARP], edges, room, &control[EDGES], 0};
    const int32 giant = giant_of(*giant_votes);
    for (int64 start = grid_thread() - lane_id(); start < rows; start += grid_threads()) {
        const int64 row = start + lane_id();
        index_t begin = 0, end = 0;
        int32 own = DEAD;
        if (row < rows) own = label[first + row];
        if (own != DEAD && own != giant) {
            begin = offsets[row];
            end = offsets[row + 1];
        }
        const int32 u = first + static_cast<int32>(row);
        const Pick lightest = list_own_rows(graph, label, giant, u, own, begin, end, gatherer);
        list_lightest(graph, giant, u, own, lightest, gatherer);
        note_hubs(hubs, &control[HUB_ROWS], end - begin >= HUB_ROW, static_cast<int32>(row));
    }
    gatherer.flush();
}

// The same of the hubs that were put off, a block for each.
// Launch: any grid of BLOCK threads, after list_rows.  Writes the list.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_list_hubs(int32 rows, int32 first, index_t arcs, const index_t* __restrict__ offsets,
                          const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                          const int32* __restrict__ label, const uint64* __restrict__ giant_votes,
                          const int32* __restrict__ hubs, Edge* edges, uint32 room, uint32* control) {
    __shared__ Edge buffers[WARPS][BUFFER];
    const Graph graph = {rows, arcs, offsets, targets, weights};
    Gatherer<uint32> gatherer = {buffers[threadIdx.x / WARP], edges, room, &control[EDGES], 0};
    const int32 giant = giant_of(*giant_votes);
    const uint32 count = control[HUB_ROWS];
    for (uint32 h = blockIdx.x; h < count; h += gridDim.x) {
        const int32 row = hubs[h], u = first + row, own = label[u];
        const Pick mine = list_hub(graph, label, giant, u, own, offsets[row], offsets[row + 1], gatherer);
        list_lightest(graph, giant, u, own, mine, gatherer);
    }
    gatherer.flush();
}

// ------------------------------------------------------------------ rounds, on all ranks alike

// A list that lies in one piece.
struct Piece {
    Edge* list;

    __device__ __forceinline__ Edge* at(uint64 slot) const { return list + slot; }
};

// Rounds on the edges of all ranks until none joins two components; then `now`, where edges are left to be listed.
// Launch: cooperative, BLOCK threads.  `ordered` is whether the list is in the order of the edges' ids, `keeps` whether
// this rank keeps the edges picked.
// Writes best_key, best_id, up, chain, now, the list; forest, control[NAMES], control[ROUNDS_MADE].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
forest_on_ranks_rounds(uint32 components, uint64 entries, int32 ordered, int32 again, int32 keeps, Edge* list,
                       const uint64* __restrict__ giant_votes, uint64* best_key, uint64* best_id, int32* up,
                       int32* chain, int32* now, int64* forest, uint32* control, uint32* counters) {
    __shared__ Shared shared;
    uint32 barriers = 0, turns = 0, round = 0, levels = 0, live = components;
    const auto barrier = [&]() { grid_barrier(&counters[ARRIVALS], &barriers); };
    const auto turn = [&]() { return ++turns; };
    const auto last_long_chain = [&]() {
        barrier();
        return current(&counters[LAST_LONG_CHAIN]);
    };
    const auto live_after = [&](uint32 rounds) { return &counters[LIVE + rounds % 3]; };
    const auto renumbered = [&]() -> const int32* { return levels == 0 ? nullptr : chain + shared.levels[levels - 1]; };
    // A block keeps a region of the list and compacts it in place; of a list in order each warp keeps one.
    const uint64 keeper = ordered ? grid_thread() / WARP : blockIdx.x;
    const uint64 keepers = ordered ? static_cast<uint64>(gridDim.x) * WARPS : gridDim.x;
    const uint64 base = entries * keeper / keepers;
    Edge* const region = list + base;
    uint32 held = static_cast<uint32>(entries * (keeper + 1) / keepers - base);
    int32 giant = ordered ? NO_GIANT : giant_of(*giant_votes);
    const Piece slots = {list};
    if (lane_id() == 0) shared.begin[threadIdx.x / WARP][0] = base;
    __syncwarp();
    Holding in_order = {shared.begin[threadIdx.x / WARP], held, held};
    constexpr bool narrow = sizeof(weight_key_t) == 4;
    int64* const picked = forest + control[NAMES];
    if (threadIdx.x == 0) shared.levels[0] = 0;
    const auto forget_bids = [&](uint32 count) {
        for (int64 t = grid_thread(); t < count; t += grid_threads()) best_key[t] = best_id[t] = NO_BID;
    };
    forget_bids(components);
    barrier();
    while (live > 1) {
        round += 1;
        if (ordered) {
            in_order = bid_by_slots(slots, in_order, narrow, renumbered(), best_key);
            barrier();
            if (!narrow) {
                bid_again_by_slots(slots, in_order, best_key, best_id);
                barrier();
            }
            const ComponentChoices<Piece> choices = {narrow ? best_key : best_id, slots, narrow};
            hook_along(shared, live, choices, up, picked, counters, live_after(round));
        } else {
            held = compact_and_bid(shared, region, held, renumbered(), giant, best_key);
            barrier();
            bid_again(region, held, best_key, best_id);
            barrier();
            hook_by_edges(shared, live, region, held, best_key, best_id, up, picked, counters, live_after(round));
        }
        barrier();
        if (grid_thread() == 0) *live_after(round + 1) = 0;  // last read two barriers ago
        const uint32 roots = current(live_after(round));
        forget_bids(roots);
        const auto nothing = []() {};  // to forget bids meanwhile would spill on sm_120
        learn_numbers(live, up, chain + shared.levels[levels], &counters[LAST_LONG_CHAIN], turn, nothing,
                      last_long_chain);
        levels += 1;
        if (threadIdx.x == 0) shared.levels[levels] = shared.levels[levels - 1] + live;
        __syncthreads();
        live = roots;
    }
    const uint32 finals = current(&counters[FINALS]);
    if (again) {  // the least number of its parts represents a component
        for (int64 t = grid_thread(); t <= finals; t += grid_threads()) up[t] = static_cast<int32>(components);
        barrier();
        for (int64 c = grid_thread(); c < components; c += grid_threads()) {
            int32 part = static_cast<int32>(c);
            for (uint32 l = 0; l < levels && part >= 0; ++l) part = chain[shared.levels[l] + part];
            now[c] = part >= 0 ? static_cast<int32>(finals) : -2 - part;
            lower_to(&up[now[c]], static_cast<int32>(c));
        }
        barrier();
        for (int64 c = grid_thread(); c < components; c += grid_threads()) {
            now[c] = *static_cast<volatile int32*>(&up[now[c]]);
        }
    }
    if (grid_thread() == 0) {
        if (keeps) control[NAMES] += current(&counters[FOREST]);
        control[ROUNDS_MADE] += round;
    }
}

// ------------------------------------------------------------------ the result

// Find the arcs of the forest's edges whose smaller end is an own vertex.
// Launch: any grid; ids and words are 0.  Writes: ids (count,), the arc's position here and first_arc more, and words
// (count,), the weight's bits, each by one thread.
extern "C" __global__ void forest_on_ranks_locate(uint32 count, int32 first, int32 last, int64 first_arc,
                                                  const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets,
                                                  const weight_key_t* __restrict__ weights,
                                                  const uint64* __restrict__ names, uint64* ids, weight_key_t* words) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int32 u = static_cast<int32>(names[i] >> 32), v = static_cast<int32>(names[i] & 0xffffffffu);
        if (u < first || u >= last) continue;
        const index_t arc = find_arc(targets, offsets[u - first], offsets[u - first + 1], v);
        ids[i] = static_cast<uint64>(first_arc + arc);
        words[i] = weights[arc];
    }
}
