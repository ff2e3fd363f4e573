/*
Relaxing: what is done with four arcs, with the rows of a warp, and with what comes out of it.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_RELAX_CUH
#define GPUGRAPH_DELTA_STEPPING_RELAX_CUH

#include "delta_stepping/base.cuh"

// ------------------------------------------------------------------ what comes out

// Where the vertices go whose distances a warp has lowered.  Far ones, and near ones in wide rounds, are held back in
// shared memory and written out together; in local steps near ones go into the block's own queue.  All members but the
// last have the same value in every lane.
struct Outbox {
    Shared& shared;
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    bool far_open;                // the far list has not overflowed
    bool local;                   // near vertices go into the block's own queue for the step after `local_step`
    uint32 local_step;
    uint32 near_held, far_held;
    uint32 tally;                 // unlike the others a lane's own: of what it counts (enum Tally)

    // Count something; lane `what` knows how many.
    __device__ __forceinline__ void count(Tally what, uint32 number) {
        if (lane_id() == what) tally += number;
    }

    // From here on near vertices go to `near`, far ones to `far`, which has `listed` entries, if it has room.  All
    // threads must call.
    __device__ __forceinline__ void open(const List& near, const List& far, distance_t below, uint32 listed) {
        __syncthreads();
        if (threadIdx.x == 0) {
            shared.near = near;
            shared.far = far;
            shared.threshold = below;
            shared.far_least = UNREACHED;
        }
        __syncthreads();
        far_open = listed <= far.room;
    }

    // Take in every lane's vertex v if `won`: its distance fell to `length`, `again` from below the threshold.
    // All lanes must call.
    __device__ __forceinline__ void push(bool won, int32 v, distance_t length, bool again) {
        index_t begin = 0, end = 0;
        if (local && won && length < shared.threshold) {
            begin = graph.offsets[v];
            end = graph.offsets[v + 1];
        }
        push_row(won, {v, length, begin, end}, again);
    }

    // The same for one whose row is known, where that is needed: in local steps.
    __device__ __forceinline__ void push_row(bool won, const Row& row, bool again) {
        const unsigned winners = __ballot_sync(FULL_MASK, won);
        if (winners == 0) return;
        const unsigned below = lanes_before();
        const unsigned nears = __ballot_sync(FULL_MASK, won && row.length < shared.threshold);
        count(PUSHED, __popc(winners));
        count(REPEATED, __popc(__ballot_sync(FULL_MASK, again)));
        if (nears != 0) {
            if (local) {
                push_locally(nears, row);
            } else {
                if (nears >> lane_id() & 1) {
                    const uint32 slot = threadIdx.x / WARP * NEAR_BUFFER + near_held + __popc(nears & below);
                    shared.near_held.vertex[slot] = row.vertex;
                    shared.near_held.length[slot] = row.length;
                }
                near_held += __popc(nears);
                __syncwarp();
                if (near_held > NEAR_BUFFER - WARP) spill_near();
            }
        }
        push_far(winners & ~nears, row.vertex, row.length);
    }

    // Take in the far vertices of the lanes in `fars`.
    __device__ __forceinline__ void push_far(unsigned fars, int32 v, distance_t length) {
        if (fars == 0 || !far_open) return;
        if (fars >> lane_id() & 1) {
            const uint32 slot = threadIdx.x / WARP * FAR_BUFFER + far_held + __popc(fars & lanes_before());
            shared.far_held.vertex[slot] = v;
            shared.far_held.length[slot] = length;
        }
        far_held += __popc(fars);
        __syncwarp();
        if (far_held > FAR_BUFFER - WARP) spill_far();
    }

    // Put the rows of the lanes in `nears` into the block's queue; what finds no room there goes into the near queue.
    __device__ __forceinline__ void push_locally(unsigned nears, const Row& row) {
        const unsigned below = lanes_before();
        uint32 slot = 0;
        if (lane_id() == 0) {
            slot = atomicAdd(&shared.local_count[(local_step + 1) % 3], static_cast<uint32>(__popc(nears)));
        }
        slot = __shfl_sync(FULL_MASK, slot, 0) + __popc(nears & below);
        const bool mine = nears >> lane_id() & 1;
        if (mine && slot < LOCAL_ROOM) {
            const uint32 at = (local_step + 1) % 2 * LOCAL_ROOM + slot;
            shared.local.vertex[at] = row.vertex;
            shared.local.length[at] = row.length;
            shared.local.begin[at] = row.begin;
            shared.local.end[at] = row.end;
            fetch_ahead(row);
        }
        enqueue(__ballot_sync(FULL_MASK, mine && slot >= LOCAL_ROOM), row.vertex, row.length);
    }

    // Put the entries of the lanes in `lanes` into the near queue.
    __device__ __forceinline__ void enqueue(unsigned lanes, int32 v, distance_t length) {
        if (lanes == 0) return;
        const uint32 entry = reserve(__popc(lanes)) + __popc(lanes & lanes_before());
        if (lanes >> lane_id() & 1 && entry < shared.near.room) {
            shared.near.queue.vertex[entry] = v;
            shared.near.queue.length[entry] = length;
        }
    }

    // Ask for what the next steps will read: the arcs of the row, and the lines after those of the row and the vertex,
    // because neighbours often have neighbouring numbers.
    __device__ __forceinline__ void fetch_ahead(const Row& row) const {
        const index_t arc = row.begin < graph.arcs - AHEAD ? row.begin + AHEAD : row.begin;
        const int32 vertex = row.vertex < graph.vertices - AHEAD ? row.vertex + AHEAD : row.vertex;
        if (row.begin == row.end) return;
        prefetch_line(&graph.targets[row.begin]);
        prefetch_line(&graph.weights[row.begin]);
        prefetch_line(&graph.targets[arc]);
        prefetch_line(&graph.weights[arc]);
        prefetch_line(&graph.offsets[vertex]);
        prefetch_line(&distance[vertex]);
    }

    // Reserve `count` entries of the near queue, by one thread.  What finds no room is entered again later.
    __device__ __forceinline__ uint32 reserve_near(uint32 count) {
        const uint32 base = atomicAdd(shared.near.count, count);
        if (base + count > shared.near.room) atomicAdd(&control[LOST], 1u);
        return base;
    }

    // The same for the whole warp.
    __device__ __forceinline__ uint32 reserve(uint32 count) {
        uint32 base = 0;
        if (lane_id() == 0) base = reserve_near(count);
        return __shfl_sync(FULL_MASK, base, 0);
    }

    // Write what the warp holds in one of its buffers into a list, from entry `base` on.
    template <int ROOM>
    __device__ __forceinline__ void write(const Buffers<ROOM>& buffers, uint32& held, const List& list, uint32 base) {
        for (uint32 i = lane_id(); i < held; i += WARP) {
            if (base + i >= list.room) continue;
            list.queue.vertex[base + i] = buffers.vertex[threadIdx.x / WARP * ROOM + i];
            list.queue.length[base + i] = buffers.length[threadIdx.x / WARP * ROOM + i];
        }
        held = 0;
        __syncwarp();
    }
    __device__ __forceinline__ void write_near(uint32 base) { write(shared.near_held, near_held, shared.near, base); }

    // A far list that overflows is not used: all distances are read instead.
    __device__ __forceinline__ void write_far(uint32 base) {
        far_open = base + far_held <= shared.far.room;
        write(shared.far_held, far_held, shared.far, base);
    }

    __device__ __forceinline__ void spill_near() { write_near(reserve(near_held)); }
    __device__ __forceinline__ void spill_far() {
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(shared.far.count, far_held);
        note_far_least();
        write_far(__shfl_sync(FULL_MASK, base, 0));
    }

    // Keep the least distance in the far buffer.
    __device__ __forceinline__ void note_far_least() {
        for (uint32 i = lane_id(); i < far_held; i += WARP) {
            lower_to(&shared.far_least, shared.far_held.length[threadIdx.x / WARP * FAR_BUFFER + i]);
        }
    }

    // Write out everything, and tell all blocks what the next threshold needs to know.  A block reserves for all of its
    // warps at once, since reservations wait for each other.  All threads must call.
    __device__ __forceinline__ void flush() {
        uint32 near_at = 0, far_at = 0;
        if (lane_id() == 0 && near_held != 0) near_at = atomicAdd(&shared.near_left, near_held);
        if (lane_id() == 0 && far_held != 0) far_at = atomicAdd(&shared.far_left, far_held);
        note_far_least();
        if (tally != 0) atomicAdd(&shared.tallies[lane_id()], tally);
        tally = 0;
        __syncthreads();
        if (threadIdx.x < TALLIES && shared.tallies[threadIdx.x] != 0) {
            atomicAdd(&control[SETTLED + threadIdx.x], shared.tallies[threadIdx.x]);
            shared.tallies[threadIdx.x] = 0;
        }
        if (threadIdx.x == 0) {
            if (shared.steps != 0) atomicAdd(&control[STEPS], shared.steps);
            shared.steps = 0;
            if (shared.far_least != UNREACHED) atomicMax(shared.far.least, ~static_cast<uint64>(shared.far_least));
            if (shared.near_left != 0) shared.base = reserve_near(shared.near_left);
            shared.near_left = 0;
        }
        if (threadIdx.x == WARP) {
            if (shared.far_left != 0) shared.far_base = atomicAdd(shared.far.count, shared.far_left);
            shared.far_left = 0;
        }
        __syncthreads();
        if (near_held != 0) write_near(shared.base + __shfl_sync(FULL_MASK, near_at, 0));
        if (far_held != 0) write_far(shared.far_base + __shfl_sync(FULL_MASK, far_at, 0));
    }
};

// ------------------------------------------------------------------ four arcs

// Load what is told of the quad of arcs that begins at `first`, by one load where memory allows; what lies beyond the
// last arc of the graph is 0.  Such values are read once or twice and should not push distances out of the cache.
template <typename T>
__device__ __forceinline__ void load_quad(const T* values, index_t first, index_t arcs, T (&loaded)[QUAD]) {
    union {
        uint4 words[QUAD * sizeof(T) / sizeof(uint4)];
        T value[QUAD];
    } quad;
    if (reinterpret_cast<uint64>(values) % sizeof(uint4) == 0 && first <= arcs - QUAD) {
#pragma unroll
        for (int i = 0; i < static_cast<int>(QUAD * sizeof(T) / sizeof(uint4)); ++i) {
            quad.words[i] = streamed(reinterpret_cast<const uint4*>(values + first) + i);
        }
    } else {
#pragma unroll
        for (int i = 0; i < QUAD; ++i) quad.value[i] = first + i < arcs ? streamed(&values[first + i]) : T();
    }
#pragma unroll
    for (int i = 0; i < QUAD; ++i) loaded[i] = quad.value[i];
}

// Relax arcs out of vertices whose distance is `length`: lower the distances at their heads.
struct Push {
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    Outbox& outbox;
    distance_t horizon;  // sums from here on are left alone

    // Each lane brings those of the four arcs from `first` on that are its row's.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) {
        const bool all = horizon == UNREACHED;
        distance_t sum[QUAD];
        int32 head[QUAD] = {};
        weight_t weight[QUAD] = {};
        if (first < row.end) {
            load_quad(graph.weights, first, graph.arcs, weight);
            if (all) load_quad(graph.targets, first, graph.arcs, head);
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = first + i >= row.begin && first + i < row.end;
            sum[i] = mine ? extended(row.length, weight[i]) : UNREACHED;
            if (SUMS_OVERFLOW && all && mine && sum[i] == UNREACHED) note_overflow(head[i]);
            if (!all && sum[i] < horizon) head[i] = streamed(&graph.targets[first + i]);
        }
        lower(sum, head);
    }

    // Lower the distances at the heads to the sums below the horizon.  A distance is read before it is lowered: most
    // sums lose, and a read costs less than an atomic.
    __device__ __forceinline__ void lower(const distance_t (&sum)[QUAD], const int32 (&head)[QUAD]) {
        distance_t before[QUAD];
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            before[i] = 0;
            if (sum[i] < horizon) before[i] = current(&distance[head[i]]);
        }
        unsigned won = 0, again = 0;  // a bit for each arc
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (sum[i] >= before[i]) continue;
            before[i] = atomicMin(&distance[head[i]], sum[i]);
            if (sum[i] >= before[i]) continue;
            won |= 1u << i;
            if (before[i] < outbox.shared.threshold) again |= 1u << i;
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) outbox.push(won >> i & 1, head[i], sum[i], again >> i & 1);
    }

    // A sum that does not fit matters only if its head cannot be reached otherwise.
    __device__ __forceinline__ void note_overflow(int32 head) const {
        if (current(&distance[head]) == UNREACHED) control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
    }
};

// Lower the distance at the tail of an arc by what its head offers: the same the other way round, in a graph that has
// both arcs of every edge.
struct Pull {
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    distance_t horizon;  // heads from here on offer nothing yet

    // Lower the distance of `tail` to `sum`.
    __device__ __forceinline__ void take(int32 tail, distance_t sum) const {
        const distance_t before = current(&distance[tail]);
        if (sum < before) atomicMin(&distance[tail], sum);
        if (SUMS_OVERFLOW && sum == UNREACHED && before == UNREACHED) {
            control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
        }
    }

    // Each lane brings those of the four arcs from `first` on that are its row's.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) const {
        int32 head[QUAD] = {};
        distance_t offer[QUAD];
        if (first < row.end) load_quad(graph.targets, first, graph.arcs, head);
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = first + i >= row.begin && first + i < row.end;
            offer[i] = mine ? current(&distance[head[i]]) : UNREACHED;
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (offer[i] < horizon) take(row.vertex, extended(offer[i], graph.weights[first + i]));
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
__device__ __forceinline__ void append_hubs(const Hubs& hubs, const Row& row, bool is_hub, uint32* control) {
    const unsigned mask = __ballot_sync(FULL_MASK, is_hub);
    if (mask == 0) return;
    const uint64 pieces = is_hub ? pieces_of(row.begin, row.end) : 0;
    const uint64 mine = is_hub ? (1ull << HUB_SHIFT) + pieces : 0;
    const uint64 inclusive = warp_scan(mine);
    uint64 base = 0;
    if (lane_id() == WARP - 1) base = atomicAdd(hubs.pieces, inclusive);
    base = __shfl_sync(FULL_MASK, base, WARP - 1) + inclusive - mine;
    const uint64 slot = base >> HUB_SHIFT;
    if (!is_hub) return;
    if (slot >= hubs.room) {  // in local steps one hub may be put aside several times
        atomicAdd(&control[LOST], 1u);
        return;
    }
    hubs.vertex[slot] = row.vertex;
    hubs.length[slot] = row.length;
    hubs.first_piece[slot] = base & ((1ull << HUB_SHIFT) - 1);
}

// Give every warp an equal share of the pieces of the hubs that were put aside: visit(part) for each part of a row in
// it; row_of_hub(vertex, length) finds a row.  `word` holds hubs << HUB_SHIFT | pieces.
template <typename RowOfHub, typename Visit>
__device__ __forceinline__ void share_hubs(const Hubs& hubs, uint64 word, RowOfHub row_of_hub, Visit visit) {
    const uint32 rows = static_cast<uint32>(word >> HUB_SHIFT < hubs.room ? word >> HUB_SHIFT : hubs.room);
    const uint64 pieces = word & ((1ull << HUB_SHIFT) - 1), mine = pieces * grid_warp() / grid_warps();
    uint32 left = static_cast<uint32>(pieces * (grid_warp() + 1) / grid_warps() - mine);
    if (left == 0) return;
    uint32 hub = 0, beyond = rows;  // the last hub whose first piece is not after `mine`
    while (beyond - hub > 1) {
        const uint32 middle = (hub + beyond) / 2;
        if (current(&hubs.first_piece[middle]) <= mine) {
            hub = middle;
        } else {
            beyond = middle;
        }
    }
    count_t skipped = static_cast<count_t>(mine - current(&hubs.first_piece[hub]));  // pieces that others relax
#pragma unroll 1
    for (; left != 0 && hub < rows; ++hub) {
        Row row = row_of_hub(current(&hubs.vertex[hub]), current(&hubs.length[hub]));
        const count_t there = pieces_of(row.begin, row.end) - skipped;
        const uint32 taken = there < left ? static_cast<uint32>(there) : left;
        const index_t begin = quad_of(row.begin) + static_cast<index_t>(skipped * PIECE);
        if (skipped != 0) row.begin = begin;
        if (taken < there) row.end = begin + static_cast<index_t>(taken) * PIECE;
        left -= taken;
        skipped = 0;
        visit(row);
    }
}

// Relax the rows of the warp's lanes; hubs are put aside.  The arcs of the others are dealt out evenly, four side by
// side to a lane, so that none waits for a longer row.  All lanes must call; a lane without a row brings an empty one.
template <typename Visit>
__device__ __forceinline__ void relax_rows(Visit& visit, Row row, const Hubs& hubs) {
    const bool is_hub = row.end - row.begin >= HUB_ROW;
    append_hubs(hubs, row, is_hub, visit.control);
    if (is_hub) row.end = row.begin;
    const index_t quad = row.begin / QUAD;
    const uint32 mine = row.begin < row.end ? static_cast<uint32>((row.end - 1) / QUAD - quad + 1) : 0;
    const uint32 inclusive = warp_scan(mine);
    const uint32 total = __shfl_sync(FULL_MASK, inclusive, WARP - 1);
    const index_t origin = quad - static_cast<index_t>(inclusive - mine);
#pragma unroll 1
    for (uint32 turn = lane_id(); turn - lane_id() < total; turn += WARP) {
        int owner = 0;  // the first lane whose rows, with those before it, hold more than `turn` quads
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) {
            if (turn >= __shfl_sync(FULL_MASK, inclusive, owner + step - 1)) owner += step;
        }
        const index_t first = (__shfl_sync(FULL_MASK, origin, owner) + static_cast<index_t>(turn)) * QUAD;
        Row whole = {__shfl_sync(FULL_MASK, row.vertex, owner), __shfl_sync(FULL_MASK, row.length, owner),
                     __shfl_sync(FULL_MASK, row.begin, owner), __shfl_sync(FULL_MASK, row.end, owner)};
        if (turn >= total) whole.end = first;
        visit.relax_quad(whole, first);
    }
}

#endif
