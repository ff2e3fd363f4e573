/*
What comes out of relaxing: where the vertices go whose distances were lowered, and what is counted.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_OUTBOX_CUH
#define GPUGRAPH_DELTA_STEPPING_OUTBOX_CUH

#include "delta_stepping/base.cuh"

// What a lane counts by itself: rows relaxed, and distances lowered, in the upper half those that were near.
struct Counts {
    uint32 relaxed, lowered;

    // A distance fell from `before`.
    __device__ __forceinline__ void note_lowered(distance_t before, distance_t threshold) {
        lowered += before < threshold ? (1u << 16) + 1 : 1;
    }
};

// Add 1 to a number in shared memory, which never comes near the end where this wraps; returns what it was.  The
// compiler would replace an addition by one for the whole warp, and that takes more instructions.
__device__ __forceinline__ uint32 take_place(uint32* number) { return atomicInc(number, 0x7fffffffu); }

// Where the vertices go whose distances a warp has lowered.  In wide rounds each warp holds them back in shared memory
// and writes them out together; in local steps near ones go into the block's own queue, and far ones are held back by
// the block.  All members but the last have the same value in every lane.
struct Outbox {
    Shared& shared;
    const Graph& graph;
    distance_t* distance;
    uint32* control;
    bool far_open;                // the far list has not overflowed
    uint32 local_step;            // those lowered in it go into the block's own queue for the next
    uint32 near_held, far_held;
    uint32 relaxed, lowered, repeated;  // unlike the others a lane's own: what it has counted (enum Tally)

    // Take in what a lane has counted by itself for a while.
    __device__ __forceinline__ void add(const Counts& counts) {
        relaxed += counts.relaxed;
        lowered += counts.lowered & 0xffff;
        repeated += counts.lowered >> 16;
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
            shared.far_found = 0;
        }
        __syncthreads();
        far_open = listed <= far.room;
    }

    // Take in every lane's vertex v if `won`: its distance fell to `length`.  All lanes must call.
    __device__ __forceinline__ void push(bool won, int32 v, distance_t length, distance_t threshold) {
        const unsigned nears = __ballot_sync(FULL_MASK, won && length < threshold);
        if (nears != 0) {
            hold(shared.near_held, near_held, nears, v, length);
            if (near_held > NEAR_BUFFER - WARP) spill_near();
        }
        if (far_open) push_far(__ballot_sync(FULL_MASK, won && length >= threshold), v, length);
    }

    // Take in the far vertices of the lanes in `fars`.
    __device__ __forceinline__ void push_far(unsigned fars, int32 v, distance_t length) {
        if (fars == 0 || !far_open) return;
        hold(shared.far_held, far_held, fars, v, length);
        if (far_held > FAR_BUFFER - WARP) spill_far();
    }

    // Take in a lane's far vertex in local steps.
    __device__ __forceinline__ void push_far_locally(int32 v, distance_t length) {
        if (far_open) put_far_locally(take_place(&shared.far_found), v, length);
    }

    // Put it into such a place: the block holds it, or where it has no room left the far list.
    __device__ __forceinline__ void put_far_locally(uint32 slot, int32 v, distance_t length) {
        if (slot < FAR_ROOM) {
            shared.far_held.vertex[slot] = v;
            shared.far_held.length[slot] = length;
        } else {
            lower_to(&shared.far_least, length);
            shared.far.put(atomicAdd(shared.far.count, 1u), v, length);
        }
    }

    // Write what the block holds when its local steps are done: `count` near rows, and far vertices.  Two threads
    // reserve for all at the same time.  All threads must call.
    __device__ __forceinline__ void write_block(const Row* rows, uint32 count) {
        const uint32 found = shared.far_found < FAR_ROOM ? shared.far_found : FAR_ROOM;
        if (count == 0 && found == 0) return;
        if (threadIdx.x == 0 && count != 0) shared.base = reserve_near(count);
        if (threadIdx.x == WARP && found != 0) shared.far_base = atomicAdd(shared.far.count, found);
        for (uint32 i = threadIdx.x; i < found; i += BLOCK) lower_to(&shared.far_least, shared.far_held.length[i]);
        __syncthreads();
        for (uint32 i = threadIdx.x; i < count; i += BLOCK) {
            shared.near.put(shared.base + i, rows[i].vertex, rows[i].length);
        }
        for (uint32 i = threadIdx.x; i < found; i += BLOCK) {
            shared.far.put(shared.far_base + i, shared.far_held.vertex[i], shared.far_held.length[i]);
        }
    }

    // Put the vertices of the lanes in `lanes` behind what the warp holds in one of its buffers.
    template <int ROOM>
    __device__ __forceinline__ void hold(Buffers<ROOM>& buffers, uint32& held, unsigned lanes, int32 v,
                                         distance_t length) {
        if (lanes >> lane_id() & 1) {
            const uint32 slot = threadIdx.x / WARP * ROOM + held + __popc(lanes & lanes_before());
            buffers.vertex[slot] = v;
            buffers.length[slot] = length;
        }
        held += __popc(lanes);
        __syncwarp();
    }

    // What counts the entries of the block's queue for the next step.
    __device__ __forceinline__ uint32* next_count() const { return &shared.local_count[(local_step + 1) % 4]; }

    // Put a lane's row into a place of that queue, or if there is no room into the near queue.
    __device__ __forceinline__ void put_locally(uint32 slot, const Row& row) {
        fetch_ahead(row);
        if (slot < LOCAL_ROOM) {
            shared.local.row[(local_step + 1) % 2 * LOCAL_ROOM + slot] = row;
        } else {
            shared.near.put(reserve_near(1), row.vertex, row.length);
        }
    }

    // Put the entries of the lanes in `lanes` into the near queue.
    __device__ __forceinline__ void enqueue(unsigned lanes, int32 v, distance_t length) {
        if (lanes == 0) return;
        const uint32 entry = reserve(__popc(lanes)) + __popc(lanes & lanes_before());
        if (lanes >> lane_id() & 1) shared.near.put(entry, v, length);
    }

    // Ask for what the next steps will read: the arcs of a short row, which this block will relax, and the lines after
    // those of the row and the vertex, because neighbours often have neighbouring numbers.
    __device__ __forceinline__ void fetch_ahead(const Row& row) const {
        if (row.begin == row.end || row.end - row.begin > CLOSE_ROW) return;
        const index_t arc = row.begin < graph.arcs - AHEAD ? row.begin + AHEAD : row.begin;
        const int32 vertex = row.vertex < graph.vertices - AHEAD ? row.vertex + AHEAD : row.vertex;
        if (NARROW || MIXED) {
            uint32* const unused = &shared.unused[threadIdx.x * CLOSE_READS];
            fetch_close(unused, &graph.targets[row.begin]);
            fetch_close(unused + 1, &graph.weights[row.begin]);
            fetch_close(unused + 2, &graph.targets[row.end - 1]);
            fetch_close(unused + 3, &graph.weights[row.end - 1]);
        } else {
            prefetch_line(&graph.targets[row.begin]);
            prefetch_line(&graph.weights[row.begin]);
        }
        prefetch_line(&graph.targets[arc]);
        prefetch_line(&graph.weights[arc]);
        prefetch_line(&graph.offsets[vertex]);
        prefetch_line(&distance[vertex]);
    }

    // Reserve `count` entries of the near queue, by one thread.  What finds no room is entered again later: the number
    // of entries shows it.
    __device__ __forceinline__ uint32 reserve_near(uint32 count) { return atomicAdd(shared.near.count, count); }

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
            const uint32 slot = threadIdx.x / WARP * ROOM + i;
            list.put(base + i, buffers.vertex[slot], buffers.length[slot]);
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

    // Count for the block what lanes have counted.
    __device__ __forceinline__ void count() {
        if (relaxed != 0) atomicAdd(&shared.tallies[RELAXED], relaxed);
        if (lowered != 0) atomicAdd(&shared.tallies[PUSHED], lowered);
        if (repeated != 0) atomicAdd(&shared.tallies[REPEATED], repeated);
        relaxed = lowered = repeated = 0;
    }

    // Write out everything, and count for all blocks what the threshold needs.  A block reserves for all of its
    // warps at once, since reservations wait for each other.  All threads must call.
    __device__ __forceinline__ void flush() {
        uint32 near_at = 0, far_at = 0;
        if (lane_id() == 0 && near_held != 0) near_at = atomicAdd(&shared.near_unwritten, near_held);
        if (lane_id() == 0 && far_held != 0) far_at = atomicAdd(&shared.far_unwritten, far_held);
        note_far_least();
        count();
        __syncthreads();
        if (threadIdx.x < TALLIES && shared.tallies[threadIdx.x] != 0) {
            atomicAdd(&control[COUNTED + shared.round % 3 * TALLIES + threadIdx.x], shared.tallies[threadIdx.x]);
            shared.tallies[threadIdx.x] = 0;
        }
        if (threadIdx.x == 0) {
            if (shared.far_least != UNREACHED) atomicMax(shared.far.least, ~static_cast<uint64>(shared.far_least));
            if (shared.near_unwritten != 0) shared.base = reserve_near(shared.near_unwritten);
            shared.near_unwritten = 0;
        }
        if (threadIdx.x == WARP) {
            if (shared.far_unwritten != 0) shared.far_base = atomicAdd(shared.far.count, shared.far_unwritten);
            shared.far_unwritten = 0;
        }
        __syncthreads();
        if (near_held != 0) write_near(shared.base + __shfl_sync(FULL_MASK, near_at, 0));
        if (far_held != 0) write_far(shared.far_base + __shfl_sync(FULL_MASK, far_at, 0));
    }
};

#endif
