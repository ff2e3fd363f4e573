/*
The first round, which the first block makes alone, for it has all that is pending: at first the source.  As long as
that is no more than the block relaxes at once it moves the threshold by itself, with no barrier of the grid, while the
others wait.  A search that meets few vertices is over then.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_ALONE_CUH
#define GPUGRAPH_DELTA_STEPPING_ALONE_CUH

#include "delta_stepping/search.cuh"

// Returns the number of steps.
__device__ __forceinline__ uint32 Search::relax_alone() {
    if (blockIdx.x != 0) return 0;
    const uint32 rows = WARP >> group_shift;  // of a warp at once
    uint32 step = 0, held = shared.local_count[0];
    Counts counts = {0, 0};
#pragma unroll 1
    while (true) {
        if (held == 0) {
            outbox.add(counts);
            counts = {0, 0};
            held = move_alone(step);
        }
        if (held == 0 || held > WARPS * rows || step == LOCAL_STEPS) break;
        outbox.local_step = step;
        if (threadIdx.x == 0) shared.local_count[(step + 2) % 4] = 0;
        const uint32 slot = threadIdx.x / WARP * rows + (static_cast<uint32>(lane_id()) >> group_shift);
        Row row = {0, UNREACHED, 0, 0};
        if (slot < held) row = shared.local.row[step % 2 * LOCAL_ROOM + slot];
        relax_groups<0>(push, row, 1 << group_shift, hubs(1), counts);
        __syncthreads();
        step += 1;
        held = shared.local_count[step % 4];
        if (held > LOCAL_ROOM) held = LOCAL_ROOM;
    }
    outbox.add(counts);
    end_copies();
    await_copies<0>();  // of rows that nobody came to
    if (threadIdx.x < PROGRESS_WORDS) control[LED + threadIdx.x] = shared.progress[threadIdx.x];
    outbox.write_block(&shared.local.row[step % 2 * LOCAL_ROOM], held);
    return step;
}

// Move the threshold, where nothing is near and the block holds all that is far.  Returns how many vertices are near by
// the new one; they are in the block's queue for `step`.
__device__ __forceinline__ uint32 Search::move_alone(uint32 step) {
    static_assert(LOCAL_ROOM >= BLOCK, "the queue has room for what each thread finds due");
    const uint32 found = shared.far_found;
    if (found == 0 || found > BLOCK) return 0;
    Row row = {0, UNREACHED, 0, 0};
    if (threadIdx.x < found) {
        row = row_of(graph, shared.far_held.vertex[threadIdx.x], shared.far_held.length[threadIdx.x]);
    }
    const bool is_valid = threadIdx.x < found && current(&distance[row.vertex]) == row.length;
    const bool has_hubs = current(hubs(1).pieces) != 0;
    const distance_t nearest = warp_min(is_valid ? row.length : UNREACHED), end = end_of_search();
    if (lane_id() == 0) lower_to(&shared.far_least, nearest);
    outbox.count();
    __syncthreads();
    const distance_t least = shared.far_least;
    if (has_hubs || least >= end || least >= push.horizon) {
        if (threadIdx.x == 0 && least == UNREACHED) shared.far_found = 0;  // all entries are stale
        __syncthreads();
        return 0;
    }
    if (threadIdx.x == 0) {
        shared.seen.least = ~static_cast<uint64>(least);
        shared.seen.listed = found;
        shared.last = shared.floor = shared.threshold;
        shared.tallies[STEPPED] = step;
        for (int tally = 0; tally < TALLIES; ++tally) shared.counted[tally] = shared.tallies[tally];
        shared.far_found = 0;
        note(BUCKETS_DONE);
    }
    __syncthreads();
    const distance_t threshold = next_threshold(shared, graph.vertices, graph.arcs, symmetric != 0, false, end);
    const bool is_due = is_valid && row.length < threshold;
    const uint32 slot = warp_append(&shared.local_count[step % 4], is_due);
    if (is_due) shared.local.row[step % 2 * LOCAL_ROOM + slot] = row;
    if (is_valid && !is_due) outbox.push_far_locally(row.vertex, row.length);
    if (threadIdx.x == 0) {
        shared.threshold = threshold;
        shared.far_least = UNREACHED;
        shared.tallies[STEPPED] = 0;
        for (uint32& counted : shared.counted) counted = 0;  // what is counted is known when all have met
    }
    __syncthreads();
    return shared.local_count[step % 4];
}

// Go on where the first block has come to.
__device__ __forceinline__ void Search::follow_first_block() {
    if (blockIdx.x != 0 && threadIdx.x < PROGRESS_WORDS) {
        shared.progress[threadIdx.x] = current(&control[LED + threadIdx.x]);
    }
    __syncthreads();
}

// Make the whole search.  False if the host wants the kernel to end.
__device__ __forceinline__ bool Search::find(int32 source, uint64* next, uint32 next_words) {
    start(source, next, next_words);
    while (true) {
        if (!relax_rounds()) return false;
        if (!is_early() && shared.lost) {
            collect_lost();
            continue;
        }
        // All that is wanted is settled: nobody writes a distance before all have read the goal's.
        const distance_t end = end_of_search();
        if (!is_early() && shared.threshold >= end) {
            if (is_first_thread() && end != UNREACHED) control[OVERFLOW] = 0;  // of sums beyond it
            return true;
        }
        const Next after = move_threshold(end);
        if (after == RELAXING) continue;
        if (after == WIDER_WORDS || push.horizon == UNREACHED) return true;
        cross_horizon();
    }
}

#endif
