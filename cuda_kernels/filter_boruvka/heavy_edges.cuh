/*
Phase 5 of filter_boruvka.cu: the component that most arcs lead to, and the list of edges that join two components, by
the rows of all vertices outside of it.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_HEAVY_EDGES_CUH
#define GPUGRAPH_FILTER_BORUVKA_HEAVY_EDGES_CUH

#include "filter_boruvka/base.cuh"

// The component that more than half of 32 sampled arcs lead to, or NO_GIANT.  All threads must call; the same in every
// block.
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
        const int winner = first_lane(__ballot_sync(FULL_MASK, votes == most));
        if (lane_id() == winner) shared.giant = most > WARP / 2 ? component : NO_GIANT;
    }
    __syncthreads();
    return shared.giant;
}

// A bit for each of the four arcs from `first` on that lies in [begin, end), as one of them does.
__device__ __forceinline__ uint32 bits_of_row(index_t first, index_t begin, index_t end) {
    const uint32 from = first < begin ? static_cast<uint32>(begin - first) : 0;
    const uint32 to = end - first < FOUR ? static_cast<uint32>(end - first) : FOUR;
    return (1u << to) - (1u << from);
}

// Look at this lane's four arcs from `first` on, of which those with a bit are of the row of u.  Edges to other
// components outside are listed; of those into the giant one the lightest is returned, for only the lightest of a row
// can be in the forest.  An edge outside is met twice, and counts once: if no component is giant, the one at its other
// end is not even read the other time.  All 32 lanes must call.
template <typename AnyGatherer>
__device__ __forceinline__ Pick look_outside(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                             int32 own, index_t first, uint32 bits, AnyGatherer& gatherer) {
    if (giant != NO_GIANT && bits != 0) prefetch_line(&graph.weights[first]);  // most lead there
    const Quad<int32> four = load_quad(graph.targets, first / FOUR, graph.arcs);
    uint32 leaving = 0, inward = 0;  // bits, for labels would spill: leads to another, and to the giant one
    int32 other[FOUR];
#pragma unroll
    for (int j = 0; j < FOUR; ++j) {
        const bool looks = (bits >> j & 1) != 0 && (lists_here(u, four.value[j]) || giant != NO_GIANT);
        other[j] = looks ? label[four.value[j]] : own;
    }
#pragma unroll
    for (int j = 0; j < FOUR; ++j) {
        const bool into = other[j] == giant;
        if (other[j] != own && (into || lists_here(u, four.value[j]))) leaving |= 1u << j;
        if (other[j] != own && into) inward |= 1u << j;
    }
    Pick lightest = NO_PICK;
#pragma unroll
    for (int j = 0; j < FOUR; ++j) {
        const bool leaves = (leaving >> j & 1) != 0, into = (inward >> j & 1) != 0;
        if (!__any_sync(FULL_MASK, leaves)) continue;
        const int32 v = four.value[j];
        const bool lists = leaves && !into;
        weight_key_t key = NO_KEY;
        if (leaves) key = order_key(graph.weights[first + j]);
        if (into && key < lightest.key) lightest = {key, first + j};
        gatherer.add(lists, {key, id_of(first + j, u, v), own, lists ? label[v] : own});
    }
    // A greatest weight has the key of NO_PICK and replaces none; where all weigh that, the first is the lightest.
    if (inward != 0 && lightest.arc == NO_ARC) lightest.arc = first + __ffs(inward) - 1;
    return lightest;
}

// List the edge along the arc of every lane that has one, from u outside the giant component into it.  All 32 lanes
// must call.
template <typename AnyGatherer>
__device__ __forceinline__ void list_lightest(const Graph& graph, int32 giant, int32 u, int32 own, const Pick& lightest,
                                              AnyGatherer& gatherer) {
    const bool found = lightest.arc != NO_ARC;
    if (!__any_sync(FULL_MASK, found)) return;
    edge_id_t id = 0;
    if (found) {
        const int32 v = graph.targets[lightest.arc];
#ifdef EDGES_BY_ENDS
        id = ends_of(u, v);
#else
        id = u < v ? lightest.arc : find_arc(graph.targets, graph.offsets[v], graph.offsets[v + 1], u);
#endif
    }
    gatherer.add(found, {lightest.key, id, own, giant});
}

// The lightest pick of the lane's row, whose picks lie in the lanes [begin, end); lanes of the same row lie side by
// side.  All 32 lanes must call.
__device__ __forceinline__ Pick lightest_of_rows(Pick mine, int row, int begin, int end) {
#pragma unroll
    for (int offset = 1; offset < WARP; offset *= 2) {
        const Pick theirs = {__shfl_up_sync(FULL_MASK, mine.key, offset), __shfl_up_sync(FULL_MASK, mine.arc, offset)};
        const int of = __shfl_up_sync(FULL_MASK, row, offset);
        if (lane_id() >= offset && of == row && theirs < mine) mine = theirs;
    }
    const int last = end > begin ? end - 1 : 0;
    Pick lightest = {__shfl_sync(FULL_MASK, mine.key, last), __shfl_sync(FULL_MASK, mine.arc, last)};
    if (end <= begin) lightest = NO_PICK;
    return lightest;
}

// List the edges of the lanes' rows, but of hubs, as if their arcs were one row, of which every lane takes four: so no
// lane waits for a longer row than its own.  Returns the lightest edge of the lane's row into the giant component.  All
// 32 lanes must call.
template <typename AnyGatherer>
__device__ __forceinline__ Pick list_own_rows(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                              int32 own, index_t begin, index_t end, AnyGatherer& gatherer) {
    const bool listed = end > begin && end - begin < HUB_ROW;
    const int32 fours = listed ? static_cast<int32>((end - 1) / FOUR - begin / FOUR) + 1 : 0;
    const int32 after = warp_scan(fours), before = after - fours;  // the lane's row among all
    const int32 all = __shfl_sync(FULL_MASK, after, WARP - 1);
    Pick lightest = NO_PICK;
    for (int32 first = 0; first < all; first += WARP) {
        const bool valid = first + lane_id() < all;
        const int32 at = valid ? first + lane_id() : all - 1;
        const int row = lanes_up_to(at, after);  // rows that end at or before it
        const index_t arc = (__shfl_sync(FULL_MASK, begin / FOUR - before, row) + at) * FOUR;
        const uint32 bits = bits_of_row(arc, __shfl_sync(FULL_MASK, begin, row), __shfl_sync(FULL_MASK, end, row));
        const Pick into = look_outside(graph, label, giant, __shfl_sync(FULL_MASK, u, row),
                                       __shfl_sync(FULL_MASK, own, row), arc, valid ? bits : 0, gatherer);
        if (!__any_sync(FULL_MASK, into.arc != NO_ARC)) continue;
        const int32 from = before - first, to = after - first;
        const Pick mine = lightest_of_rows(into, row, from > 0 ? from : 0, to < WARP ? to : WARP);
        if (mine < lightest) lightest = mine;
    }
    return lightest;
}

// List the edges of a hub, a block together.  The first lane returns the lightest that the warp has seen into the giant
// component.  All threads must call.
template <typename AnyGatherer>
__device__ __forceinline__ Pick list_hub(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                         int32 own, index_t begin, index_t end, AnyGatherer& gatherer) {
    Pick lightest = NO_PICK;
    for (index_t portion = begin / FOUR * FOUR; portion < end; portion += BLOCK * FOUR) {
        const index_t ahead = threadIdx.x * FOUR;
        const bool valid = ahead < end - portion;
        const index_t first = valid ? portion + ahead : portion;
        const uint32 bits = bits_of_row(first, begin, end);
        const Pick mine = look_outside(graph, label, giant, u, own, first, valid ? bits : 0, gatherer);
        if (mine < lightest) lightest = mine;
    }
    lightest = group_lightest<WARP>(lightest);
    if (lane_id() != 0) lightest = NO_PICK;
    return lightest;
}

// List the edges of the rows of vertices outside the giant component, a lane each, or NO_VERTEX; hubs are put off.  All
// 32 lanes must call.
template <typename AnyGatherer>
__device__ __forceinline__ void list_rows_of(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 v,
                                             AnyGatherer& gatherer, int32* hubs, uint32* hub_count) {
    index_t begin = 0, end = 0;
    int32 own = DEAD;
    if (v != NO_VERTEX) {
        own = label[v];
        begin = graph.offsets[v];
        end = graph.offsets[v + 1];
    }
    note_hubs(hubs, hub_count, end - begin >= HUB_ROW, v);
    const Pick lightest = list_own_rows(graph, label, giant, v, own, begin, end, gatherer);
    list_lightest(graph, giant, v, own, lightest, gatherer);
}

// List the edges of all rows outside the giant component.  Few are, if there is one: a warp looks at many labels and
// gathers those vertices, until it has one for every lane.
template <typename AnyGatherer>
__device__ void list_rows(Shared& shared, const Graph& graph, const int32* __restrict__ label, int32 giant,
                          AnyGatherer& gatherer, int32* hubs, uint32* hub_count) {
    int32* const outside = shared.outside[threadIdx.x / WARP];
    uint32 gathered = 0;
    bool last = false;
    while (!last) {
        const uint32 first = next_batch<SEEN>(&shared.batches);
        last = first >= static_cast<uint32>(graph.vertices);
        int32 component[SEEN];
        load_each(label, first + lane_id(), grid_threads(), graph.vertices, DEAD, component);
#pragma unroll
        for (int k = 0; k < SEEN; ++k) {
            const bool found = component[k] != DEAD && component[k] != giant;
            const unsigned finders = __ballot_sync(FULL_MASK, found);
            const uint32 place = gathered + __popc(finders & lanes_before());
            if (found) outside[place] = static_cast<int32>(first + k * gridDim.x * BLOCK + lane_id());
            gathered += __popc(finders);
        }
        __syncwarp();
        while (gathered >= (last ? 1 : WARP)) {
            const uint32 taken = gathered < WARP ? gathered : WARP;
            gathered -= taken;
            const int32 v = lane_id() < taken ? outside[gathered + lane_id()] : NO_VERTEX;
            list_rows_of(graph, label, giant, v, gatherer, hubs, hub_count);
        }
        __syncwarp();
    }
}

// List the edges of the hubs that were put off, a block for each.
template <typename AnyGatherer>
__device__ void list_hubs(const Graph& graph, const int32* __restrict__ label, int32 giant, AnyGatherer& gatherer,
                          const int32* hubs, uint32 hub_count) {
    for (uint32 h = blockIdx.x; h < hub_count; h += gridDim.x) {
        const int32 u = hubs[h];
        const int32 own = label[u];
        const Pick mine = list_hub(graph, label, giant, u, own, graph.offsets[u], graph.offsets[u + 1], gatherer);
        list_lightest(graph, giant, u, own, mine, gatherer);
    }
}

#endif
