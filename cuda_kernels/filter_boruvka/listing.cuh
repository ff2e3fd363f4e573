/*
Phases 3 and 5 of filter_boruvka.cu: the edges that join two components are written to the list, either those below a
threshold (or all), by warps that go through spans of arcs, or those of all rows but the giant component's.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_LISTING_CUH
#define GPUGRAPH_FILTER_BORUVKA_LISTING_CUH

#include "filter_boruvka/base.cuh"

// Note how many arcs should be light: the part of `wanted` that falls on vertices with arcs, at least 1.  Where that is
// about half of all arcs two lists cost more than one, and 0 is noted: all are listed at once.  Where the
// neighbours of a vertex are neighbours of each other, many light edges lie inside a component, and more of them are
// needed before one is giant.  All threads must call; the same in every block, for all draw the same sample.
__device__ void note_light_arcs(Shared& shared, const Graph& graph, uint64 wanted) {
    const uint64 hash = (threadIdx.x + 1) * 0x9E3779B97F4A7C15ull;
    const uint64 stratum = static_cast<uint64>(graph.vertices) / SAMPLES + 1;
    const uint64 at = threadIdx.x * static_cast<uint64>(graph.vertices) / SAMPLES + (hash >> 32) % stratum;
    const int32 v = at < static_cast<uint64>(graph.vertices) ? static_cast<int32>(at) : graph.vertices - 1;
    const index_t begin = graph.offsets[v], degree = graph.offsets[v + 1] - begin;
    const int has_arcs = __syncthreads_count(degree > 0);
    const float share = static_cast<float>(has_arcs) / SAMPLES;
    const float few = wanted * share;
    if (SPARSE * graph.vertices * share > graph.arcs) {
        if (threadIdx.x == 0) shared.light = 0;
        return;
    }
    bool closed = false;
    if (degree >= 2) {
        const index_t first = static_cast<index_t>((hash >> 20) % static_cast<uint64>(degree));
        const index_t step = static_cast<index_t>(1 + (hash >> 40) % static_cast<uint64>(degree - 1));
        const int32 x = graph.targets[begin + first], y = graph.targets[begin + (first + step) % degree];
        closed = find_arc(graph.targets, graph.offsets[x], graph.offsets[x + 1], y) != static_cast<index_t>(-1);
    }
    const int wedges = __syncthreads_count(degree >= 2);
    const bool clustered = __syncthreads_count(closed) > CLUSTERED * wedges;
    const float light = clustered ? MORE_CLUSTERED * few : few;
    const float most = MOST_LIGHT * graph.arcs;
    if (threadIdx.x == 0) {
        shared.active = static_cast<uint64>(graph.vertices) * has_arcs / SAMPLES;
        shared.light = static_cast<uint64>(light < most ? light : most) + 1;
    }
}

// Take the pick of `rank`, the least having rank 0, among those that the threads of the block bring as the threshold.
// They are told apart bit by bit, the highest first, until one is left, or several that are equal.  All threads must
// call.
__device__ void take_threshold(Shared& shared, const Pick& mine, uint32 rank) {
    if (rank >= SAMPLES) rank = SAMPLES - 1;
    uint32 left = SAMPLES;  // that agree with the one wanted in all bits so far
    bool agrees = true;
    const auto tell_apart = [&](bool bit) {
        const uint32 low = __syncthreads_count(agrees && !bit);
        const bool wanted = rank >= low;  // its bit
        agrees = agrees && bit == wanted;
        left = wanted ? left - low : low;
        if (wanted) rank -= low;
    };
#pragma unroll 1
    for (int bit = 8 * sizeof(weight_key_t) - 1; bit >= 0 && left > 1; --bit) tell_apart(mine.key >> bit & 1);
#pragma unroll 1
    for (int bit = INDEX_BITS - 1; bit >= 0 && left > 1; --bit) tell_apart(mine.arc >> bit & 1);
    if (agrees) shared.threshold = mine;  // race-allowed: all that do write the same
    __syncthreads();
}

// The threshold below which about `wanted` of all arcs lie, as this block finds it: the quantile of a sample of its
// own.  It is left in `found`, which has a place for each of the first WARP blocks.  All threads must call.
__device__ void estimate_threshold(Shared& shared, const Graph& graph, uint64 wanted, Pick* found) {
    const uint64 arcs = static_cast<uint64>(graph.arcs), stratum = arcs / SAMPLES;
    const uint64 jitter = (static_cast<uint64>(own_thread() + 1) * 0x9E3779B97F4A7C15ull >> 32) % stratum;
    const index_t arc = static_cast<index_t>(threadIdx.x * stratum + jitter);
    take_threshold(shared, {order_key(graph.weights[arc]), arc}, static_cast<uint32>(wanted * SAMPLES / arcs));
    if (threadIdx.x == 0 && blockIdx.x < WARP) found[blockIdx.x] = shared.threshold;
}

// Where edges are held back, take the median of what the first blocks have found.  The sample of one tells how many
// arcs are light to a fifth or so, all together to a twentieth.  Each lane of a warp counts how many are less than its
// own.  All threads must call; the same in every block.
__device__ void agree_on_threshold(Shared& shared, const Pick* found) {
    if (shared.filters && threadIdx.x < WARP) {
        const int count = gridDim.x < WARP ? gridDim.x : WARP;
        const Pick mine = found[lane_id() % count];
        int before = 0;
        for (int lane = 0; lane < count; ++lane) {
            const Pick theirs = {__shfl_sync(FULL_MASK, mine.key, lane), __shfl_sync(FULL_MASK, mine.arc, lane)};
            before += theirs < mine || (!(mine < theirs) && lane < lane_id());
        }
        if (lane_id() < count && before == count / 2) shared.threshold = mine;
    }
    __syncthreads();
}

// Where more edges were found than the list has room for: the threshold below which half of the room will be needed,
// the quantile of a sample of those listed, the first on each page.  It is below the last threshold, for the heaviest
// of them is not.  All threads must call; the same in every block.
__device__ void lower_threshold(Shared& shared, const Edge* list, uint32 pages, uint32 found) {
    const uint32 sample = static_cast<uint32>(own_thread() % SAMPLES);  // the thread, but computed here and not before
    const Edge& edge = list[static_cast<int64>(pages) * sample / SAMPLES * PAGE];
    const uint64 half = static_cast<uint64>(pages) * (SAMPLES / 2);
    take_threshold(shared, {edge.key, static_cast<index_t>(edge.id)}, static_cast<uint32>(half / found));
}

// The rows of ascending arcs, LISTED a lane, if `row` is at or before the first of them: looks at the ends of the next
// WARP rows at a time.  Leaves the row of the last arc in `row`, the same in all lanes.  All 32 lanes must call.
__device__ __forceinline__ void rows_ahead(const Graph& graph, int32& row, const index_t (&arc)[LISTED],
                                           const bool (&valid)[LISTED], int32 (&tail)[LISTED]) {
    constexpr int WINDOWS = 4;  // few arcs of one look lie farther apart
    bool found[LISTED];
#pragma unroll
    for (int k = 0; k < LISTED; ++k) found[k] = !valid[k];
    int32 first = row;
    for (int window = 0; window < WINDOWS; ++window, first += WARP) {
        const bool there = lane_id() < graph.vertices - 1 - first;
        const index_t end = graph.offsets[there ? first + 1 + lane_id() : graph.vertices];
        const index_t last = __shfl_sync(FULL_MASK, end, WARP - 1);
        bool missing = false;
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            int passed = 0;  // rows of these that end at or before the arc
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2) {
                if (__shfl_sync(FULL_MASK, end, passed + step - 1) <= arc[k]) passed += step;
            }
            if (found[k]) continue;
            tail[k] = first + passed;
            found[k] = arc[k] < last;
            missing |= !found[k];
        }
        if (!__any_sync(FULL_MASK, missing)) break;
    }
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        if (!found[k]) tail[k] = row_of_arc(graph.offsets, arc[k], first, graph.vertices - 1);
        const unsigned there = __ballot_sync(FULL_MASK, valid[k]);
        if (there != 0) row = __shfl_sync(FULL_MASK, tail[k], __popc(there) - 1);
    }
}

// A warp that lists edges of its span of arcs, in their order.
struct Lister {
    const Graph& graph;
    const int32* label;
    Pages pages;
    uint64 base;  // the slot of the first edge
    uint32 held;  // edges listed
    uint32 page;  // of the last of them
    int32 row;    // of the last arc looked at, or one before

    // Lists those of the arcs, LISTED a lane and ascending, that join two components; each edge by its first arc.
    // All 32 lanes must call.
    __device__ __forceinline__ void look_at(const index_t (&arc)[LISTED], const bool (&valid)[LISTED]) {
        int32 head[LISTED], tail[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) head[k] = valid[k] ? graph.targets[arc[k]] : 0;
        rows_ahead(graph, row, arc, valid, tail);
        Edge edge[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            edge[k].a = edge[k].b = 0;
            if (!valid[k] || tail[k] > head[k]) continue;
            const edge_id_t id = id_of(arc[k], tail[k], head[k]);
            edge[k] = {order_key(graph.weights[arc[k]]), id, label[tail[k]], label[head[k]]};
        }
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            const bool found = edge[k].a != edge[k].b;
            const unsigned finders = __ballot_sync(FULL_MASK, found);
            const uint32 slot = held + __popc(finders & lanes_before()), before = page;
            held += __popc(finders);
            page = pages.reach(base, held - __popc(finders), held, page);
            if (!found || page >= pages.room) continue;
            const uint32 on = slot / PAGE == (held - 1) / PAGE ? page : before;
            pages.list[static_cast<int64>(on) * PAGE + slot % PAGE] = edge[k];
        }
    }
};

// How many arcs a span has: as many as all others, but for the last.  There are two for each warp.
__device__ __forceinline__ uint64 span_length(index_t arcs) {
    const uint64 wanted = static_cast<uint64>(gridDim.x) * WARPS * 2;
    const uint64 spans = wanted < MOST_SPANS ? wanted : MOST_SPANS;
    const uint64 even = ((static_cast<uint64>(arcs) + spans - 1) / spans + PAGE - 1) / PAGE * PAGE;
    return even > TILE ? even : TILE;
}

// The number of the first or second span of this warp.  One is as far from the first arc as the other from the last:
// an edge is listed in the row of its smaller end, so that the first rows list most.
__device__ __forceinline__ uint64 span_number(int which) {
    const uint64 warp = own_thread() / WARP;
    return which == 0 ? warp : static_cast<uint64>(gridDim.x) * (2 * WARPS) - 1 - warp;
}

// List all edges of the warp's arcs [begin, end) that join two components.
__device__ void list_all(const Graph& graph, count_t begin, count_t end, Lister& lister) {
    constexpr int LINE = 128 / sizeof(int32);
    for (count_t portion = begin; portion < end; portion += WARP * LISTED) {
        const count_t ahead = portion + AHEAD * WARP * LISTED + lane_id() * LINE;
        if (lane_id() < WARP * LISTED / LINE && ahead < end) prefetch_line(&graph.targets[ahead]);
        if (lane_id() == 0 && lister.row < graph.vertices - ROWS_AHEAD) {
            prefetch_line(graph.offsets + lister.row + ROWS_AHEAD);
        }
        index_t arc[LISTED];
        bool valid[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            valid[k] = k * WARP + lane_id() < end - portion;
            arc[k] = static_cast<index_t>(valid[k] ? portion + k * WARP + lane_id() : portion);
        }
        lister.look_at(arc, valid);
    }
}

// List those up to the threshold: all weights stream by, and only the few arcs that are light are looked at.
__device__ void list_light(Shared& shared, const Graph& graph, count_t begin, count_t end, Lister& lister) {
    const Pick threshold = shared.threshold;
    uint32* const positions = shared.positions[threadIdx.x / WARP];
    uint32 pending = 0;
    const auto look_at = [&](uint32 from, uint32 count) {
        index_t arc[LISTED];
        bool valid[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            valid[k] = k * WARP + lane_id() < count;
            arc[k] = valid[k] ? static_cast<index_t>(begin + positions[from + k * WARP + lane_id()]) : 0;
        }
        lister.look_at(arc, valid);
    };
    for (count_t portion = begin; portion < end; portion += STREAMED * WARP * QUAD) {
        const index_t quad = static_cast<index_t>(portion / QUAD) + lane_id();
        const index_t last = static_cast<index_t>((end - 1) / QUAD);
        Quad streamed[STREAMED];
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            streamed[i] = load_quad(graph, quad + i * WARP < last ? quad + i * WARP : last);
        }
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            bool light[QUAD];
            uint32 place = pending;
#pragma unroll
            for (int j = 0; j < QUAD; ++j) {
                const index_t arc = (quad + i * WARP) * QUAD + j;
                const Pick mine = {order_key(streamed[i].weight[j]), arc};
                light[j] = static_cast<count_t>(arc) < end && !(threshold < mine);
                const unsigned lights = __ballot_sync(FULL_MASK, light[j]);
                place += __popc(lights & lanes_before());
                pending += __popc(lights);
            }
#pragma unroll
            for (int j = 0; j < QUAD; ++j) {
                if (light[j]) positions[place++] = static_cast<uint32>((quad + i * WARP) * QUAD + j - begin);
            }
        }
        __syncwarp();
        uint32 looked = 0;
        for (; pending - looked >= WARP * LISTED; looked += WARP * LISTED) look_at(looked, WARP * LISTED);
        if (looked == 0) continue;
        // The rest moves to the front.
        uint32 rest[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            const uint32 i = looked + k * WARP + lane_id();
            if (i < pending) rest[k] = positions[i];
        }
        __syncwarp();
        pending -= looked;
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            if (k * WARP + lane_id() < pending) positions[k * WARP + lane_id()] = rest[k];
        }
        __syncwarp();
    }
    look_at(0, pending);
}

// Look at arcs of rows outside the giant component, LISTED a lane.  Edges to other components outside are listed; those
// into the giant one are left in `into`, for of these only the lightest of a row can be in the forest.  An edge outside
// is met twice, and counts once: if no component is giant, the one at its other end is not even read the other time.
// All 32 lanes must call.
template <typename AnyGatherer>
__device__ __forceinline__ void look_outside(const Graph& graph, const int32* __restrict__ label, int32 giant,
                                             const index_t (&arc)[LISTED], const bool (&valid)[LISTED],
                                             const int32 (&u)[LISTED], const int32 (&own)[LISTED], Pick (&into)[LISTED],
                                             AnyGatherer& gatherer) {
    int32 target[LISTED], other[LISTED];
    weight_t weight[LISTED];
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        target[k] = graph.targets[arc[k]];
        if (giant != NO_GIANT) weight[k] = graph.weights[arc[k]];  // most lead there
    }
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        const bool here = lists_here(u[k], target[k]);
        other[k] = valid[k] && (here || giant != NO_GIANT) ? label[target[k]] : own[k];
        if (other[k] != giant && !here) other[k] = own[k];
    }
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        if (giant == NO_GIANT && other[k] != own[k]) weight[k] = graph.weights[arc[k]];
    }
    gatherer.reserve(LISTED);
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        const bool leaves = other[k] != own[k];
        Edge edge;
        if (leaves) edge = {order_key(weight[k]), id_of(arc[k], u[k], target[k]), own[k], other[k]};
        into[k] = NO_PICK;
        if (leaves && other[k] == giant) into[k] = {edge.key, arc[k]};
        gatherer.add(leaves && other[k] != giant, edge);
    }
}

// List the edge along the arc of every lane that has one, from u outside the giant component into it.  All 32 lanes
// must call.
template <typename AnyGatherer>
__device__ __forceinline__ void list_lightest(const Graph& graph, int32 giant, int32 u, int32 own, const Pick& lightest,
                                              AnyGatherer& gatherer) {
    const bool found = lightest.arc != NO_ARC;
    if (!__any_sync(FULL_MASK, found)) return;
    Edge edge;
    if (found) {
        const int32 v = graph.targets[lightest.arc];
#ifdef EDGES_BY_ENDS
        const edge_id_t id = ends_of(u, v);
#else
        const index_t id =
            u < v ? lightest.arc : find_arc(graph.targets, graph.offsets[v], graph.offsets[v + 1], u);
#endif
        edge = {lightest.key, id, own, giant};
    }
    gatherer.reserve(1);
    gatherer.add(found, edge);
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

// List the edges of the lanes' rows, but of hubs, as if their arcs were one row: so no lane waits for a longer row than
// its own.  Returns the lightest edge of the lane's row into the giant component.  All 32 lanes must call.
template <typename AnyGatherer>
__device__ __forceinline__ Pick list_own_rows(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                              int32 own, index_t begin, index_t end, AnyGatherer& gatherer) {
    const int32 length = end - begin < HUB_ROW ? static_cast<int32>(end - begin) : 0;
    const int32 after = warp_scan(length), before = after - length;  // the lane's row among all arcs
    const int32 arcs = __shfl_sync(FULL_MASK, after, WARP - 1);
    Pick lightest = NO_PICK;
    for (int32 first = 0; first < arcs; first += WARP * LISTED) {
        int row[LISTED];
        index_t arc[LISTED];
        bool valid[LISTED];
        int32 of[LISTED], row_own[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            const int32 next = first + k * WARP + lane_id();
            valid[k] = next < arcs;
            const int32 at = valid[k] ? next : arcs - 1;
            row[k] = 0;  // rows that end at or before the arc
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2) {
                if (__shfl_sync(FULL_MASK, after, row[k] + step - 1) <= at) row[k] += step;
            }
            arc[k] = __shfl_sync(FULL_MASK, begin - before, row[k]) + at;
            of[k] = __shfl_sync(FULL_MASK, u, row[k]);
            row_own[k] = __shfl_sync(FULL_MASK, own, row[k]);
        }
        Pick into[LISTED];
        look_outside(graph, label, giant, arc, valid, of, row_own, into, gatherer);
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            if (!__any_sync(FULL_MASK, into[k].arc != NO_ARC)) continue;
            const int32 from = before - first - k * WARP, to = after - first - k * WARP;
            const Pick mine = lightest_of_rows(into[k], row[k], from > 0 ? from : 0, to < WARP ? to : WARP);
            if (mine < lightest) lightest = mine;
        }
    }
    return lightest;
}

// List the edges of a hub, a block together.  The first lane returns the lightest that the warp has seen into the giant
// component.  All threads must call.
template <typename AnyGatherer>
__device__ __forceinline__ Pick list_hub(const Graph& graph, const int32* __restrict__ label, int32 giant, int32 u,
                                         int32 own, index_t begin, index_t end, AnyGatherer& gatherer) {
    Pick lightest = NO_PICK;
    for (index_t portion = begin; portion < end; portion += BLOCK * LISTED) {
        index_t arc[LISTED];
        bool valid[LISTED];
        int32 of[LISTED], row_own[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            const index_t ahead = k * BLOCK + threadIdx.x;
            valid[k] = ahead < end - portion;
            arc[k] = valid[k] ? portion + ahead : portion;
            of[k] = u;
            row_own[k] = own;
        }
        Pick into[LISTED];
        look_outside(graph, label, giant, arc, valid, of, row_own, into, gatherer);
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            if (into[k] < lightest) lightest = into[k];
        }
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
    const Pick lightest = list_own_rows(graph, label, giant, v, own, begin, end, gatherer);
    list_lightest(graph, giant, v, own, lightest, gatherer);
    note_hubs(hubs, hub_count, end - begin >= HUB_ROW, v);
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
        load_labels(label, first + lane_id(), graph.vertices, component);
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

#endif
