/*
Phase 3 of filter_boruvka.cu: how many arcs are to be light, the threshold that so many lie below, and the list of light
edges that join two components, or of all that do, by warps that go through spans of arcs.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_LIGHT_EDGES_CUH
#define GPUGRAPH_FILTER_BORUVKA_LIGHT_EDGES_CUH

#include "filter_boruvka/base.cuh"

// Sample some vertices, a lane each, and two neighbours of each that has two: from these counts follow the numbers of
// vertices that have arcs, and of pairs of neighbours that are edges.  One warp of each block calls, while the others
// look for row minima.
__device__ void sample_vertices(int32 count, const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                                uint32* control) {
    const uint32 lanes = gridDim.x * WARP, turns = (SAMPLES + lanes - 1) / lanes;
    const uint64 vertices = static_cast<uint64>(count), samples = static_cast<uint64>(lanes) * turns;
    uint32 active = 0, wedges = 0, triangles = 0;
    for (uint32 turn = 0; turn < turns; ++turn) {
        const uint64 sample = turn * lanes + blockIdx.x * WARP + lane_id();
        const uint64 hash = (sample + 1) * 0x9E3779B97F4A7C15ull;
        const uint64 at = sample * vertices / samples + (hash >> 32) % (vertices / samples + 1);
        const int32 v = at < vertices ? static_cast<int32>(at) : count - 1;
        const index_t begin = offsets[v], degree = offsets[v + 1] - begin;
        bool closed = false;
        if (degree >= 2) {
            const index_t first = static_cast<index_t>((hash >> 20) % static_cast<uint64>(degree));
            const index_t step = static_cast<index_t>(1 + (hash >> 40) % static_cast<uint64>(degree - 1));
            const int32 x = targets[begin + first], y = targets[begin + (first + step) % degree];
            closed = find_arc(targets, offsets[x], offsets[x + 1], y) != static_cast<index_t>(-1);
        }
        active += __popc(__ballot_sync(FULL_MASK, degree > 0));
        wedges += __popc(__ballot_sync(FULL_MASK, degree >= 2));
        triangles += __popc(__ballot_sync(FULL_MASK, closed));
    }
    if (lane_id() != 0) return;
    atomicAdd(&control[WITH_ARCS], active);
    atomicAdd(&control[WEDGES], wedges);
    atomicAdd(&control[TRIANGLES], triangles);
}

// Note how many arcs should be light: the part of `wanted` that falls on vertices with arcs, at least 1. Two lists cost
// more than one where that is about half of all arcs, which are then listed at once while the second-level cache holds
// them.  Where the neighbours of a vertex are neighbours of each other, many light edges lie inside a component, and
// more are needed before one is giant; fewer again where nearly all are, for of cliques none may ever be: the heavy
// list would read every row again, which pays on large graphs alone.  If the lightest arcs leave few components, that
// makes one of them giant, but not of cliques; and if these are about as large as the rows of a clique, most of its
// arcs lie inside of them, so that all are listed at once.  One thread of each block calls, when the counts of
// sample_vertices() are complete.
__device__ void note_light_arcs(Shared& shared, const Graph& graph, uint64 wanted, const uint32* control) {
    shared.filters = false;
    if (wanted == 0) return;
    const uint32 active = current(&control[WITH_ARCS]), wedges = current(&control[WEDGES]);
    const uint32 triangles = current(&control[TRIANGLES]);
    const uint32 lanes = gridDim.x * WARP, samples = (SAMPLES + lanes - 1) / lanes * lanes;
    const float vertices = static_cast<float>(graph.vertices) * active / samples;  // that have arcs
    const float closed = wedges > 0 ? static_cast<float>(triangles) / wedges : 0;  // share of the pairs
    const float cubed = closed * closed * closed, rising = 1 + CLOSING * cubed;
    shared.merging = static_cast<uint64>(vertices * (1 - cubed) / MERGED);
    const float inside = closed > MOST_INSIDE ? closed * vertices / graph.arcs * vertices / MOST_INSIDE : 0;
    shared.cliques = static_cast<uint64>(inside);
    const float more = rising * closed < MORE_CLUSTERED ? rising : MORE_CLUSTERED / closed;
    const float light = more * wanted * active / samples, most = MOST_LIGHT * graph.arcs;
    shared.light = static_cast<uint64>(light < most ? light : most) + 1;
    shared.filters = SPARSE * vertices <= graph.arcs && (graph.arcs >= FEW_ARCS || light < HALF_LIGHT * graph.arcs) &&
                     (graph.arcs >= CLIQUE_ARCS || closed <= MOST_INSIDE);
}

// Take the pick of `rank`, the least having rank 0, among those that the threads of the block bring as the threshold.
// Their bits are compared one by one, the highest first, until one remains, or several that are equal.  All threads
// must call.
__device__ void take_threshold(Shared& shared, const Pick& mine, uint32 rank) {
    if (rank >= SAMPLES) rank = SAMPLES - 1;
    uint32 candidates = SAMPLES;  // that agree with the one wanted in all bits so far
    bool agrees = true;
    const auto keep_half = [&](bool bit) {
        const uint32 low = __syncthreads_count(agrees && !bit);
        const bool wanted = rank >= low;  // its bit
        agrees = agrees && bit == wanted;
        candidates = wanted ? candidates - low : low;
        if (wanted) rank -= low;
    };
#pragma unroll 1
    for (int bit = 8 * sizeof(weight_key_t) - 1; bit >= 0 && candidates > 1; --bit) keep_half(mine.key >> bit & 1);
#pragma unroll 1
    for (int bit = INDEX_BITS - 1; bit >= 0 && candidates > 1; --bit) keep_half(mine.arc >> bit & 1);
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

// How many arcs a span has where so many are shared by all warps, one or two spans each.
__device__ __forceinline__ uint64 span_length(uint64 arcs, uint32 of_a_warp) {
    const uint64 wanted = static_cast<uint64>(gridDim.x) * WARPS, most = MOST_SPANS / 2;
    const uint64 spans = (wanted < most ? wanted : most) * of_a_warp;
    const uint64 even = ((arcs + spans - 1) / spans + PAGE - 1) / PAGE * PAGE;
    return even > TILE ? even : TILE;
}

// Where edges are held back, take the median of what the first blocks have found.  The sample of one gives the number
// of light arcs to a fifth or so, all together to a twentieth.  Each lane of a warp counts how many are less than its
// own.  All threads must call; the same in every block.
__device__ void agree_on_threshold(Shared& shared, uint64 arcs, const Pick* found) {
    if (shared.filters && threadIdx.x < WARP) {
        const int count = gridDim.x < WARP ? gridDim.x : WARP;
        const Pick mine = found[lane_id() % count];
        int before = 0;
        for (int lane = 0; lane < count; ++lane) {
            const Pick theirs = {__shfl_sync(FULL_MASK, mine.key, lane), __shfl_sync(FULL_MASK, mine.arc, lane)};
            before += theirs < mine || (!(mine < theirs) && lane < lane_id());
        }
        const bool median = lane_id() < count && before == count / 2;
        if (median) shared.threshold = mine;
        // Where all have found one weight, most light arcs may weigh that, and so lie before this one.
        if (__all_sync(FULL_MASK, mine.key == __shfl_sync(FULL_MASK, mine.key, 0)) && median) {
            shared.parting = (static_cast<uint64>(mine.arc) / TILE + 1) * TILE;
            shared.spans[0] = span_length(shared.parting, 1);
            shared.spans[1] = span_length(arcs - mine.arc, 1);
        }
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

// The row of an arc that lies in the row `low` or beyond: steps twice as long as the last lead past it.
__device__ __forceinline__ int32 row_beyond(const Graph& graph, index_t arc, int32 low) {
    int32 step = WARP;
    while (step < graph.vertices - low && graph.offsets[low + step] <= arc) {
        low += step;
        step *= 2;
    }
    const int32 high = step < graph.vertices - low ? low + step : graph.vertices;
    return row_of_arc(graph.offsets, arc, low, high - 1);
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
            const int passed = lanes_up_to(arc[k], end);  // rows of these that end at or before the arc
            if (found[k]) continue;
            tail[k] = first + passed;
            found[k] = arc[k] < last;
            missing |= !found[k];
        }
        if (!__any_sync(FULL_MASK, missing)) break;
    }
#pragma unroll
    for (int k = 0; k < LISTED; ++k) {
        if (!found[k]) tail[k] = row_beyond(graph, arc[k], first);
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

// List those up to the threshold: all weights stream by, and only the few arcs that are light are looked at.  Of the
// arcs of a span that weigh as much as the threshold all are light, or none: so one comparison is enough.
__device__ void list_light(Shared& shared, const Graph& graph, count_t begin, count_t end, Lister& lister) {
    const bool ties = static_cast<index_t>(begin) <= shared.threshold.arc;
    if (!ties && shared.threshold.key == 0) return;
    const weight_key_t most = ties ? shared.threshold.key : static_cast<weight_key_t>(shared.threshold.key - 1);
    uint32* const positions = shared.positions[threadIdx.x / WARP];
    uint32 pending = 0;
    const auto look_at = [&](uint32 from, uint32 count) {
        index_t arc[LISTED];
        bool valid[LISTED];
#pragma unroll
        for (int k = 0; k < LISTED; ++k) {
            valid[k] = k * WARP + lane_id() < count;
            arc[k] = valid[k] ? static_cast<index_t>(begin + positions[from + k * WARP + lane_id()])
                              : static_cast<index_t>(0);
        }
        lister.look_at(arc, valid);
    };
    for (count_t portion = begin; portion < end; portion += STREAMED * WARP * QUAD) {
        const index_t quad = static_cast<index_t>(portion / QUAD) + lane_id();
        const index_t last = static_cast<index_t>((end - 1) / QUAD);
        Quad<weight_t> streamed[STREAMED];
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            streamed[i] = load_quad(graph.weights, quad + i * WARP < last ? quad + i * WARP : last, graph.arcs);
        }
        // A byte for each quad of this lane: how many of its arcs are light.  One scan counts those before all of them.
        uint32 light[STREAMED], counts = 0;
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            light[i] = 0;
#pragma unroll
            for (int j = 0; j < QUAD; ++j) {
                const index_t arc = (quad + i * WARP) * QUAD + j;
                if (static_cast<count_t>(arc) < end && order_key(streamed[i].value[j]) <= most) light[i] |= 1u << j;
            }
            counts |= static_cast<uint32>(__popc(light[i])) << (8 * i);
        }
        const uint32 upto = warp_scan(counts), all = __shfl_sync(FULL_MASK, upto, WARP - 1);
#pragma unroll
        for (int i = 0; i < STREAMED; ++i) {
            uint32 place = pending + ((upto - counts) >> (8 * i) & 0xff);
            pending += all >> (8 * i) & 0xff;
#pragma unroll
            for (int j = 0; j < QUAD; ++j) {
                const uint32 position = static_cast<uint32>((quad + i * WARP) * QUAD + j - begin);
                if ((light[i] >> j & 1) != 0) positions[place++] = position;
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

#endif
