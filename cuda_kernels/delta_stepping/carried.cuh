/*
Local steps on graphs of few arcs a vertex, such as road networks, where a search is a chain of hops: each costs what a
read from memory costs and little else.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_CARRIED_CUH
#define GPUGRAPH_DELTA_STEPPING_CARRIED_CUH

#include "delta_stepping/frontier.cuh"

// An arc as a word of a packed row, and the weight in it.
__device__ __forceinline__ uint64 packed_arc(int32 head, uint32 weight) {
    return static_cast<uint64>(weight) << 32 | static_cast<uint32>(head);
}
__device__ __forceinline__ uint32 weight_in(uint64 arc, uint32) { return static_cast<uint32>(arc >> 32); }
template <typename Other>  // is not PACKABLE
__device__ __forceinline__ uint64 packed_arc(int32, Other) {
    return 0;
}
template <typename Other>
__device__ __forceinline__ Other weight_in(uint64, Other) {
    return 0;
}

// Such a word of a row that is too long: where the row begins, and below LONG_HEAD how many arcs it has.
__device__ __forceinline__ uint64 long_row(index_t begin, index_t end) {
    return static_cast<uint64>(begin) << 32 | static_cast<uint32>(LONG_HEAD - static_cast<int32>(end - begin));
}

// Write the packed rows of all vertices.
__device__ __forceinline__ void pack_rows(const Graph& graph, PackedRow* rows) {
#pragma unroll 1
    for (int64 v = grid_thread(); v < graph.vertices; v += grid_threads()) {
        const index_t begin = graph.offsets[v], end = graph.offsets[v + 1];
        PackedRow row;
#pragma unroll
        for (int i = 0; i < PACKED; ++i) {
            row.arc[i] = end - begin > PACKED ? long_row(begin, end) : packed_arc(NO_HEAD, weight_t());
            if (end - begin > PACKED || begin + i >= end) continue;
            row.arc[i] = packed_arc(streamed(&graph.targets[begin + i]), streamed(&graph.weights[begin + i]));
        }
        rows[v] = row;
    }
}

// The row of a vertex, in two reads.
__device__ __forceinline__ PackedRow read_row(const PackedRow* rows, int32 vertex) {
    static_assert(sizeof(PackedRow) == 2 * sizeof(ulonglong2), "two reads make a row");
    PackedRow row;
    const ulonglong2* const halves = reinterpret_cast<const ulonglong2*>(&rows[vertex]);
    const ulonglong2 first = __ldcg(halves), second = __ldcg(halves + 1);
    row.arc[0] = first.x;
    row.arc[1] = first.y;
    row.arc[2] = second.x;
    row.arc[3] = second.y;
    return row;
}

// What a warp carries: near vertices with their distances and rows, in a ring.  What finds no room in it goes to the
// block, and what finds none there into the near queue.  `turn` counts the times that the block has redistributed.
struct Carrier {
    Push& push;
    const PackedRow* rows;
    uint32 turn, first, held;
    Counts counts;
    uint32 thread;                  // threadIdx.x.  It and the next two are held in registers: each hop would wait for
    distance_t threshold, horizon;  // them otherwise

    __device__ __forceinline__ uint32 slot(uint32 i) const { return thread / WARP * CARRIED + (first + i) % CARRIED; }

    // Take in the entries of those lanes that bring one; all lanes must call.
    __device__ __forceinline__ void take(bool there, int32 vertex, distance_t length, const PackedRow& row) {
        Shared& shared = push.outbox.shared;
        const unsigned bringing = __ballot_sync(FULL_MASK, there);
        if (bringing == 0) return;
        const uint32 at = held + __popc(bringing & lanes_before());
        if (there && at < CARRIED) {
            shared.carried_vertex[slot(at)] = vertex;
            shared.carried_length[slot(at)] = length;
            shared.carried_row[slot(at)] = row;
        }
        held += __popc(bringing);
        if (held > CARRIED) {
            share(there && at >= CARRIED, vertex, length);
            held = CARRIED;
        }
        __syncwarp();
    }

    // Give the entries of those lanes that bring one to the block; all lanes must call.
    __device__ __forceinline__ void share(bool there, int32 vertex, distance_t length) {
        Outbox& outbox = push.outbox;
        Shared& shared = outbox.shared;
        const unsigned bringing = __ballot_sync(FULL_MASK, there);
        uint32 base = 0;
        if (lane_id() == 0) base = atomicAdd(&shared.local_count[turn % 4], static_cast<uint32>(__popc(bringing)));
        const uint32 at = __shfl_sync(FULL_MASK, base, 0) + __popc(bringing & lanes_before());
        if (there && at < LOCAL_ROOM) {
            Row& row = shared.local.row[turn % 2 * LOCAL_ROOM + at];
            row.vertex = vertex;
            row.length = length;
        }
        const unsigned rest = __ballot_sync(FULL_MASK, there && at >= LOCAL_ROOM);
        if (rest != 0) outbox.enqueue(rest, vertex, length);
    }

    // Relax the next entries, PACKED lanes each.  All that a hop needs is requested at once, so that it waits for the
    // memory once: the distance at the head is lowered while the head's row is read, in case it falls, and while the
    // distance of the tail shows whether the entry is stale.
    __device__ __forceinline__ void step(const Hubs& hubs) {
        Outbox& outbox = push.outbox;
        const Graph& graph = push.graph;
        const uint32 mine = thread % WARP / PACKED, rest = thread % PACKED;
        const uint32 taken = held < WARP / PACKED ? held : WARP / PACKED;
        uint64 arc = packed_arc(NO_HEAD, weight_t());
        distance_t length = UNREACHED;
        int32 vertex = NO_HEAD;
        if (mine < taken) {
            const uint32 from = slot(mine);
            arc = outbox.shared.carried_row[from].arc[rest];
            length = outbox.shared.carried_length[from];
            vertex = outbox.shared.carried_vertex[from];
        }
        __syncwarp();
        if (lane_id() == 0) counts.relaxed += taken;
        first += taken;
        held -= taken;
        // Rows that are too long to be packed are read as they are, or put aside if they are hubs.
        index_t at = 0, end = 0;
        bool more = __any_sync(FULL_MASK, static_cast<int32>(arc) <= LONG_HEAD);
        if (more) {
            if (static_cast<int32>(arc) <= LONG_HEAD) {
                at = static_cast<index_t>(arc >> 32);
                end = at + static_cast<index_t>(LONG_HEAD - static_cast<int32>(arc));
            }
            const bool is_hub = end - at >= LOCAL_ROW;
            append_hubs(hubs, {vertex, length, at, end}, is_hub && rest == 0);
            if (is_hub) at = end;
            at += static_cast<index_t>(rest);
        }
        while (true) {
            if (more) {
                if (static_cast<int32>(arc) <= LONG_HEAD) {
                    arc = packed_arc(NO_HEAD, weight_t());
                    if (at < end) arc = packed_arc(graph.targets[at], graph.weights[at]);
                }
                at += PACKED;
                more = __any_sync(FULL_MASK, at < end);
            }
            relax(vertex, length, static_cast<int32>(arc), weight_in(arc, weight_t()));
            if (!more) break;
            arc = packed_arc(LONG_HEAD, weight_t());
        }
    }

    // Relax an arc of `tail`, whose distance was `length`, in each lane; its head is NO_HEAD where there is none.
    __device__ __forceinline__ void relax(int32 tail, distance_t length, int32 head, weight_t weight) {
        Outbox& outbox = push.outbox;
        distance_t sum = UNREACHED, before = 0, tails = length;  // as the tail's is now
        PackedRow row = {};
        if (head >= 0) {
            sum = extended(length, weight);
            if (SUMS_OVERFLOW && sum == UNREACHED && horizon == UNREACHED) {
                note_overflow(push.control, push.distance, head);
            }
        }
        if (sum < horizon) {
            tails = current(&push.distance[tail]);
            row = read_row(rows, head);
            before = atomicMin(&push.distance[head], sum);
        }
        // What a stale entry has lowered its vertex will lower further when it comes again: nobody need know of it.
        const bool won = sum < before && tails == length, is_near = sum < threshold;
        take(won && is_near, head, sum, row);
        if (won && !is_near) outbox.push_far_locally(head, sum);
        if (won) counts.note_lowered(before, threshold);
    }
};

// Local steps with packed rows: as relax_locally(), but a warp goes on by itself with what it lowers for OWN_STEPS
// steps, with no barrier at all, before its block redistributes what its warps carry, and looks for a request.
__device__ __forceinline__ uint32 relax_carried(Push& push, const PackedRow* rows, const Hubs& hubs) {
    Outbox& outbox = push.outbox;
    Shared& shared = outbox.shared;
    const uint32 mine = threadIdx.x / WARP + lane_id() * WARPS;  // this lane's of the entries of the block
    Carrier carrier = {push, rows, 0, 0, 0, {0, 0}, anew(threadIdx.x), shared.threshold, push.horizon};
    bool there = false;
    int32 vertex = 0;
    distance_t length = 0;
#pragma unroll 1
    while (true) {
        const uint32 held = shared.local_count[carrier.turn % 4];
        if (threadIdx.x == 0) shared.local_count[(carrier.turn + 2) % 4] = 0;
        there = mine < held && mine < LOCAL_ROOM;
        if (there) {
            const Row& row = shared.local.row[carrier.turn % 2 * LOCAL_ROOM + mine];
            vertex = row.vertex;
            length = row.length;
        }
        carrier.turn += 1;
        if (held == 0 || held > LOCAL_ROOM || carrier.turn > CARRIED_STEPS / OWN_STEPS) break;
        if (shared.requested[(carrier.turn + 1) % 2] == shared.round) break;
        PackedRow row = {};
        if (there) row = read_row(rows, vertex);
        carrier.take(there, vertex, length, row);
#pragma unroll 1
        for (int step = 0; step < OWN_STEPS && carrier.held != 0; ++step) carrier.step(hubs);
        uint32 requested = 0;  // looked up by the warp that has the fewest entries
        if (threadIdx.x == BLOCK - 1) requested = current(&push.control[REDISTRIBUTE]);
        if (carrier.held != 0) {
            there = lane_id() < carrier.held;
            const uint32 from = carrier.slot(lane_id());
            carrier.share(there, shared.carried_vertex[from], shared.carried_length[from]);
            carrier.held = 0;
        }
        if (threadIdx.x == BLOCK - 1) shared.requested[carrier.turn % 2] = requested;
        __syncthreads();
    }
    if (shared.local_count[(carrier.turn + 3) % 4] == 0) count_dry(shared, push.control);
    outbox.add(carrier.counts);
    outbox.enqueue(__ballot_sync(FULL_MASK, there), vertex, length);
    outbox.write_block(nullptr, 0);
    return (carrier.turn - 1) * OWN_STEPS;
}

#endif
