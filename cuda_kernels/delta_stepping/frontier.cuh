/*
The three ways to relax the entries of the near queue: a few, by warps that keep what they find and follow it for
several steps; many, evenly distributed; and hubs, a piece for each warp.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_FRONTIER_CUH
#define GPUGRAPH_DELTA_STEPPING_FRONTIER_CUH

#include "delta_stepping/relax.cuh"

// The row of a vertex.
__device__ __forceinline__ Row row_of(const Graph& graph, int32 vertex, distance_t length) {
    return {vertex, length, graph.offsets[vertex], graph.offsets[vertex + 1]};
}

// The arcs that a lane relaxes at once in local steps: ARCS of a row, as many lanes apart as share it.
template <int ARCS>
struct LaneArcs {
    int32 head[ARCS];
    weight_t weight[ARCS];

    // Read those from `first` on that the row has, which ends at `end`.
    __device__ __forceinline__ void read(const Graph& graph, index_t first, index_t end, int32 lanes) {
#pragma unroll
        for (int k = 0; k < ARCS; ++k) {
            const index_t arc = first + static_cast<index_t>(k * lanes);
            if (arc >= end) continue;
            weight[k] = graph.weights[arc];
            head[k] = graph.targets[arc];
        }
    }
};

// The head of an arc with the sum as its distance, and its row if it is near; and the distance before, 0 where the sum
// lies beyond the horizon.
struct Lowered {
    Row head;
    distance_t before;

    __device__ __forceinline__ bool won() const { return head.length < before; }
    __device__ __forceinline__ bool is_near(distance_t threshold) const { return won() && head.length < threshold; }
    __device__ __forceinline__ bool is_far(distance_t threshold) const { return won() && head.length >= threshold; }
};

// Lower the distance of `head` to the sum of a row's distance and an arc's weight.  Where the row of the head begins is
// read while the distance is lowered.
__device__ __forceinline__ Lowered lower_head(const Push& push, distance_t length, int32 head, weight_t weight,
                                              distance_t threshold, distance_t horizon) {
    Lowered lowered = {{head, extended(length, weight), 0, 0}, 0};
    const distance_t sum = lowered.head.length;
    if (SUMS_OVERFLOW && sum == UNREACHED && horizon == UNREACHED) note_overflow(push.control, push.distance, head);
    if (sum >= horizon) return lowered;
    if (sum < threshold) {
        lowered.head.begin = push.graph.offsets[head];
        lowered.head.end = push.graph.offsets[head + 1];
    }
    lowered.before = atomicMin(&push.distance[head], sum);
    return lowered;
}

// Reserve places for up to ARCS vertices of this lane.
template <int ARCS>
__device__ __forceinline__ uint32 take_lane_places(uint32* count, int places) {
    return ARCS == 1 ? take_place(count) : atomicAdd(count, static_cast<uint32>(places));
}

// Enter those that have won: near ones into the block's own queue for the next step, far ones into the far list.
template <int ARCS>
__device__ __forceinline__ void enter_lowered(Outbox& outbox, const Lowered (&lowered)[ARCS], distance_t threshold) {
    int near = 0, far = 0;
#pragma unroll
    for (int k = 0; k < ARCS; ++k) {
        near += lowered[k].is_near(threshold);
        far += lowered[k].is_far(threshold);
    }
    if (near != 0) {
        uint32 slot = take_lane_places<ARCS>(outbox.next_count(), near);
#pragma unroll
        for (int k = 0; k < ARCS; ++k) {
            if (lowered[k].is_near(threshold)) outbox.put_locally(slot++, lowered[k].head);
        }
    }
    if (outbox.far_open && far != 0) {
        uint32 slot = take_lane_places<ARCS>(&outbox.shared.far_found, far);
#pragma unroll
        for (int k = 0; k < ARCS; ++k) {
            if (!lowered[k].is_far(threshold)) continue;
            outbox.put_far_locally(slot++, lowered[k].head.vertex, lowered[k].head.length);
        }
    }
}

// Relax the rows of the warp's lanes in groups: the LANES lanes of one row bring the same, or `lanes` where that is 0.
// Nothing here waits for what could have been requested before: arcs are read while the distance shows whether the row
// is stale.  Where LANES are given, for rows are long, two arcs of a lane are under way at once; else a row that would
// take more than FEW_TURNS is cut behind its first, and all lanes relax the REST of it.  All lanes must call.
template <int LANES, bool REST = false>
__device__ __forceinline__ void relax_groups(Push& push, Row row, int32 lanes, const Hubs& hubs, Counts& counts) {
    constexpr int ARCS = LANES != 0 ? 2 : 1;
    const int32 group = LANES != 0 ? LANES : lanes, turn = ARCS * group;
    const distance_t threshold = push.outbox.shared.threshold, horizon = push.horizon;
    index_t at = row.begin + static_cast<index_t>(lane_id() & (group - 1));
    LaneArcs<ARCS> arcs = {};
    arcs.read(push.graph, at, row.end, group);
    const distance_t now = row.begin < row.end ? current(&push.distance[row.vertex]) : row.length;
    bool more = __any_sync(FULL_MASK, row.end - row.begin > turn);
    if (more) {
        const int32 most = LOCAL_TURNS * group > LOCAL_ROW ? LOCAL_TURNS * group : LOCAL_ROW;
        const bool is_hub = row.end - row.begin >= most;
        if (__any_sync(FULL_MASK, is_hub)) {  // else nobody waits for `now` yet
            append_hubs(hubs, row, is_hub && at == row.begin && now == row.length);
            if (is_hub) row.end = row.begin;
        }
    }
    unsigned longer = 0;  // lanes that lead a row which is cut
    const index_t end = row.end;
    if (LANES == 0 && more) {
        const bool is_long = row.end - row.begin > FEW_TURNS * turn;
        longer = __ballot_sync(FULL_MASK, is_long && at == row.begin);
        if (is_long) row.end = row.begin + static_cast<index_t>(turn);
    }
    do {
        Lowered lowered[ARCS];
#pragma unroll
        for (int k = 0; k < ARCS; ++k) {
            lowered[k] = {{arcs.head[k], UNREACHED, 0, 0}, 0};
            if (at + static_cast<index_t>(k * group) >= row.end || now != row.length) continue;  // no arc, or stale
            lowered[k] = lower_head(push, row.length, arcs.head[k], arcs.weight[k], threshold, horizon);
        }
        if (!REST && at == row.begin && at < row.end && now == row.length) counts.relaxed += 1;
#pragma unroll
        for (int k = 0; k < ARCS; ++k) {
            if (lowered[k].won()) counts.note_lowered(lowered[k].before, threshold);
        }
        enter_lowered(push.outbox, lowered, threshold);
        at += static_cast<index_t>(turn);
        more = more && __any_sync(FULL_MASK, at < row.end);
        if (more) arcs.read(push.graph, at, row.end, group);
    } while (more);
    if constexpr (LANES == 0) {
        for (; longer != 0; longer &= longer - 1) {
            const int leads = first_lane(longer);
            const Row rest = {__shfl_sync(FULL_MASK, row.vertex, leads), __shfl_sync(FULL_MASK, row.length, leads),
                              __shfl_sync(FULL_MASK, row.end, leads), __shfl_sync(FULL_MASK, end, leads)};
            relax_groups<WARP, true>(push, rest, WARP, hubs, counts);
        }
    }
}

// Relax a row in each half of the warp, four arcs a lane: where a block holds more long rows than it has warps, fewer
// instructions for each count for more than one more read that is waited for.  All lanes must call.
__device__ __forceinline__ void relax_pair(Push& push, Row row, const Hubs& hubs, Counts& counts) {
    constexpr int HALF = WARP / 2;
    const Graph& graph = push.graph;
    Outbox& outbox = push.outbox;
    const distance_t threshold = outbox.shared.threshold;
    const bool leads = lane_id() % HALF == 0;
    const distance_t now = row.begin < row.end ? current(&push.distance[row.vertex]) : row.length;
    const bool is_hub = row.end - row.begin >= LOCAL_TURNS * WARP;
    if (__any_sync(FULL_MASK, is_hub)) {
        append_hubs(hubs, row, is_hub && leads && now == row.length);
        if (is_hub) row.end = row.begin;
    }
    index_t first = quad_of(row.begin) + static_cast<index_t>(lane_id() % HALF * QUAD);
    do {
        distance_t sum[QUAD], before[QUAD];
        int32 head[QUAD] = {};
        push.offer(row, first, true, sum, head);
        if (leads && first <= row.begin && row.begin < row.end && now == row.length) counts.relaxed += 1;
        if (now != row.length) {
#pragma unroll
            for (int i = 0; i < QUAD; ++i) sum[i] = UNREACHED;
        }
        push.look(sum, head, before, [&](int32 v) { return recent(&push.distance[v]); });
        // Where the rows of those begin that may fall is read while their distances are lowered.
        index_t begin[QUAD] = {}, end[QUAD] = {};
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (sum[i] >= before[i] || sum[i] >= threshold) continue;
            begin[i] = graph.offsets[head[i]];
            end[i] = graph.offsets[head[i] + 1];
        }
        unsigned won = push.lower(sum, head, before, threshold, counts);
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if ((won >> i & 1) == 0 || sum[i] < threshold) continue;
            outbox.push_far_locally(head[i], sum[i]);
            won &= ~(1u << i);
        }
        if (won != 0) {
            uint32 slot = atomicAdd(outbox.next_count(), static_cast<uint32>(__popc(won)));
#pragma unroll
            for (int i = 0; i < QUAD; ++i) {
                if (won >> i & 1) outbox.put_locally(slot++, {head[i], sum[i], begin[i], end[i]});
            }
        }
        first += HALF * QUAD;
    } while (__any_sync(FULL_MASK, first < row.end));
}

// Tell whether the round began with entries for a part of the blocks, so that others have had none.
__device__ __forceinline__ bool spares_blocks(const Shared& shared) {
    return shared.seen.near + shared.due.count < gridDim.x;
}

// Count this block as dry: it has nothing left, in a round that began with entries for all blocks.  When most are dry,
// the last of them requests a redistribution: the threshold moves, and nobody waits for the rest.
__device__ __forceinline__ void count_dry(const Shared& shared, uint32* control) {
    if (threadIdx.x != 0 || spares_blocks(shared)) return;
    if (atomicAdd(&control[DRY + shared.round % 3], 1u) + 1 == shared.most) {
        control[REDISTRIBUTE] = shared.round;  // race-allowed: every writer writes the same
    }
}

// Choose the nearest `at_once` of the `held` entries that the block's own queue has for this step, which are more:
// shared.choice has their places, and the others go into the queue of the next step.  Nearest means by bins of
// distance; the order in a bin is chance.  All threads must call.
__device__ __forceinline__ void choose_nearest(Shared& shared, uint32 step, uint32 held, uint32 at_once) {
    static_assert(LOCAL_ROOM <= BLOCK && NEARNESSES == WARP, "a thread looks after one entry, a lane after one bin");
    const uint32 from = step % 2 * LOCAL_ROOM, to = LOCAL_ROOM - from;
    const uint32 place = from + threadIdx.x;
    const bool there = threadIdx.x < held;
    uint32 bin = 0, rank = 0;  // first among those of the bin
    if (there) {
        const distance_t length = shared.local.row[place].length;
        const distance_t nearness = length > shared.last ? (length - shared.last) >> shared.nearness_shift : 0;
        bin = nearness < NEARNESSES ? static_cast<uint32>(nearness) : NEARNESSES - 1;
        rank = take_place(&shared.nearness[bin]);
    }
    __syncthreads();
    if (threadIdx.x - lane_id() < held) {
        const uint32 mine = shared.nearness[lane_id()], before = warp_scan(mine) - mine;
        rank += __shfl_sync(FULL_MASK, before, bin);
        if (there && rank < at_once) {
            shared.choice[rank] = threadIdx.x;
        } else if (there) {
            shared.local.row[to + rank - at_once] = shared.local.row[place];
        }
    }
    if (threadIdx.x == 0) shared.local_count[(step + 1) % 4] = held - at_once;
    __syncthreads();
    if (threadIdx.x >= BLOCK - NEARNESSES) shared.nearness[lane_id()] = 0;  // by the warp that has a row last
}

// Distribute a small frontier, at most an entry for each thread, to the blocks' own queues: `count` near entries, and
// of the far list those that are due, for they are below the threshold by now.  The others come into the far list
// anew.  Both are read at once, and where the row of a due vertex begins while its distance shows whether the entry is
// stale.  Where rows are packed it need not be known where a row begins.  All threads must call.
__device__ __forceinline__ void distribute(Outbox& outbox, const Queue& near, uint32 count, bool packed) {
    Shared& shared = outbox.shared;
    const auto begin_of = [&](bool there, const Row& row) {
        return there && !packed ? row_of(outbox.graph, row.vertex, row.length) : row;
    };
    const uint32 entry = blockIdx.x + threadIdx.x * gridDim.x;
    const bool is_near = entry < count, is_listed = entry < shared.due.count;
    Row first = {0, UNREACHED, 0, 0}, due = first;
    if (is_near) first = {near.vertex[entry], near.length[entry], 0, 0};
    if (is_listed) due = {current(&shared.due.list.vertex[entry]), current(&shared.due.list.length[entry]), 0, 0};
    if (threadIdx.x < 2) shared.local_count[threadIdx.x] = 0;
    __syncthreads();
    const distance_t now = is_listed ? current(&outbox.distance[due.vertex]) : UNREACHED;
    const bool is_valid = is_listed && now == due.length, is_due = is_valid && now < shared.threshold;
    due = begin_of(is_listed && due.length < shared.threshold, due);
    first = begin_of(is_near, first);
    const uint32 slot = warp_append(&shared.local_count[0], is_near);
    if (is_near) shared.local.row[slot] = first;
    if (shared.due.count != 0) {
        const uint32 next = warp_append(&shared.local_count[0], is_due);
        if (is_due) shared.local.row[next] = due;
        if (is_valid && !is_due) outbox.push_far_locally(due.vertex, due.length);
    }
    __syncthreads();
}

// Relax a small frontier that was distributed to the blocks, and for LOCAL_STEPS steps what comes out of it: each keeps
// the near vertices that it lowers in a queue of its own in shared memory and goes on with them, so that a step costs
// two reads one after the other and one barrier of the block.  Blocks do not wait for each other: one may relax a
// vertex to which another will find a shorter path, and then the vertex is entered again.  A block that holds more than
// its warps relax at once, such as a clique, relaxes the nearest first: the others may come nearer meanwhile.  If it is
// much more, it requests a redistribution, the sooner the more it is, and at once where blocks have had no work at all;
// so does the block with which most are dry.
// What the others hold then goes into the near queue and is distributed again.  Returns the number of steps made.
__device__ __forceinline__ uint32 relax_locally(Push& push, int group_shift, const Hubs& hubs) {
    Outbox& outbox = push.outbox;
    Shared& shared = outbox.shared;
    if (threadIdx.x < NEARNESSES) shared.nearness[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        const int bits = 64 - __clzll(static_cast<int64>(shared.threshold - shared.last));
        shared.nearness_shift = bits > NEARNESS_BITS ? bits - NEARNESS_BITS : 0;
    }
    __syncthreads();
    const bool whole = 1 << group_shift == WARP;
    // Half of a warp shares a row, which has an arc for more than two thirds of the lanes in the mean: with one arc a
    // lane many would take two turns.
    const bool halves = 2 << group_shift == WARP &&
                        3 * static_cast<uint64>(push.graph.arcs) > WARP * static_cast<uint64>(push.graph.vertices);
    const uint32 usual = WARPS * (WARP >> group_shift);  // rows at once
    uint32 step = 0, held = shared.local_count[0];
    Counts counts = {0, 0};
#pragma unroll 1
    while (step < LOCAL_STEPS && held != 0) {
        const uint32 from = step % 2 * LOCAL_ROOM;
        outbox.local_step = step;
        uint32 requested = 0;
        if (threadIdx.x == 0) {
            shared.local_count[(step + 2) % 4] = 0;
            requested = current(&push.control[REDISTRIBUTE]);
        }
        const bool pairs = whole && held > WARPS;
        const int shift = pairs ? group_shift - 1 : group_shift;
        const uint32 rows = WARP >> shift, at_once = WARPS * rows;  // of a warp, and of all
        const bool chooses = held > at_once;
        if (chooses) choose_nearest(shared, step, held, at_once);
        if (threadIdx.x / WARP * rows < held) {
            uint32 slot = threadIdx.x / WARP * rows + (static_cast<uint32>(lane_id()) >> shift);
            const bool there = slot < held;
            if (chooses) slot = shared.choice[slot];
            Row row = {0, UNREACHED, 0, 0};
            if (there) row = shared.local.row[from + slot];
            if (pairs) {
                relax_pair(push, row, hubs, counts);
            } else if (whole) {
                relax_groups<WARP>(push, row, WARP, hubs, counts);
            } else if (halves) {
                relax_groups<WARP / 2>(push, row, WARP / 2, hubs, counts);
            } else {
                relax_groups<0>(push, row, 1 << group_shift, hubs, counts);
            }
        }
        const bool is_called = __syncthreads_or(threadIdx.x == 0 && requested == shared.round);
        step += 1;
        held = shared.local_count[step % 4];
        const uint32 patience = whole ? OVERLOAD_STEPS_WARP_PER_ROW : OVERLOAD_STEPS;
        const uint32 many = (whole ? OVERLOAD_FACTOR_WARP_PER_ROW : OVERLOAD_FACTOR) * usual;
        const bool is_overloaded = held > LOCAL_ROOM || (held > SPARE_FACTOR * usual && spares_blocks(shared)) ||
                                   (held > many && held * step > patience * usual);
        if (held > LOCAL_ROOM) held = LOCAL_ROOM;
        if (is_overloaded && threadIdx.x == 0) {
            push.control[REDISTRIBUTE] = shared.round;  // race-allowed: every writer writes the same
        }
        if (is_overloaded || is_called) break;
    }
    outbox.add(counts);
    end_copies();
    await_copies<0>();  // of rows that nobody came to
    if (held == 0) count_dry(shared, push.control);
    outbox.write_block(&shared.local.row[step % 2 * LOCAL_ROOM], held);
    return step;
}

// One of the parts of a row.  A row that is still a hub with so many is the first one's alone.
__device__ __forceinline__ Row part_of_row(Row row, uint32 part, uint32 parts) {
    const index_t first = row.begin / QUAD;
    const uint64 quads = static_cast<uint64>((row.end - 1) / QUAD - first + 1);
    if (quads > (HUB_ROW / QUAD - 1) * static_cast<uint64>(parts)) {
        if (part != 0) row.end = row.begin;
        return row;
    }
    const index_t begin = (first + static_cast<index_t>(quads * part / parts)) * QUAD;
    const index_t end = (first + static_cast<index_t>(quads * (part + 1) / parts)) * QUAD;
    if (begin > row.begin) row.begin = begin;
    if (end < row.end) row.end = end;
    return row;
}

// Relax a large frontier, and of the far list those that are due, for the others come into it anew: up to 32 entries a
// warp at a time, or parts of long rows, equally often and equally many for all warps.
__device__ __forceinline__ void relax_widely(Push& push, const Queue& queue, uint32 count, const Hubs& hubs) {
    Outbox& outbox = push.outbox;
    const Shared& shared = outbox.shared;
    const uint32 parts = shared.parts;
    const uint64 all = static_cast<uint64>(count + shared.due.count) * parts;
    const uint32 share = static_cast<uint32>((all + grid_warps() - 1) / grid_warps());
    const uint32 turns = (share + WARP - 1) / WARP, batch = (share + turns - 1) / turns;
#pragma unroll 1
    for (uint64 first = static_cast<uint64>(grid_warp()) * batch; first < all;
         first += static_cast<uint64>(grid_warps()) * batch) {
        const uint64 item = first + lane_id(), entry = parts == 1 ? item : item / parts;
        const uint32 part = static_cast<uint32>(item - entry * parts);
        Row row = {0, UNREACHED, 0, 0};
        bool stays = false;  // in the far list
        if (lane_id() < batch && item < all) {
            const bool listed = entry >= count;
            const Queue& from = listed ? shared.due.list : queue;
            const uint64 i = listed ? entry - count : entry;
            row = row_of(push.graph, from.vertex[i], from.length[i]);
            const bool live = current(&push.distance[row.vertex]) == row.length;
            stays = live && listed && row.length >= shared.threshold;
            if (!live || stays) row.end = row.begin;
        }
        if (part != 0) stays = false;
        if (shared.due.count != 0) outbox.push_far(__ballot_sync(FULL_MASK, stays), row.vertex, row.length);
        if (row.begin < row.end && part == 0) outbox.relaxed += 1;
        if (parts != 1 && row.begin < row.end) row = part_of_row(row, part, parts);
        relax_rows(push, row, hubs);
    }
}

// Relax the hubs that were put aside.  One may have come nearer since; then it is in the queue again, or, if it lies
// beyond the horizon, goes on pulling.
template <typename Visit>
__device__ __forceinline__ void relax_hubs(Visit& visit, const Graph& graph, const distance_t* distance,
                                           const Hubs& hubs, uint64 word) {
    share_hubs(
        hubs, word, [&](int32 vertex, distance_t length) { return row_of(graph, vertex, length); },
        [&](const Row& part) {
            const bool live = !Visit::SKIPS_STALE || current(&distance[part.vertex]) == part.length;
            // Lane 0 decides for all.
            if (__shfl_sync(FULL_MASK, static_cast<int>(live), 0)) relax_row(visit, part);
        });
}

#endif
