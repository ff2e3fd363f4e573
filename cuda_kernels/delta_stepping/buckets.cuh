/*
Between two thresholds: which vertices are pending, how far the next threshold goes, and who is near then.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_BUCKETS_CUH
#define GPUGRAPH_DELTA_STEPPING_BUCKETS_CUH

#include "delta_stepping/frontier.cuh"

// How the width of a bucket follows what the last one saw.
constexpr float64 FEW_REPEATS = 0.5;    // of the distances lowered; up to these it may grow, if the GPU was idle;
constexpr float64 FEW_IF_SHORT = 0.9;   // more may be where a bucket takes few steps, for its threshold takes as long
constexpr uint32 SHORT = 32;            // steps
constexpr uint32 IDLE = 186 / RESIDENT;  // arcs a step of a block: fewer do not fill the GPU
constexpr float64 RARE_REPEATS = 0.25;  // and up to these unless the GPU was busy
constexpr uint32 BUSY = 7944 / RESIDENT;  // vertices a step of a block
constexpr uint32 PATIENCE = 12;         // steps, after which it grows before the first large hubs are met, too,
constexpr uint32 LONELY = 32;           // while a bucket settles fewer vertices: the way to them may be long
constexpr uint32 LONG_WAIT = 256;       // steps of every block, after which it grows as if no hubs were awaited
constexpr float64 BEYOND_WIDTHS = 8;    // so much wider is it beyond a horizon, where little falls any more
constexpr int NEAR_SHARE = 8;           // a threshold takes in at least this part of the vertices, if so many wait,
constexpr int NEAR_SHARE_IF_DIRECTED = 5;  // or this, where none can pull,
constexpr int MOST_SHARE = 3;           // and at most this, or many fall twice, unless a horizon sees to that
constexpr int TAIL_SHARE = 256;         // at most this part of the vertices is the tail of a bucket

constexpr int SMALL_ARCS = 16;          // arcs a thread that a small graph has at most, of MEAN_DEGREE a vertex.  One
constexpr int EXPANDED = 32;            // expands where so many times the arcs of a vertex are settled, and two thirds
constexpr int EXPANDED_WIDTHS = 16;     // as many are pending: then a threshold goes so many widths further

constexpr float64 MEAN_DEGREE = 8;      // arcs a vertex, up to which the first width is the mean weight
constexpr float64 HORIZON_DEGREE = 1.5; // arcs a vertex, from which on a graph of hubs has a horizon;
constexpr float64 HORIZON_ARCS = 1.5;   // arcs a vertex that are shorter than it,
constexpr float64 FIRST_WIDTHS = 3;     // and widths of a bucket to it, at first;
constexpr float64 FINE_WIDTHS = 16;     // where weights are so fine that a distance falls often by a little:
constexpr uint32 FINE = 1024;           // where so many lie below the horizon
constexpr int LATE_SHARE = 10;          // in other graphs a horizon is set late, where this part of all is pending:
constexpr float64 LATE_HORIZON = 0.9;   // so many of these lie within it,
constexpr float64 LATE_ARCS = 8;        // and it is no farther than so many arcs of a vertex are long
constexpr uint32 HOPS = 3;              // of the least weight lie within a horizon, but one that waits for hubs
constexpr int SOURCE_AMONG = 64;        // and it does where at most this part of all arcs lead to rows longer than its;
constexpr int HUB_SHARE = 1024;         // else it counts from the first hubs that together have this part of all arcs
constexpr int HUB_DEGREES = 4;          // times the mean are the arcs of a vertex to which many arcs lead
constexpr int TO_HUBS = 4;              // in a graph of hubs: this part of all
constexpr float64 UNITS = 4096;         // of a mean weight, in which float distances are counted

// ------------------------------------------------------------------ the start

// A place of sample i among `count` arcs.  Every block draws the same.
__device__ __forceinline__ uint64 sample_place(uint32 i, uint64 count) {
    const uint64 scattered = i * 2654435761ull & 0xffffffffull;
    return count >> 32 ? scattered * (count >> 16) >> 16 : scattered * count >> 32;
}

// What a thread samples of a graph: the weights of arcs side by side, since reads at random by all blocks are what
// takes time, the head of one of them, and how many arcs its row has.
struct Sample {
    weight_t weight[SAMPLES];
    int32 head;
    index_t row;

    // Tell whether more than one in `part` of all arcs lead to rows of at least so many `arcs`.  Every block computes
    // the same.  All threads must call.
    __device__ __forceinline__ bool leads_to_rows(float64 arcs, int part) const {
        return part * __syncthreads_count(row >= arcs) > BLOCK;
    }
};

// Tell whether a round takes longer than to relax some vertices twice.  Where there are few arcs hubs are not known.
__device__ __forceinline__ bool is_small(const Graph& graph) {
    return graph.arcs / SMALL_ARCS < grid_threads() && graph.arcs <= MEAN_DEGREE * graph.vertices &&
           graph.arcs >= HORIZON_DEGREE * graph.vertices;
}

// All of it but the row.
__device__ __forceinline__ Sample sample_arcs(const Graph& graph) {
    static_assert(SAMPLES == QUAD, "one load brings them");
    const index_t arc = static_cast<index_t>(sample_place(threadIdx.x, static_cast<uint64>(graph.arcs)));
    const index_t first = quad_of(arc);
    Sample sample;
    sample.head = graph.arcs == 0 ? 0 : graph.targets[arc];
    load_streamed(graph.weights, first, graph.arcs, sample.weight);
#pragma unroll
    for (int i = 1; i < SAMPLES; ++i) {
        if (first + i >= graph.arcs) sample.weight[i] = sample.weight[0];
    }
    return sample;
}

// From a sample of weights take the first width of a bucket, their mean or less, and the horizon of a graph of hubs: a
// distance that only about HORIZON_ARCS arcs of a vertex do not exceed.  Returns the horizon, if it counts from the
// source, which has `source_row` arcs; where it counts from hubs that are still to be met, or is set late, its reach is
// kept.  Thread 0 keeps the width.  All threads must call.
__device__ __forceinline__ distance_t first_horizon_of(Shared& shared, const Graph& graph, const Sample& sample,
                                                       index_t source_row) {
    for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) shared.histogram[bin] = 0;
    __syncthreads();
    float64 sum = 0;
    distance_t word[SAMPLES];
#pragma unroll
    for (int i = 0; i < SAMPLES; ++i) {
        word[i] = graph.arcs == 0 ? UNREACHED : extended(0, sample.weight[i]);
        if (word[i] == UNREACHED) continue;
        sum += value_of(word[i], weight_t());
        if (SUMS_OVERFLOW) atomicAdd(&shared.histogram[bin_of(word[i])], 1u);
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, offset);
    // The blocks part ways if one gets another last bit, so floats are added in an order that does not vary.
    if (lane_id() == 0) shared.weight_sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int warp = 0; warp < WARPS; ++warp) sum += shared.weight_sums[warp];
    const float64 mean = sum / (BLOCK * SAMPLES);
    if (!SUMS_OVERFLOW) {
        const float64 units = mean > 0 ? UNITS / mean : 1;
        if (threadIdx.x == 0) shared.units = units;
#pragma unroll
        for (int i = 0; i < SAMPLES; ++i) {
            if (word[i] != UNREACHED) atomicAdd(&shared.histogram[bin_beyond(0, word[i], units)], 1u);
        }
        __syncthreads();
    }
    const float64 degree = static_cast<float64>(graph.arcs) / (graph.vertices > 0 ? graph.vertices : 1);
    distance_t horizon = UNREACHED;
    float64 widths = FINE_WIDTHS;
    bool waits = false;
    const bool hubs = degree >= HORIZON_DEGREE && sample.leads_to_rows(HUB_DEGREES * degree, TO_HUBS);
    const float64 part = (hubs ? HORIZON_ARCS : LATE_ARCS) / degree;  // of the arcs
    const uint32 rank = part < 1 ? static_cast<uint32>(BLOCK * SAMPLES * part) : BLOCK * SAMPLES + 1;
    sum_histogram(shared.histogram, shared.sums);
    distance_t edge = histogram_edge(shared, rank > 0 ? rank : 1);  // UNREACHED where more than all are wanted
    const distance_t least = histogram_edge(shared, 1), hops = HOPS * (least - 1) + 1;
    const bool varies = least < histogram_edge(shared, BLOCK * SAMPLES / 2) && least < UNREACHED / HOPS;
    if (hubs) waits = sample.leads_to_rows(static_cast<float64>(source_row) + 1, SOURCE_AMONG);
    if (!waits && varies && edge < hops) edge = hops;
    if (hubs) {
        horizon = end_beyond(0, edge, shared.units);
        if (horizon < FINE) widths = FIRST_WIDTHS;
    }
    float64 first = degree > MEAN_DEGREE ? mean * MEAN_DEGREE / degree : mean;
    // A bucket as wide as the least weight settles at once; where rows are cut a round takes longer than lowering more.
    const float64 lightest = SUMS_OVERFLOW ? least - 1.0 : (least - 1.0) / shared.units;
    if (shared.parts != 1 && first < lightest && least != UNREACHED) first = lightest;
    if (threadIdx.x == 0) {
        shared.delta = horizon == UNREACHED ? first : value_of(horizon, weight_t()) / widths;
        shared.first_width = shared.delta;
        shared.waits = waits && horizon != UNREACHED;
        shared.reach = edge;
    }
    __syncthreads();
    return waits ? UNREACHED : horizon;
}

// ------------------------------------------------------------------ pending vertices

// Where pending vertices are found: in the far list, or, if that has overflowed, among all distances.
struct Pending {
    const Queue list;
    const distance_t* distance;
    bool listed;
    uint32 count;  // entries of the list, or vertices

    // The vertex of item i and its distance; UNREACHED if the item is a stale entry.
    __device__ __forceinline__ distance_t at(uint32 i, int32* vertex) const {
        if (listed) return list.at(i, distance, vertex);
        *vertex = static_cast<int32>(i);
        return current(&distance[i]);
    }
};

// Read every `stride`-th line of distances: count the pending vertices, those at or beyond the threshold, and find
// their least distance and its histogram.  The block's share is added to `histogram`, *count and *least, a complement.
// All threads must call.
__device__ __forceinline__ void survey_lines(Shared& shared, const distance_t* distance, uint32 vertices,
                                             distance_t threshold, uint32 stride, uint32* histogram,
                                             uint32* count, uint64* least) {
    Survey survey = {shared.histogram, &shared.least, threshold, shared.units, UNREACHED};
    if (threadIdx.x == 0) shared.pending = 0;
    survey.begin();
    uint32 mine = 0;
    const int64 lines = grid_threads() / WARP;
#pragma unroll 1
    for (int64 line = grid_thread() / WARP; line * stride * WARP < vertices; line += SCANNED * lines) {
        distance_t length[SCANNED];
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            const int64 v = (line + k * lines) * stride * WARP + lane_id();
            length[k] = v < vertices ? current(&distance[v]) : UNREACHED;
        }
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            if (length[k] < threshold || length[k] == UNREACHED) continue;
            mine += 1;
            survey.count(length[k]);
        }
    }
    mine = warp_scan(mine);
    if (lane_id() == WARP - 1 && mine != 0) atomicAdd(&shared.pending, mine);
    survey.end();
    if (shared.pending == 0) return;
    survey.add_to(histogram, least);
    if (threadIdx.x == 0) atomicAdd(count, shared.pending);
}

// Find what is pending by reading distances: of a large graph a part of them, whose least is near enough, and all if
// that holds none.  Afterwards shared.seen has the least, and about how many there are.  All threads must call.
template <typename Barrier>
__device__ __forceinline__ void survey_pending(Shared& shared, const distance_t* distance, uint32 vertices,
                                               uint32* histogram, uint32* count, uint64* least, Barrier barrier) {
    uint32 stride = vertices < LARGE ? 1 : SURVEY_STRIDE;
    while (true) {
        survey_lines(shared, distance, vertices, shared.threshold, stride, histogram, count, least);
        barrier();
        for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) shared.histogram[bin] = current(&histogram[bin]);
        if (threadIdx.x == 0) {
            shared.seen.listed = current(count) * stride;
            shared.seen.least = current(least);
        }
        __syncthreads();
        sum_histogram(shared.histogram, shared.sums);
        if (stride == 1 || shared.seen.listed != 0) return;
        stride = 1;
        barrier();
    }
}

// Whether a round of more than `many` entries has left so little that this is relaxed with the next bucket.  That
// goes by what others do not change in the next round, for a block may be late.
__device__ __forceinline__ bool is_tail(const Shared& shared, int32 vertices, uint32 many) {
    return shared.seen.began > many && 2 * shared.seen.near <= shared.seen.began &&
           shared.seen.near <= static_cast<uint32>(vertices) / TAIL_SHARE && shared.threshold < shared.horizon;
}

// Choose the width of the next bucket from how the last one went, and whether packed rows are still used.
// Every block computes the same.  All threads must call; afterwards all have the result.
__device__ __noinline__ float64 next_width(Shared& shared, int32 vertices, index_t arcs_in_all, distance_t least) {
    if (threadIdx.x == 0) {
        uint32 last[TALLIES];
        for (int tally = 0; tally < TALLIES; ++tally) {
            last[tally] = shared.counted[tally] - shared.counted_before[tally];
            shared.counted_before[tally] = shared.counted[tally];
        }
        const uint32 steps = last[STEPPED], settled = last[RELAXED], pushes = last[PUSHED], repeats = last[REPEATED];
        const bool grows = settled > 2ull * shared.settled_last;
        const uint64 arcs = settled * static_cast<uint64>(arcs_in_all / vertices + 1);
        const float64 few = steps < SHORT * gridDim.x ? FEW_IF_SHORT : FEW_REPEATS;
        const bool idle = repeats <= few * pushes && arcs < static_cast<uint64>(steps) * IDLE;
        const bool settles = repeats <= RARE_REPEATS * pushes && settled < static_cast<uint64>(steps) * BUSY;
        // The few that are met before the first large hubs predict nothing of those behind; but these may never come.
        const uint32 all_steps = shared.counted[STEPPED];
        if (all_steps > shared.packed_steps) shared.packed = 2;
        const bool lonely = settled < LONELY && all_steps > PATIENCE;
        const bool waits = shared.waits && all_steps <= LONG_WAIT * gridDim.x;
        if (!grows && ((shared.waits && lonely) || (!waits && (idle || settles)))) shared.delta *= 2;
        if (shared.delta == 0) shared.delta = value_of(least, weight_t());  // every weight sampled was 0
        if (settled != 0) shared.settled_last = settled;  // else the bucket was empty
        const uint32 all = shared.counted[RELAXED];
        const bool expands = shared.is_small && all >= EXPANDED * static_cast<uint64>(arcs_in_all / vertices) &&
                             3ull * (shared.seen.near + shared.seen.listed) >= 2ull * all;
        shared.most = expands ? gridDim.x + 1 : gridDim.x - gridDim.x / BUSY_SHARE;  // never, if it is far
    }
    __syncthreads();
    return shared.most > gridDim.x ? EXPANDED_WIDTHS * shared.delta : shared.delta;
}

// The distance at which `wanted` vertices are taken in, of the `pending` that survey_pending() found beyond the
// threshold; `otherwise` where fewer wait.  Every block computes the same.
__device__ __forceinline__ distance_t end_of_nearest(const Shared& shared, uint32 wanted, uint32 pending,
                                                     distance_t otherwise) {
    if (pending <= wanted) return otherwise;
    const uint32 rank = static_cast<uint32>(static_cast<uint64>(shared.histogram[BINS - 1]) * wanted / pending);
    return end_beyond(shared.threshold, histogram_edge(shared, rank > 0 ? rank : 1), shared.units);
}

// Set the horizon that has been waited for: as far beyond `from` as it would lie from a source that is a large hub.
__device__ __forceinline__ void set_horizon_beyond(Shared& shared, distance_t from) {
    shared.horizon = end_beyond(from, shared.reach, shared.units);
    if (shared.waits) shared.delta = shared.first_width;
    shared.waits = false;
}

// Choose a horizon where many wait: most of what is pending lies within, and vertices some arcs further, while the
// number of those settled multiplies from bucket to bucket.  Where it does not none is set any more.  All threads must
// call.
__device__ __noinline__ void set_late_horizon(Shared& shared, int32 vertices, uint32 pending) {
    const uint32 settled = shared.counted[RELAXED], last = settled - shared.counted_before[RELAXED];
    const distance_t most = end_of_nearest(shared, static_cast<uint32>(LATE_HORIZON * pending), pending, UNREACHED);
    __syncthreads();  // all have seen that there is none
    if (threadIdx.x == 0) {  // the others must not even load `waits`, which this thread writes
        const bool many = pending > static_cast<uint32>(vertices) / LATE_SHARE, waits = shared.waits;
        const bool multiplies = 2 * last >= settled;
        if (!waits && (many || !multiplies)) shared.complete = shared.threshold;  // none is set after this one
        if (many && (waits || multiplies)) {
            set_horizon_beyond(shared, static_cast<distance_t>(~shared.seen.least));
            if (!waits && most < shared.horizon) shared.horizon = most;
        }
    }
    __syncthreads();
}

// The next threshold: a width beyond the least that is pending; where a survey has found so many, far enough to take in
// an eighth of the vertices (a fifth, where none can pull), and without a horizon a third at most, unless a small graph
// expands.  Not beyond the horizon, or `end`, and not before the last.  Every block computes the same.
// All threads must call.
__device__ __noinline__ distance_t next_threshold(Shared& shared, int32 vertices, index_t arcs, bool symmetric,
                                                  bool surveyed, distance_t end) {
    const distance_t least = static_cast<distance_t>(~shared.seen.least);
    const float64 width = next_width(shared, vertices, arcs, least);
    distance_t threshold = word_of(value_of(least, weight_t()) + width, weight_t()), beyond = least + 1;
    if (surveyed) {
        const uint32 all = static_cast<uint32>(vertices), pending = shared.seen.listed;
        const uint32 least_taken = all / (symmetric ? NEAR_SHARE : NEAR_SHARE_IF_DIRECTED) + 1;
        const distance_t full = end_of_nearest(shared, least_taken, pending, beyond);
        const distance_t most = end_of_nearest(shared, all / MOST_SHARE + 1, pending, UNREACHED);
        if (full > beyond) beyond = full;
        if (shared.horizon == UNREACHED && shared.most <= gridDim.x && threshold > most) threshold = most;
    }
    if (threshold < beyond) threshold = beyond;
    if (threshold > shared.horizon) threshold = shared.horizon;
    if (threshold > end) threshold = end;
    return threshold < shared.last ? shared.last : threshold;
}

// Of the vertices that survey_pending() found beyond the threshold, about which part lies beyond the next, `threshold`.
__device__ __forceinline__ float32 part_beyond(const Shared& shared, distance_t threshold) {
    const int bin = bin_beyond(shared.threshold, threshold, shared.units);
    const uint32 total = shared.histogram[BINS - 1], within = bin > 0 ? shared.histogram[bin - 1] : 0;
    return static_cast<float32>(total - within) / static_cast<float32>(total);
}

// Enter the pending vertices below `below` into the near queue; the others stay in, or come into, the far list.  All
// threads of a warp run equally often.
__device__ __forceinline__ void collect(Outbox& outbox, const Pending& pending, distance_t from, distance_t below) {
#pragma unroll 1
    for (int64 first = grid_thread() - lane_id(); first < pending.count; first += SCANNED * grid_threads()) {
        int32 vertex[SCANNED];
        distance_t length[SCANNED];
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            const int64 i = first + k * grid_threads() + lane_id();
            vertex[k] = 0;
            length[k] = i < pending.count ? pending.at(static_cast<uint32>(i), &vertex[k]) : UNREACHED;
        }
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            outbox.push(length[k] >= from && length[k] != UNREACHED, vertex[k], length[k], below);
        }
    }
    outbox.flush();
}

// Enter all vertices from `from` on and below `below` into the near queue, and keep no list of the others.  A block
// counts those among VISITED for each of its threads before it enters them, so that it reserves once for all.  All
// threads must call.
__device__ __forceinline__ void collect_near(Outbox& outbox, uint32 vertices, distance_t from, distance_t below) {
    Shared& shared = outbox.shared;
    outbox.far_open = false;
#pragma unroll 1
    for (int64 first = grid_thread(); first - threadIdx.x < vertices; first += VISITED * grid_threads()) {
        distance_t length[VISITED];
#pragma unroll
        for (int k = 0; k < VISITED; ++k) {
            const int64 v = first + k * grid_threads();
            length[k] = v < vertices ? current(&outbox.distance[v]) : UNREACHED;
        }
        const auto enters = [&](int k) { return length[k] >= from && length[k] < below; };
        uint32 of_warp = 0;
#pragma unroll
        for (int k = 0; k < VISITED; ++k) of_warp += __popc(__ballot_sync(FULL_MASK, enters(k)));
        if (lane_id() == 0) shared.sums[threadIdx.x / WARP] = of_warp;
        __syncthreads();
        uint32 before = 0, all = 0;  // of the warps before this one, and of the block
        for (uint32 warp = 0; warp < WARPS; ++warp) {
            if (warp == threadIdx.x / WARP) before = all;
            all += shared.sums[warp];
        }
        if (threadIdx.x == 0 && all != 0) shared.base = outbox.reserve_near(all);
        __syncthreads();
        uint32 entry = shared.base + before;
#pragma unroll
        for (int k = 0; k < VISITED; ++k) {
            const unsigned nears = __ballot_sync(FULL_MASK, enters(k));
            const int32 v = static_cast<int32>(first + k * grid_threads());
            if (enters(k)) shared.near.put(entry + __popc(nears & lanes_before()), v, length[k]);
            entry += __popc(nears);
        }
    }
    outbox.flush();
}

// ------------------------------------------------------------------ the horizon

// Tell whether the vertices beyond the horizon have fewer arcs than those below it: `balance`, a signed number, grows
// by the arcs of these and falls by the arcs of those.  Of a large graph a part is sampled.  All threads must call.
__device__ __forceinline__ void weigh_sides(Shared& shared, const Graph& graph, const distance_t* distance,
                                            uint64* balance) {
    if (threadIdx.x == 0) shared.total = 0;
    __syncthreads();
    uint64 mine = 0;
    const int64 stride = graph.vertices >= LARGE ? SURVEY_STRIDE : 1;
#pragma unroll 4
    for (int64 line = grid_thread() / WARP; line * stride * WARP < graph.vertices; line += grid_threads() / WARP) {
        const int64 v = line * stride * WARP + lane_id();
        if (v >= graph.vertices) continue;
        const uint64 degree = static_cast<uint64>(graph.offsets[v + 1] - graph.offsets[v]);
        mine += current(&distance[v]) != UNREACHED ? degree : 0 - degree;
    }
    if (mine != 0) atomicAdd(&shared.total, mine);
    __syncthreads();
    if (threadIdx.x == 0 && shared.total != 0) atomicAdd(balance, shared.total);
}

// Let every vertex whose distance is not below `beyond` pull; hubs are put aside.  A warp gathers such vertices in its
// buffer until there is one for each lane: many lie within, or have no arcs at all.
__device__ __forceinline__ void pull_rows(Shared& shared, Pull& pull, distance_t beyond, const Hubs& hubs) {
    static_assert(WARP * (SURVEYED + 1) <= NEAR_BUFFER, "room for what is left and what is found");
    const Graph& graph = pull.graph;
    int32* const gathered = &shared.near_held.vertex[threadIdx.x / WARP * NEAR_BUFFER];
    distance_t* const lengths = &shared.near_held.length[threadIdx.x / WARP * NEAR_BUFFER];
    uint32 held = 0;
    int64 first = grid_thread() - lane_id();
#pragma unroll 1
    while (first < graph.vertices || held != 0) {
        distance_t length[SURVEYED];  // 0 of vertices that need not pull
#pragma unroll
        for (int k = 0; k < SURVEYED; ++k) {
            const int64 v = first + k * grid_threads() + lane_id();
            length[k] = v < graph.vertices ? current(&pull.distance[v]) : 0;
            if (length[k] < beyond || graph.offsets[v] == graph.offsets[v + 1]) length[k] = 0;
        }
#pragma unroll
        for (int k = 0; k < SURVEYED; ++k) {
            const unsigned waiting = __ballot_sync(FULL_MASK, length[k] != 0);
            if (length[k] != 0) {
                const uint32 place = held + __popc(waiting & lanes_before());
                gathered[place] = static_cast<int32>(first + k * grid_threads() + lane_id());
                lengths[place] = length[k];
            }
            held += __popc(waiting);
        }
        first += SURVEYED * grid_threads();
        __syncwarp();
#pragma unroll 1
        while (held >= WARP || (first >= graph.vertices && held != 0)) {
            const uint32 rows = held < WARP ? held : WARP;
            held -= rows;
            Row row = {0, UNREACHED, 0, 0};
            if (lane_id() < rows) row = row_of(graph, gathered[held + lane_id()], lengths[held + lane_id()]);
            relax_rows(pull, row, hubs);
        }
        __syncwarp();
    }
}

#endif
