/*
Phase 1 of filter_boruvka.cu: every vertex picks its lightest arc.  Rows are read by one lane, a group of lanes, a warp
or a block, by their length.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_ROW_MINIMA_CUH
#define GPUGRAPH_FILTER_BORUVKA_ROW_MINIMA_CUH

#include "filter_boruvka/base.cuh"

// The lightest arc of [begin, end), of which this lane sees every STRIDE-th quad.  Loads past the end are turned back
// to the last quad, so that they need no branch and can all be under way at once.
template <int STRIDE>
__device__ __forceinline__ Pick lightest_arc(const Graph& graph, index_t begin, index_t end, int lane) {
    Pick best = {NO_KEY, begin};  // no worse than the arc there
    if (begin == end) return NO_PICK;
    constexpr int FLIGHT = STRIDE == 1             ? SHORT_FLIGHT
                           : STRIDE == SMALL_GROUP ? SMALL_FLIGHT
                           : STRIDE == GROUP       ? GROUP_FLIGHT
                                                   : LONG_FLIGHT;
    const index_t last = (end - 1) / QUAD;
    for (index_t portion = begin / QUAD; portion <= last; portion += STRIDE * FLIGHT) {
        Quad<weight_t> found[FLIGHT];
#pragma unroll
        for (int i = 0; i < FLIGHT; ++i) {
            const index_t ahead = static_cast<index_t>(i) * STRIDE + lane;
            found[i] = load_quad(graph.weights, ahead < last - portion ? portion + ahead : last, graph.arcs);
        }
#pragma unroll
        for (int i = 0; i < FLIGHT; ++i) {
            const index_t ahead = static_cast<index_t>(i) * STRIDE + lane;
            const index_t first = (ahead < last - portion ? portion + ahead : last) * QUAD;
#pragma unroll
            for (int j = 0; j < QUAD; ++j) {
                const index_t arc = first + j;  // ascending, so that of equal weights the first is kept
                const weight_key_t key = order_key(found[i].value[j]);
                if (arc >= begin && arc < end && key < best.key) best = {key, arc};
            }
        }
    }
    return best;
}

// The lightest arcs of those of a warp's rows that are `waiting`, by LANES lanes for each.  All 32 lanes must call.
template <int LANES>
__device__ __forceinline__ void pick_by_groups(const Graph& graph, uint32 first, index_t begin, index_t end,
                                               unsigned waiting, index_t* pick) {
    while (waiting != 0) {
        unsigned mine = waiting;
        for (int group = 0; group < lane_id() / LANES; ++group) mine &= mine - 1;
        for (int group = 0; group < WARP / LANES; ++group) waiting &= waiting - 1;
        const int owner = mine == 0 ? 0 : first_lane(mine);
        const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
        const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
        Pick best = NO_PICK;
        if (mine != 0) best = lightest_arc<LANES>(graph, row_begin, row_end, lane_id() % LANES);
        best = group_lightest<LANES>(best);
        if (mine != 0 && lane_id() % LANES == 0) pick[first + owner] = best.arc;
    }
}

// Ask for the lines of array[begin, end), a lane for each.  All 32 lanes must call.
template <typename T>
__device__ __forceinline__ void prefetch_range(const T* array, index_t begin, index_t end) {
    constexpr int LINE = 128 / sizeof(T);
    for (index_t at = begin / LINE * LINE + lane_id() * LINE; at < end; at += WARP * LINE) prefetch_line(&array[at]);
}

// The lightest arc of every vertex; hubs are put off.  Notes the row in which every `tile` arcs begin.  A warp asks for
// its 32 rows before it reads them, for their targets too where every line is needed, and for the next rows' offsets.
__device__ void pick_row_minima(const Graph& graph, span_t tile, uint32* batches, index_t* pick, int32* link,
                                int32* tile_row, int32* hubs, uint32* hub_count) {
    const uint32 vertices = graph.vertices;
    for (uint32 first = next_batch<1>(batches); first < vertices; first = next_batch<1>(batches)) {
        const uint32 v = first + lane_id();
        index_t begin = graph.arcs, end = graph.arcs;
        if (v < vertices) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        const index_t length = end - begin;
        const uint32 next = first + gridDim.x * BLOCK + lane_id() * WARP;
        if (lane_id() < 2 && next <= vertices) prefetch_line(&graph.offsets[next]);
        const index_t from = __shfl_sync(FULL_MASK, begin, 0), to = __shfl_sync(FULL_MASK, end, WARP - 1);
        if (to - from <= WARP * MOST_AHEAD) prefetch_range(graph.weights, from, to);
        if (to - from <= WARP * TARGETS_AHEAD) prefetch_range(graph.targets, from, to);
        for (span_t t = (static_cast<count_t>(begin) + tile - 1) / tile; t * tile < static_cast<count_t>(end); ++t) {
            tile_row[t] = static_cast<int32>(v);
        }
        index_t arc = NO_ARC;
        if (v < vertices && length < SHORT_ROW) {
            arc = lightest_arc<1>(graph, begin, end, 0).arc;
            pick[v] = arc;
        }
        // Groups of lanes take several rows at a time, small ones more of them, with fewer lanes idle at their ends.
        unsigned waiting = __ballot_sync(FULL_MASK, length >= SHORT_ROW && length < MEDIUM_ROW);
        const bool longer = __any_sync(FULL_MASK, length >= LONGER_ROW && length < MEDIUM_ROW);
        if (longer || __popc(waiting) <= WARP / GROUP) {
            pick_by_groups<GROUP>(graph, first, begin, end, waiting, pick);
        } else {
            pick_by_groups<SMALL_GROUP>(graph, first, begin, end, waiting, pick);
        }
        for (waiting = __ballot_sync(FULL_MASK, length >= MEDIUM_ROW && length < HUB_ROW); waiting != 0;
             waiting &= waiting - 1) {
            const int owner = first_lane(waiting);
            const index_t row_begin = __shfl_sync(FULL_MASK, begin, owner);
            const index_t row_end = __shfl_sync(FULL_MASK, end, owner);
            const Pick best = group_lightest<WARP>(lightest_arc<WARP>(graph, row_begin, row_end, lane_id()));
            if (lane_id() == 0) pick[first + owner] = best.arc;
        }
        __syncwarp();  // each lane sees the pick of its own row
        if (v < vertices && length < HUB_ROW) {
            if (length >= SHORT_ROW) arc = pick[v];
            link[v] = arc == NO_ARC ? NO_LINK : graph.targets[arc];
        }
        note_hubs(hubs, hub_count, length >= HUB_ROW, static_cast<int32>(v));
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
            shared.key[threadIdx.x / WARP] = best.key;
            shared.arc[threadIdx.x / WARP] = best.arc;
        }
        __syncthreads();
        if (threadIdx.x != 0) continue;
        Pick lightest = NO_PICK;
        for (int warp = 0; warp < WARPS; ++warp) {
            const Pick theirs = {shared.key[warp], shared.arc[warp]};
            if (theirs < lightest) lightest = theirs;
        }
        pick[v] = lightest.arc;
        link[v] = graph.targets[lightest.arc];
    }
}

#endif
