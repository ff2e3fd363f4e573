/*
The phases of filter_boruvka.cu, in the order in which they follow each other.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_PHASES_CUH
#define GPUGRAPH_FILTER_BORUVKA_PHASES_CUH

#include "filter_boruvka/row_minima.cuh"
#include "filter_boruvka/hooking.cuh"
#include "filter_boruvka/listing.cuh"
#include "filter_boruvka/rounds.cuh"
#include "filter_boruvka/matrix.cuh"

// The arguments of the kernel, and what its phases share.  All threads must call all functions but enter() and those
// that only return something.
struct Boruvka {
    Shared& shared;
    const Graph& graph;
    const Pages& pages;
    uint64 wanted;  // arcs that should be light, 0 for all
    int32* label;
    index_t* pick;
    int32 *link, *up;
    uint64 *best_key, *best_id;
    int32 *chain, *first_row, *hubs;
    index_t* forest;
    uint32* control;
    uint64 *timeline, *cells;
    bool narrow;    // weight and slot fit in one word
    uint32 few;     // components from which on the rounds are made on a matrix; a bid on it is one word
    uint32 chases;  // calls of learn_number()
    uint32 live;    // components that are not retired
    uint32 levels;  // rounds whose numbers are in the chain

    // ------------------------------------------------------------------ what the phases use

    __device__ __forceinline__ void barrier() const { grid_barrier(&control[ARRIVALS], &shared.barriers); }

    // A phase that is entered again, because the list was too short, goes on.
    __device__ __forceinline__ void enter(Phase phase) const {
        if (own_thread() == 0 && timeline[phase] == 0) timeline[phase] = device_nanoseconds();
    }

    __device__ __forceinline__ int64* listed() const { return reinterpret_cast<int64*>(&control[ENTRIES]); }
    __device__ __forceinline__ uint64* outside() const { return reinterpret_cast<uint64*>(&control[OUTSIDE]); }
    __device__ __forceinline__ uint32* live_after(uint32 rounds) const { return &control[LIVE + rounds % 3]; }

    // Repeat learn_number until every chain has been followed to its root.
    __device__ __forceinline__ void learn(uint32 count, int32* number) {
        uint32 more = 1;
        while (more != 0) {
            uint32* unfinished = &control[UNFINISHED + chases % 3];
            learn_number(count, up, number, unfinished);
            barrier();
            more = current(unfinished);
            // A barrier lies between the last reader of this word and its reset, and another before its next use.
            if (own_thread() == 0) control[UNFINISHED + (chases + 2) % 3] = 0;
            chases += 1;
        }
    }

    __device__ __forceinline__ void forget_bids(uint32 count) const {
        for (int64 t = own_thread(); t < count; t += grid_threads()) {
            best_key[t] = NO_BID;
            if (!PACKED) best_id[t] = NO_BID;
        }
        if (count > few) return;
        const uint32 words = Matrix{cells, count}.words();
        for (int64 t = own_thread(); t < words; t += grid_threads()) cells[t] = NO_BID;
    }

    __device__ __forceinline__ void begin_rounds() {
        levels = 0;
        if (threadIdx.x == 0) shared.levels[0] = 0;
        __syncthreads();
    }

    // Begins after a barrier, so that nobody reads the last round's number any more.
    __device__ __forceinline__ void next_round() const {
        if (threadIdx.x == 0) shared.round += 1;
        __syncthreads();
    }

    // What became of the components in the last round; nullptr before the first.
    __device__ __forceinline__ const int32* renumbered() const {
        return levels == 0 ? nullptr : chain + shared.levels[levels - 1];
    }

    // After a round, the components learn their new numbers and there are fewer.
    __device__ __forceinline__ void renumber() {
        if (own_thread() == 0) *live_after(shared.round + 1) = 0;  // last read two barriers ago
        learn(live, chain + shared.levels[levels]);
        levels += 1;
        if (threadIdx.x == 0) shared.levels[levels] = shared.levels[levels - 1] + live;
        __syncthreads();
        live = current(live_after(shared.round));
    }

    // ------------------------------------------------------------------ phases 1 and 2

    // Every vertex picks its lightest arc.
    __device__ __forceinline__ void pick_minima(uint32* next_control) const {
        if (threadIdx.x == 0) {
            shared.span = span_length(graph.arcs);
            shared.barriers = shared.batches = shared.round = 0;
        }
        __syncthreads();
        enter(ROW_MINIMA);
        clear_for_next(next_control, CONTROL_WORDS);
        if (wanted != 0) note_light_arcs(shared, graph, wanted);
        if (threadIdx.x == 0) shared.filters = wanted != 0 && shared.light != 0;
        pick_row_minima(graph, static_cast<count_t>(shared.span), &shared.batches, pick, link, first_row, hubs,
                        &control[HUBS_FIRST]);
        barrier();
        if (threadIdx.x == 0) shared.batches = 0;  // for the next that go through all rows
        if (current(&control[HUBS_FIRST]) != 0) {
            pick_hub_minima(shared, graph, pick, link, hubs, current(&control[HUBS_FIRST]));
            barrier();
        }
    }

    // Vertices hook along the arcs that they have picked, and learn the numbers of their components.
    __device__ __forceinline__ void hook_vertices() {
        enter(HOOK);
        hook_along_links(shared, graph.vertices, true, pick, link, up, best_key, best_id, forest, control,
                         &control[LIVE]);
        barrier();
        forget_bids(current(&control[LIVE]));
        learn(graph.vertices, label);
        live = current(&control[LIVE]);
    }

    // ------------------------------------------------------------------ phases 3 and 4, on pages in order

    __device__ __forceinline__ void choose_threshold() const {
        if (!shared.filters) return;
        const bool merged = live * static_cast<uint64>(MERGED) < shared.active;
        const float part = LESS_MERGED / 100.0f;
        sample_threshold(shared, graph, merged ? static_cast<uint64>(shared.light * part) : shared.light);
    }

    // List the edges of the warp's two spans that join two components: the light ones, or all.  False if the list has
    // no room for them; then fewer will be light.
    __device__ __forceinline__ bool list_spans(Holding& held) const {
        enter(shared.round == 0 ? LIGHT_EDGES : HEAVY_EDGES);
#pragma unroll 1
        for (int which = 0; which < 2; ++which) {
            const uint64 number = span_number(which), base = number * shared.span;
            const uint64 rest = static_cast<uint64>(graph.arcs) - base;
            const bool any = base < static_cast<uint64>(graph.arcs);
            const count_t begin = static_cast<count_t>(any ? base : 0);
            const count_t end = static_cast<count_t>(any ? base + (shared.span < rest ? shared.span : rest) : 0);
            Lister lister = {graph, label, pages, base, 0, 0, any ? first_row[number] : 0, shared.round != 0};
            if (shared.filters) {
                list_light(shared, graph, begin, end, lister);
            } else {
                list_all(graph, begin, end, lister);
            }
            if (lane_id() == 0) {
                shared.begin[threadIdx.x / WARP][which] = static_cast<slot_t>(base);
                shared.listed[threadIdx.x / WARP][which] = lister.held;
            }
        }
        __syncwarp();
        held.begin = shared.begin[threadIdx.x / WARP];
        held.first = shared.listed[threadIdx.x / WARP][0];
        held.edges = held.first + shared.listed[threadIdx.x / WARP][1];
        barrier();
        const uint32 taken = current(&control[PAGES]);
        if (taken > pages.room) {
            lower_threshold(shared, pages.list, pages.room, taken);
            if (threadIdx.x == 0) shared.filters = true;
            barrier();
            if (own_thread() == 0) control[PAGES] = 0;
            barrier();
            return false;
        }
        return true;
    }

    // Rounds until no listed edge joins two components, the last of them on a matrix.
    __device__ __forceinline__ void make_rounds_by_slots(Holding& held) {
        enter(shared.round == 0 ? LIGHT_ROUNDS : HEAVY_ROUNDS);
        begin_rounds();
        while (live > few) {
            held = bid_by_slots(pages, held, narrow, renumbered(), best_key);
            barrier();
            if (!narrow) {
                bid_again_by_slots(pages, held, best_key, best_id);
                barrier();
            }
            next_round();
            hook_by_slots(shared, live, pages, narrow, best_key, best_id, up, forest, control,
                          live_after(shared.round));
            barrier();
            forget_bids(current(live_after(shared.round)));
            renumber();
        }
        if (live > 1) {
            const Matrix matrix = {cells, live};
            fill_matrix(pages, held, renumbered(), matrix);
            barrier();
            const uint32 rounds = finish_on_matrix(shared, matrix, pages, link, forest, &control[FOREST],
                                                   [&]() { barrier(); });
            if (threadIdx.x == 0) shared.round += rounds;
            if (own_thread() == 0) *live_after(shared.round + 1) = 0;
        }
    }

    // Every vertex learns its component after these rounds; the live ones are numbered like the retired.
    __device__ __forceinline__ void spread_numbers() {
        enter(SPREAD);
        for (int64 t = own_thread(); t < live; t += grid_threads()) {
            chain[shared.levels[levels] + t] = live > 1 ? shared.root[t] : 0;
        }
        levels += 1;
        barrier();
        const uint32 last = current(&control[FINALS]);
        __syncthreads();
        shorten_chain(shared, levels == 1 ? live : shared.levels[1], chain, levels, static_cast<int32>(last));
        barrier();
        spread(graph.vertices, label, chain);
        live += last;
        forget_bids(live);
        barrier();
    }

    // ------------------------------------------------------------------ phases 5 and 6, around the giant component

    // List the heavy edges that join two components.  False if none is giant, or the list may have no room for the rows
    // outside of it; then all spans have to be listed.
    __device__ __forceinline__ bool list_outside_giant() const {
        if (own_thread() == 0) control[PAGES] = control[FINALS] = 0;
        if (threadIdx.x == 0) shared.filters = false;
        const int32 giant = find_giant(shared, graph, label);
        if (giant != NO_GIANT) count_outside(graph, label, giant, outside());
        barrier();
        const uint64 outside_arcs = *static_cast<const volatile uint64*>(outside());
        if (giant == NO_GIANT || outside_arcs > static_cast<uint64>(pages.room) * PAGE) {
            barrier();
            if (own_thread() == 0) *outside() = 0;
            return false;
        }
        enter(HEAVY_EDGES);
        Gatherer gatherer = {shared, 0, pages.list, listed()};
        list_rows(shared, graph, label, giant, gatherer, hubs, &control[HUBS_HEAVY]);
        if (current(&control[HUBS_FIRST]) != 0) {
            barrier();
            list_hubs(graph, label, giant, gatherer, hubs, current(&control[HUBS_HEAVY]));
        }
        gatherer.flush();
        barrier();
        return true;
    }

    // Rounds on them: each block keeps a region of the list and compacts it in place, round by round.
    __device__ __forceinline__ void make_rounds_by_ids() {
        enter(HEAVY_ROUNDS);
        const int64 entries = *static_cast<const volatile int64*>(listed());
        Edge* const region = pages.list + entries * blockIdx.x / gridDim.x;
        uint32 in_region = static_cast<uint32>(pages.list + entries * (blockIdx.x + 1) / gridDim.x - region);
        begin_rounds();
        while (live > 1) {
            for (int64 t = own_thread(); t < live; t += grid_threads()) link[t] = NO_LINK;
            in_region = compact_and_bid(shared, region, in_region, renumbered(), best_key);
            barrier();
            if (!PACKED) {
                bid_again(region, in_region, best_key, best_id);
                barrier();
            }
            link_components(region, in_region, best_key, best_id, pick, link);
            barrier();
            next_round();
            hook_along_links(shared, live, false, pick, link, up, best_key, best_id, forest, control,
                             live_after(shared.round));
            barrier();
            renumber();
        }
    }
};

#endif
