/*
Relaxing: what is done with four arcs, and with the rows of a warp.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_RELAX_CUH
#define GPUGRAPH_DELTA_STEPPING_RELAX_CUH

#include "delta_stepping/outbox.cuh"

// ------------------------------------------------------------------ four arcs

// A sum that does not fit matters only if its vertex `v` cannot be reached otherwise.
__device__ __forceinline__ void note_overflow(uint32* control, const distance_t* distance, int32 v) {
    if (current(&distance[v]) == UNREACHED) control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
}

// Relax arcs out of vertices whose distance is `length`: lower the distances at their heads.
struct Push {
    static constexpr bool SKIPS_STALE = true;  // hubs that have come nearer since they were put aside
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    Outbox& outbox;
    const distance_t& horizon;  // sums from here on are left alone

    // Each lane brings those of the four arcs from `first` on that are its row's.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) {
        distance_t sum[QUAD], before[QUAD];
        int32 head[QUAD] = {};
        offer(row, first, horizon == UNREACHED || outbox.shared.complete != 0, sum, head);
        look(sum, head, before, [&](int32 v) { return current(&distance[v]); });
        const distance_t threshold = outbox.shared.threshold;
        Counts counts = {0, 0};
        const unsigned won = lower(sum, head, before, threshold, counts);
        outbox.add(counts);
        if (!__any_sync(FULL_MASK, won != 0)) return;
#pragma unroll
        for (int i = 0; i < QUAD; ++i) outbox.push(won >> i & 1, head[i], sum[i], threshold);
    }

    // The sums of those arcs, and their heads.  These are read with the weights if `whole`; within a horizon that was
    // there from the start only of the few arcs that lie there.
    __device__ __forceinline__ void offer(const Row& row, index_t first, bool whole, distance_t (&sum)[QUAD],
                                          int32 (&head)[QUAD]) {
        const bool all = horizon == UNREACHED;
        weight_t weight[QUAD] = {};
        if (first < row.end) {
            load_streamed(graph.weights, first, graph.arcs, weight);
            if (whole) load_streamed(graph.targets, first, graph.arcs, head);
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = row.holds(first + i);
            sum[i] = mine ? extended(row.length, weight[i]) : UNREACHED;
            if (SUMS_OVERFLOW && all && mine && sum[i] == UNREACHED) note_overflow(control, distance, head[i]);
            if (!whole && sum[i] < horizon) head[i] = streamed(&graph.targets[first + i]);
        }
    }

    // What the distances are at the heads of sums below the horizon, by read(head); of others 0.  A distance is read
    // before it is lowered: most sums lose, and a read costs less than an atomic.
    template <typename Read>
    __device__ __forceinline__ void look(const distance_t (&sum)[QUAD], const int32 (&head)[QUAD],
                                         distance_t (&before)[QUAD], Read read) const {
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            before[i] = 0;
            if (sum[i] < horizon) before[i] = read(head[i]);
        }
    }

    // Lower those that are greater than the sums.  All atomics are under way before one is waited for.  Returns a bit
    // for each that has fallen, and counts them.
    __device__ __forceinline__ unsigned lower(const distance_t (&sum)[QUAD], const int32 (&head)[QUAD],
                                              distance_t (&before)[QUAD], distance_t threshold, Counts& counts) const {
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (sum[i] < before[i]) before[i] = atomicMin(&distance[head[i]], sum[i]);
        }
        unsigned won = 0;
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (sum[i] >= before[i]) continue;
            won |= 1u << i;
            counts.note_lowered(before[i], threshold);
        }
        return won;
    }
};

// Lower the distance at the tail of an arc by what its head offers: the same the other way round, in a graph that has
// both arcs of every edge.  Where all heads offer something a tail may have offered before it falls; so it is pending.
struct Pull {
    static constexpr bool SKIPS_STALE = false;
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    Outbox& outbox;
    distance_t horizon;          // heads from here on offer nothing yet,
    const distance_t& complete;  // and those below this nothing more

    // Each lane brings those of the four arcs from `first` on that are its row's.  Where all heads may offer something
    // weights are read only of those that do; else an arc is left alone that is too long from the nearest of them.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) const {
        const bool all = complete == 0;
        int32 head[QUAD] = {};
        weight_t weight[QUAD] = {};
        distance_t offer[QUAD];
        if (first < row.end) {
            load_streamed(graph.targets, first, graph.arcs, head);
            if (!all) load_streamed(graph.weights, first, graph.arcs, weight);
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = row.holds(first + i) && (all || row.length == UNREACHED ||
                                                       extended(complete, weight[i]) < row.length);
            offer[i] = mine ? current(&distance[head[i]]) : UNREACHED;
        }
        bool offered = false;
        distance_t best = UNREACHED;
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (offer[i] >= horizon) continue;
            const distance_t sum = extended(offer[i], all ? graph.weights[first + i] : weight[i]);
            if (sum < best) best = sum;
            offered = true;
        }
        if (SUMS_OVERFLOW && offered && best == UNREACHED) note_overflow(control, distance, row.vertex);
        if (horizon == UNREACHED) {
            const distance_t before = best < row.length ? atomicMin(&distance[row.vertex], best) : 0;
            outbox.push_far(__ballot_sync(FULL_MASK, best < before), row.vertex, best);
        } else if (best < row.length && (!all || best < current(&distance[row.vertex]))) {
            atomicMin(&distance[row.vertex], best);
        }
    }
};

// ------------------------------------------------------------------ rows

// Relax the part [begin, end) of one row by the whole warp.  All lanes must call with the same arguments.
template <typename Visit>
__device__ __forceinline__ void relax_row(Visit& visit, const Row& row) {
#pragma unroll 1
    for (index_t first = quad_of(row.begin); first < row.end; first += WARP * QUAD) {
        visit.relax_quad(row, first + lane_id() * QUAD);
    }
}

// Put aside the rows of those lanes that bring a hub.  All lanes must call.
__device__ __forceinline__ void append_hubs(const Hubs& hubs, const Row& row, bool is_hub) {
    const unsigned mask = __ballot_sync(FULL_MASK, is_hub);
    if (mask == 0) return;
    const uint64 pieces = is_hub ? pieces_of(row.begin, row.end) : static_cast<count_t>(0);
    const uint64 mine = is_hub ? (1ull << HUB_SHIFT) + pieces : 0;
    const uint64 inclusive = warp_scan(mine);
    uint64 base = 0;
    if (lane_id() == WARP - 1) base = atomicAdd(hubs.pieces, inclusive);
    base = __shfl_sync(FULL_MASK, base, WARP - 1) + inclusive - mine;
    const uint64 slot = base >> HUB_SHIFT;
    if (!is_hub) return;
    if (slot >= hubs.room) {  // in local steps one hub may be put aside several times
        atomicAdd(hubs.pieces, 0 - pieces);  // nobody relaxes them: only those of hubs that found room are distributed
        return;
    }
    hubs.vertex[slot] = row.vertex;
    hubs.length[slot] = row.length;
    hubs.first_piece[slot] = base & ((1ull << HUB_SHIFT) - 1);
}

// Give every warp an equal share of the pieces of the hubs that were put aside: visit(part) for each part of a row in
// it; row_of_hub(vertex, length) finds a row.  `word` holds hubs << HUB_SHIFT | pieces: all hubs, those
// too that found no room, but the pieces only of those that did.
template <typename RowOfHub, typename Visit>
__device__ __forceinline__ void share_hubs(const Hubs& hubs, uint64 word, RowOfHub row_of_hub, Visit visit) {
    const uint32 rows = static_cast<uint32>(word >> HUB_SHIFT < hubs.room ? word >> HUB_SHIFT : hubs.room);
    const uint64 pieces = word & ((1ull << HUB_SHIFT) - 1), mine = pieces * grid_warp() / grid_warps();
    uint32 remaining = static_cast<uint32>(pieces * (grid_warp() + 1) / grid_warps() - mine);
    if (remaining == 0) return;
    uint32 hub = 0, among = rows;  // the last hub whose first piece is not after `mine` is among so many from `hub` on,
    while (among > 1) {            // at 32 of which the lanes look: what takes time are reads one after the other
        const uint32 apart = (among + WARP - 1) / WARP, mid = lane_id() * apart;
        const bool is_before = mid < among && hubs.first_piece[hub + mid] <= mine;
        const uint32 passed = (__popc(__ballot_sync(FULL_MASK, is_before)) - 1) * apart;
        hub += passed;
        among = among - passed < apart ? among - passed : apart;
    }
    count_t skipped = static_cast<count_t>(mine - current(&hubs.first_piece[hub]));  // pieces that others relax
#pragma unroll 1
    for (; remaining != 0 && hub < rows; ++hub) {
        Row row = row_of_hub(current(&hubs.vertex[hub]), current(&hubs.length[hub]));
        const count_t there = pieces_of(row.begin, row.end) - skipped;
        const uint32 taken = there < remaining ? static_cast<uint32>(there) : remaining;
        const index_t begin = quad_of(row.begin) + static_cast<index_t>(skipped * PIECE);
        if (skipped != 0) row.begin = begin;
        if (taken < there) row.end = begin + static_cast<index_t>(taken) * PIECE;
        remaining -= taken;
        skipped = 0;
        visit(row);
    }
}

// Relax the rows of the warp's lanes; hubs are put aside.  The arcs of the others are distributed evenly, four side by
// side to a lane, so that none waits for a longer row.  All lanes must call; a lane without a row brings an empty one.
template <typename Visit>
__device__ __forceinline__ void relax_rows(Visit& visit, Row row, const Hubs& hubs) {
    const bool is_hub = row.end - row.begin >= HUB_ROW;
    append_hubs(hubs, row, is_hub);
    if (is_hub) row.end = row.begin;
    const index_t quad = row.begin / QUAD;
    const uint32 mine = row.begin < row.end ? static_cast<uint32>((row.end - 1) / QUAD - quad + 1) : 0;
    const uint32 inclusive = warp_scan(mine);
    const uint32 total = __shfl_sync(FULL_MASK, inclusive, WARP - 1);
    const index_t origin = quad - static_cast<index_t>(inclusive - mine);
#pragma unroll 1
    for (uint32 turn = lane_id(); turn - lane_id() < total; turn += WARP) {
        // The first lane whose rows, with those before it, hold more than `turn` quads.
        const int owner = lanes_up_to(turn, inclusive);
        const index_t first = (__shfl_sync(FULL_MASK, origin, owner) + static_cast<index_t>(turn)) * QUAD;
        Row whole = {__shfl_sync(FULL_MASK, row.vertex, owner), __shfl_sync(FULL_MASK, row.length, owner),
                     __shfl_sync(FULL_MASK, row.begin, owner), __shfl_sync(FULL_MASK, row.end, owner)};
        if (turn >= total) whole.end = first;
        visit.relax_quad(whole, first);
    }
}

#endif
