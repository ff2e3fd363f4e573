/*
The whole minimum spanning forest in one cooperative launch: Boruvka's rounds on a list of light edges, then on the few
heavy edges that still join two components.

    1  row minimum      every vertex picks its lightest arc: 4 bytes per arc, no atomics, no labels
    2  hook and number  of two vertices that picked each other the smaller is a root; all others join the forest;
                        roots get dense numbers, and every vertex the number of its root
    3  light edges      arcs below a sampled threshold that join two components are listed, in their order
                        (all arcs, if degrees are low): a few for each vertex, more where the graph is clustered
    4  rounds           each component picks its lightest listed edge, hooks, and is renumbered;
                        edges inside are dropped, and those seen next to a lighter parallel one; when few components are
                        left, a matrix takes the lightest edge between each two, and the last rounds read its rows
    5  heavy edges      after 4 nearly all vertices lie in one giant component, and an edge that joins two components
                        has an end outside of it, so only the rows of vertices outside are read, and of each only the
                        lightest edge into the giant component is listed; all rows, where no component is giant
    6  rounds           as 4, but that the list is in no order, so that the blocks share it evenly

Where the list has no room for what is to be listed, the threshold is lowered, and 3 to 5 are repeated.

The phases are in filter_boruvka/, in this order: row_minima, hooking, light_edges, rounds, matrix, heavy_edges; what
they share is in base.

    offsets (n+1)  targets (arcs)  weights (arcs)      the graph, both arcs of every edge, rows by target
    label (n)          component of each vertex; DEAD if isolated
    pick, link (n)     per vertex: the lightest arc, and where it leads
    up (n)             per vertex, then per component: one that is above, or the root's number
    first_row (spans)  the row in which each of so many equal parts of the arcs begins, for spans to find theirs
    best_key, best_id  (components <= n/2)             lightest listed edge of each component: key, and slot or id
    chain (n)          the numbers of each round behind each other, to find a vertex's component after all rounds
    list (room * PAGE) listed edges: light ones on pages, each warp's in order, others one after the other; who listed
                       them compacts them in place
    page_of (arcs / PAGE + 1)  the page of the list on which PAGE slots lie, where slots have no places of their own
    hubs (n)                   rows too long for a warp; shares the memory of `chain`
    forest (n-1)       picked edges, each by the position of one of its arcs
    control, next_control (CONTROL_WORDS)  counters of this launch (enum Control), and of the one behind it
    timeline (END + 1) when each phase began (enum Phase)
    cells              of the matrix between `dense` components: as many words as struct Matrix says

Invariants.  Edges compare by (weight, id), id = position of the arc u->v with u < v.  Inside a row that is (weight,
position).  Every edge in the forest is the lightest that leaves some set of vertices, so the order in which edges are
listed cannot change the forest.  Live components at least halve in a round; one without a listed edge retires.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads.

Source: O. Boruvka 1926; V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree algorithm", ALENEX
2009 (the threshold); A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for GPUs", SC
2023 (filtering on the GPU).  Dense renumbering, the row minimum without atomics, slots on pages that order edges as ids
do and find them, and reading only the rows outside the giant component are ours.
*/
#include "filter_boruvka/row_minima.cuh"
#include "filter_boruvka/hooking.cuh"
#include "filter_boruvka/light_edges.cuh"
#include "filter_boruvka/rounds.cuh"
#include "filter_boruvka/matrix.cuh"
#include "filter_boruvka/heavy_edges.cuh"

// The arguments of the kernel, and its phases.  All threads of all blocks must call all functions but enter() and those
// that only return something.
struct Phases {
    Shared& shared;
    const Graph& graph;
    const Pages& pages;
    uint64 wanted;
    int32* label;
    index_t* pick;
    int32 *link, *up;
    uint64 *best_key, *best_id;
    int32 *chain, *first_row, *hubs;
    index_t* forest;
    uint32* control;
    uint64 *timeline, *cells;
    uint32 dense;
    bool narrow;          // a bid that names a slot is one word
    uint32 live, levels;  // components, and rounds whose numbers are in the chain

    // ------------------------------------------------------------------ what the phases use

    __device__ __forceinline__ void barrier() { grid_barrier(&control[ARRIVALS], &shared.barriers); }

    // A barrier that returns a word of `control` as it is behind it; see grid_barrier_reading().
    __device__ __forceinline__ uint32 read_behind_barrier(const uint32* word) {
        return grid_barrier_reading(shared, &control[ARRIVALS], word, []() {});
    }

    // A phase that is entered again, because the list was too short, goes on.
    __device__ __forceinline__ void enter(Phase phase) {
        if (own_thread() == 0 && timeline[phase] == 0) timeline[phase] = device_nanoseconds();
    }

    // From how many components on the rounds are made on a matrix, whose bids are words.
    __device__ __forceinline__ uint32 few() const { return narrow ? dense : 1; }

    // How many components are live after a round.
    __device__ __forceinline__ uint32* live_after(uint32 rounds) const { return &control[LIVE + rounds % 3]; }

    // How many heavy edges are listed.
    __device__ __forceinline__ count_t* heavy_listed() const { return reinterpret_cast<count_t*>(&control[ENTRIES]); }

    __device__ __forceinline__ void forget_bids(uint32 count) {
        for (int64 t = own_thread(); t < count; t += grid_threads()) {
            best_key[t] = NO_BID;
            if (!PACKED) best_id[t] = NO_BID;
        }
        if (count > few()) return;
        const uint32 words = Matrix{cells, count}.words();
        for (int64 t = own_thread(); t < words; t += grid_threads()) cells[t] = NO_BID;
    }

    // Vertices or components learn the numbers of their roots.  A turn has the number of the barrier at its end, and
    // that barrier returns the last turn in which some chain was too long.
    template <typename Meanwhile>
    __device__ __forceinline__ void learn(uint32 count, int32* number, const Meanwhile& meanwhile) {
        const auto next_turn = [&]() { return shared.barriers + 1; };
        const auto last_long_chain = [&]() { return read_behind_barrier(nullptr); };
        learn_numbers(count, up, number, &control[LAST_LONG_CHAIN], next_turn, meanwhile, last_long_chain);
    }

    // Where the list has no room for the `needed` pages less has to be light: lower the threshold, and list anew.
    __device__ __forceinline__ void list_fewer(uint32 needed) {
        lower_threshold(shared, pages.list, pages.room, needed);
        if (threadIdx.x == 0) {
            shared.filters = true;
            shared.batches = 0;
        }
        barrier();
        if (own_thread() == 0) *heavy_listed() = control[PAGES] = control[HUBS_HEAVY] = 0;
        barrier();
    }

    // ------------------------------------------------------------------ 1 and 2: vertices

    __device__ __forceinline__ void pick_lightest_arcs() {
        if (wanted != 0 && threadIdx.x / WARP == 0) {
            sample_vertices(graph.vertices, graph.offsets, graph.targets, control);
        }
        pick_row_minima(graph, static_cast<span_t>(shared.tile), &shared.batches, pick, link, first_row, hubs,
                        &control[HUBS_FIRST]);
        const uint32 long_rows = read_behind_barrier(&control[HUBS_FIRST]);
        if (threadIdx.x == 0) {
            shared.hubs = long_rows;
            shared.batches = 0;  // for the next that go through all rows
        }
        if (long_rows != 0) {
            pick_hub_minima(shared, graph, pick, link, hubs, long_rows);
            barrier();
        }
    }

    // Hook vertices along their arcs, and label them with their components; meanwhile the threshold is found.
    __device__ __forceinline__ void hook_vertices() {
        enter(HOOK);
        hook_along(shared, graph.vertices, VertexChoices{link, pick}, up, forest, control, &control[LIVE]);
        const auto note = [&]() { note_light_arcs(shared, graph, wanted, control); };
        live = grid_barrier_reading(shared, &control[ARRIVALS], &control[LIVE], note);
        Pick* const found = reinterpret_cast<Pick*>(chain);  // nobody needs hubs any more, nor the chain yet
        if (threadIdx.x == 0 && shared.filters) shared.filters = live > shared.cliques;
        __syncthreads();
        if (shared.filters) {
            const float part = live < shared.merging ? LESS_MERGED / 100.0f : 1;
            estimate_threshold(shared, graph, static_cast<uint64>(shared.light * part), found);
        }
        learn(graph.vertices, label, [&]() { forget_bids(live); });
        agree_on_threshold(shared, static_cast<uint64>(graph.arcs), found);
    }

    // ------------------------------------------------------------------ 3: light edges

    // List the edges of the warp's first or second span that join two components: light ones, or all.  The first spans
    // of all warps share the arcs before `parting`, the second, from the last warp on, those behind it: an edge is
    // listed in the row of its smaller end, so that the first rows list most.
    __device__ __forceinline__ void list_span(int which) {
        const uint64 warp = own_thread() / WARP, number = which == 0 ? warp : gridDim.x * WARPS - 1 - warp;
        const uint64 span = shared.spans[which], at = (which == 0 ? 0 : shared.parting) + number * span;
        uint64 to = static_cast<uint64>(graph.arcs);
        if (which == 0 && shared.parting < to) to = shared.parting;
        const count_t begin = static_cast<count_t>(at < to ? at : to), rest = static_cast<count_t>(to) - begin;
        const count_t end = begin + (rest < span ? rest : static_cast<count_t>(span));
        Lister lister = {graph, label, pages, begin, 0, 0, rest > 0 ? first_row[begin / shared.tile] : 0};
        if (shared.filters) {
            list_light(shared, graph, begin, end, lister);
        } else {
            list_all(graph, begin, end, lister);
        }
        if (lane_id() == 0) {
            shared.begin[threadIdx.x / WARP][which] = static_cast<slot_t>(begin);
            shared.listed[threadIdx.x / WARP][which] = lister.held;
        }
    }

    // List both, and again with a lower threshold until the list has room.  Returns what the warp holds of it.
    __device__ __forceinline__ Holding list_light_edges() {
        while (true) {
            enter(shared.round == 0 ? LIGHT_EDGES : HEAVY_EDGES);
#pragma unroll 1
            for (int which = 0; which < 2; ++which) list_span(which);
            __syncwarp();
            const uint32* const listed = shared.listed[threadIdx.x / WARP];
            const Holding held = {shared.begin[threadIdx.x / WARP], listed[0], listed[0] + listed[1]};
            const uint32 taken = read_behind_barrier(&control[PAGES]);
            if (taken <= pages.room) return held;
            list_fewer(taken);
        }
    }

    // ------------------------------------------------------------------ 4 and 6: rounds

    __device__ __forceinline__ void begin_rounds(Phase phase) {
        enter(phase);
        levels = 0;
        if (threadIdx.x == 0) shared.levels[0] = 0;
        __syncthreads();
    }

    // Begins after a barrier, so that nobody reads the last round's number any more.
    __device__ __forceinline__ void next_round() {
        if (threadIdx.x == 0) shared.round += 1;
        __syncthreads();
    }

    // The numbers that components got in the last round; nullptr before the first.
    __device__ __forceinline__ const int32* renumbered() const {
        return levels == 0 ? nullptr : chain + shared.levels[levels - 1];
    }

    // After a round, the components learn their new numbers and there are fewer.
    __device__ __forceinline__ void renumber() {
        barrier();
        if (own_thread() == 0) *live_after(shared.round + 1) = 0;  // last read two barriers ago
        uint32 roots = 0;  // which forget the bids at them meanwhile
        if (threadIdx.x == 0) roots = current(live_after(shared.round));
        learn(live, chain + shared.levels[levels], [&]() {
            if (threadIdx.x == 0) shared.live = roots;
            __syncthreads();
            forget_bids(shared.live);
        });
        levels += 1;
        if (threadIdx.x == 0) shared.levels[levels] = shared.levels[levels - 1] + live;
        __syncthreads();
        live = shared.live;
    }

    __device__ __forceinline__ void light_rounds(Holding held) {
        begin_rounds(shared.round == 0 ? LIGHT_ROUNDS : HEAVY_ROUNDS);
        while (live > few()) {
            held = bid_by_slots(pages, held, narrow, renumbered(), best_key);
            barrier();
            if (!narrow) {
                bid_again_by_slots(pages, held, best_key, best_id);
                barrier();
            }
            next_round();
            const ComponentChoices<Pages> choices = {narrow ? best_key : best_id, pages, narrow};
            hook_along(shared, live, choices, up, forest, control, live_after(shared.round));
            renumber();
        }
        if (live == 1) return;
        finish_on_matrix(shared, {cells, live}, NamedBySlot<Pages>{pages, held}, renumbered(), link, forest,
                         &control[FOREST], [&]() { barrier(); });
        if (own_thread() == 0) *live_after(shared.round + 1) = 0;
    }

    // Every vertex learns its component after these rounds; the live ones are numbered like the retired.
    __device__ __forceinline__ void spread_labels() {
        enter(SPREAD);
        for (int64 t = own_thread(); t < live; t += grid_threads()) {
            chain[shared.levels[levels] + t] = live > 1 ? shared.root[t] : 0;
        }
        levels += 1;
        const uint32 retired = read_behind_barrier(&control[FINALS]);
        shorten_chain(shared, levels == 1 ? live : shared.levels[1], chain, levels, static_cast<int32>(retired));
        barrier();
        spread(graph.vertices, label, chain);
        live += retired;
        forget_bids(live);
        barrier();
        if (own_thread() == 0) control[PAGES] = control[FINALS] = 0;
        if (threadIdx.x == 0) shared.filters = false;
    }

    // ------------------------------------------------------------------ 5: heavy edges

    // List the edges outside the giant component.  Returns how many there are, more than `most` if there is no room.
    __device__ __forceinline__ uint64 list_heavy_edges(int32 giant, count_t most) {
        enter(HEAVY_EDGES);
        Gatherer<count_t> gatherer = {shared.buffer[threadIdx.x / WARP], pages.list, most, heavy_listed(), 0};
        list_rows(shared, graph, label, giant, gatherer, hubs, &control[HUBS_HEAVY]);
        if (shared.hubs != 0) {
            list_hubs(graph, label, giant, gatherer, hubs, read_behind_barrier(&control[HUBS_HEAVY]));
        }
        gatherer.flush();
        barrier();
        return *static_cast<const volatile count_t*>(heavy_listed());
    }

    // Each block keeps a region of the list and compacts it in place, round by round.
    __device__ __forceinline__ void heavy_rounds(int32 giant, uint64 entries) {
        begin_rounds(HEAVY_ROUNDS);
        Edge* const region = pages.list + entries * blockIdx.x / gridDim.x;
        uint32 in_region = static_cast<uint32>(pages.list + entries * (blockIdx.x + 1) / gridDim.x - region);
        while (live > (PACKED ? dense : 1)) {
            in_region = compact_and_bid(shared, region, in_region, renumbered(), giant, best_key);
            barrier();
            if (!PACKED) {
                bid_again(region, in_region, best_key, best_id);
                barrier();
            }
            next_round();
            hook_by_edges(shared, live, region, in_region, best_key, best_id, up, forest, control,
                          live_after(shared.round));
            renumber();
        }
        if (live == 1) return;
        finish_on_matrix(shared, {cells, live}, NamedById(region, in_region), renumbered(), link, forest,
                         &control[FOREST], [&]() { barrier(); });
    }
};

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; `control` is all 0, and
// `next_control` when it has ended.
// `wanted` is how many arcs should be light if every vertex has arcs, 0 for all (then phases 5 and 6 are not needed),
// as it must be of fewer arcs than SAMPLES;
// `room` is how many pages the list has, at least one for each span and one more; if just arcs / PAGE + 1, there is a
// place for each slot; `dense` is from how many components on the rounds are made on a matrix, at most MOST_DENSE; 1
// for none.
// Writes forest; control[FOREST] is the number of its edges.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
filter_boruvka(int32 vertices, index_t arcs, uint64 wanted, const index_t* __restrict__ offsets,
               const int32* __restrict__ targets, const weight_t* __restrict__ weights, int32* label, index_t* pick,
               int32* link, int32* up, uint64* best_key, uint64* best_id, int32* chain, Edge* list, uint32 room,
               uint32* page_of, int32* first_row, int32* hubs, index_t* forest, uint32* control, uint32* next_control,
               uint64* timeline, uint64* cells, uint32 dense) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    const Pages pages = {list, room, page_of, &control[PAGES], room == static_cast<count_t>(arcs) / PAGE + 1};
    const bool narrow = sizeof(weight_key_t) == 4 && (INDEX_BITS == 32 || arcs < 0xffffffffll);
    if (threadIdx.x == 0) {
        shared.tile = shared.spans[0] = shared.spans[1] = span_length(static_cast<uint64>(arcs), 2);
        shared.parting = shared.tile * gridDim.x * WARPS;
        shared.barriers = shared.batches = shared.round = 0;
    }
    __syncthreads();
    Phases phases = {shared, graph, pages, wanted, label, pick, link, up, best_key, best_id, chain, first_row, hubs,
                     forest, control, timeline, cells, dense, narrow, 0, 0};
    phases.enter(ROW_MINIMA);
    clear_for_next(next_control, CONTROL_WORDS);
    phases.pick_lightest_arcs();
    phases.hook_vertices();
    while (true) {
        phases.light_rounds(phases.list_light_edges());
        if (!shared.filters) break;  // all edges were listed
        phases.spread_labels();
        const int32 giant = find_giant(shared, graph, label);
        const count_t most = static_cast<count_t>(room) * PAGE;
        const uint64 entries = phases.list_heavy_edges(giant, most);
        if (entries <= most) {
            phases.heavy_rounds(giant, entries);
            break;
        }
        phases.list_fewer(static_cast<uint32>(entries / PAGE));  // and list what is light now
    }
    if (own_thread() == 0) control[ROUNDS] = shared.round;
    phases.enter(END);
}
