/*
The phases of a search, in the order in which they follow each other: start, rounds until little is near, and between
two of these the next threshold, or the vertices beyond the horizon.

Blocks are less than a barrier apart: one may still read the counts of a round while others are in the next.  So these
words take turns, and the first block clears those that nobody can read any more.  Round R relaxes near queue R - 1 and
makes near queue R; near queue 0 is the source.  A pull is a round, too, and so is a pass that enters the vertices below
a new threshold, unless that moves early.  Bucket B ends when the threshold of bucket B + 1 is found.

    words                              cleared in           added to in          read
    NEAR, DRY, COUNTED      [R % 3]    round R - 1          round R              after round R, by look()
    HUB_PIECES              [R % 3]    round R - 1          round R              after round R, by look() and relax_hubs
    near queue              [R % 2]                         round R              in round R + 1
    FAR, FAR_LEAST          [B % 3]    the end of B - 2     bucket B             after its rounds, by look(); at its end
    far list                [B % 2]                         bucket B             at its end, or in the round after it
    PENDING, LEAST          [B % 2]    the end of B - 1     the end of B         behind the next barrier
    histogram               [B % 2]    the end of B - 1     the end of B         behind the next barrier
    Shared::local_count     [S % 4]    step S - 2           step S - 1           in step S, by the block alone
    LocalQueues::row        [S % 2]                         step S - 1           in step S, by the block alone
*/
#ifndef GPUGRAPH_DELTA_STEPPING_SEARCH_CUH
#define GPUGRAPH_DELTA_STEPPING_SEARCH_CUH

#include "delta_stepping/buckets.cuh"
#include "delta_stepping/carried.cuh"

#ifndef PACKED_AHEAD
#define PACKED_AHEAD false  // rows have been packed before the launch
#endif

// What comes after a look at what is pending.
enum Next { RELAXING, CROSSING, WIDER_WORDS };

// What a search writes but for distances and `control`.
struct Memory {
    Queue near, far;  // two queues and two lists, one behind the other
    int32* hub_vertex;
    distance_t* hub_length;
    uint64* hub_first_piece;
    uint32* histogram;
    uint64* wide_control;
};

// The arguments of the kernel, and what its phases share.  All threads must call all functions but enter(), clear() and
// those that only return something.
struct Search {
    Shared& shared;
    const Graph& graph;
    int32 goal;            // -1 for none
    distance_t limit;      // distances from here on are not wanted
    int32 symmetric;       // both arcs of every edge are there
    int32 group_shift;     // binary logarithm of the lanes that share a row in local steps
    int32 packs;           // there are packed_rows
    uint32 local_limit;    // entries that are relaxed in local steps
    uint32 room, far_room; // entries of a near queue, and of a far list
    PackedRow* packed_rows;
    distance_t* distance;
    const Memory& memory;
    uint32* control;
    Outbox& outbox;
    Push& push;
    uint32 round;          // the last one

    // ------------------------------------------------------------------ what the phases use

    __device__ __forceinline__ void barrier() { grid_barrier(&control[ARRIVALS], &shared.barriers); }

    // Count one more in a word of `control` that is written at the end.  By thread 0.
    __device__ __forceinline__ void note(Control word) { shared.done[word - ROUNDS] += 1; }

    // The time since the last call was spent in `phase`.
    __device__ __forceinline__ void enter(Phase phase) {
        if (!is_first_thread()) return;
        const uint64 now = device_nanoseconds();
        shared.spent[phase] += now - shared.since;
        shared.since = now;
    }

    // Distances from here on are not wanted: the limit, or what lies beyond the goal as far as that is known.
    __device__ __forceinline__ distance_t end_of_search() const {
        if (goal < 0) return limit;
        const distance_t known = current(&distance[goal]);
        return known < limit ? known + 1 : limit;
    }

    // The near queue that a round makes.
    __device__ __forceinline__ List near(uint32 in_round) const {
        const int64 first = static_cast<int64>(in_round % 2) * room;
        return {{memory.near.vertex + first, memory.near.length + first}, &control[NEAR + in_round % 3], room, nullptr};
    }

    // The far list of a bucket.
    __device__ __forceinline__ List far(uint32 of_bucket) const {
        const int64 first = static_cast<int64>(of_bucket % 2) * far_room;
        return {{memory.far.vertex + first, memory.far.length + first}, &control[FAR + of_bucket % 3], far_room,
                &memory.wide_control[FAR_LEAST + of_bucket % 3]};
    }

    // The hubs that a round puts aside.
    __device__ __forceinline__ Hubs hubs(uint32 in_round) const {
        return {memory.hub_vertex, memory.hub_length, memory.hub_first_piece,
                &memory.wide_control[HUB_PIECES + in_round % 3],
                static_cast<uint64>(graph.arcs / LOCAL_ROW + 1)};
    }

    // All rounds are wide, and warps share a row: local steps would put most aside as hubs, for a pass of their own.
    __device__ __forceinline__ bool cuts_rows() const { return shared.parts != 1; }

    // Entries that are relaxed in local steps: more, where rows have a warp each, once arcs are no longer left alone,
    // and in small graphs of short rows; and most where distances often fall twice, as they do not if the nearest go
    // first.
    __device__ __forceinline__ uint32 most_local() const {
        if (sets_horizon() && shared.counted[REPEATED] > RARE_REPEATS * shared.counted[PUSHED]) {
            return REPEATED_LIMIT_FACTOR * local_limit;
        }
        const bool more = shared.is_small ? 1 << group_shift <= SMALL_GROUP : 1 << group_shift == WARP;
        return more && shared.horizon == UNREACHED ? LOCAL_LIMIT_FACTOR * local_limit : local_limit;
    }

    // A late horizon may still be set, for which it has to be known what is settled.
    __device__ __forceinline__ bool sets_horizon() const {
        return symmetric && push.horizon == UNREACHED && shared.complete == 0 && !shared.is_small;
    }

    // The threshold moves before everything near is relaxed.
    __device__ __forceinline__ bool is_early() const { return shared.seen.near != 0; }

    // Clear the counters of a round, in the round before it.
    __device__ __forceinline__ void clear(uint32 of_round) {
        *near(of_round).count = 0;
        *hubs(of_round).pieces = 0;
        control[DRY + of_round % 3] = 0;
        for (int tally = 0; tally < TALLIES; ++tally) control[COUNTED + of_round % 3 * TALLIES + tally] = 0;
    }

    // Read the counters of a round, behind its barrier: of the near queue that it made, the hubs that it put aside, the
    // tallies, which a pass of hubs adds to, and of the far list.  One thread reads for its block, since reads of one
    // word by all warps wait for each other.  Behind round 1 blocks may differ in `most`, but none has counted as dry.
    __device__ __forceinline__ void look(uint32 of_round) {
        const uint32 turn = anew(of_round);
        if (threadIdx.x == 0) {
            const uint64 two = current(reinterpret_cast<const uint64*>(&control[OVERFLOW]));
            shared.seen = {shared.looked == turn ? shared.seen.began : shared.seen.near,
                           current(near(turn).count),
                           current(&control[DRY + turn % 3]) >= shared.most,
                           current(far(shared.bucket).count),
                           static_cast<uint32>(two),
                           current(hubs(turn).pieces),
                           current(far(shared.bucket).least)};
            shared.leaving = static_cast<uint32>(two >> 32);
            if (shared.seen.near > room || shared.seen.pieces >> HUB_SHIFT > hubs(turn).room) shared.lost = true;
#pragma unroll
            for (int tally = 0; tally < TALLIES; ++tally) {
                const uint32 seen = current(&control[COUNTED + turn % 3 * TALLIES + tally]);
                shared.counted[tally] += seen - (shared.looked == turn ? shared.seen_tallies[tally] : 0);
                shared.seen_tallies[tally] = seen;
            }
            shared.looked = turn;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void meet(uint32 of_round) {
        barrier();
        look(of_round);
    }

    // ------------------------------------------------------------------ start

    // Every distance is UNREACHED but the source's, which is the one entry.
    __device__ __forceinline__ void start(int32 source, uint64* next, uint32 next_words) {
        if (threadIdx.x == 0) {
            shared.settled_last = 1;
            shared.most = gridDim.x - gridDim.x / BUSY_SHARE;
            shared.barriers = shared.bucket = shared.round = shared.looked = 0;
            shared.near_unwritten = shared.far_unwritten = shared.due.count = 0;
            shared.requested[0] = shared.requested[1] = 0;
            shared.lost = false;
            shared.seen = {0, 1, 0, 0, 0, 0, 0};  // the source is near
            for (int tally = 0; tally < TALLIES; ++tally) {
                shared.tallies[tally] = shared.seen_tallies[tally] = 0;
                shared.counted[tally] = shared.counted_before[tally] = 0;
            }
            shared.floor = shared.last = shared.complete = 0;
            for (uint32& count : shared.done) count = 0;
            for (int phase = 0; phase < PHASES; ++phase) shared.spent[phase] = 0;
            shared.since = device_nanoseconds();
        }
        Sample sample = sample_arcs(graph);  // nobody waits for it yet
        clear_for_next(next, next_words);
        for (int64 v = grid_thread(); v < graph.vertices; v += grid_threads()) {
            distance[v] = v == source ? 0 : UNREACHED;
        }
        if (is_first_thread()) {
            near(0).queue.vertex[0] = source;
            near(0).queue.length[0] = 0;
            control[NEAR] = 1;
        }
        const index_t source_row = graph.offsets[source + 1] - graph.offsets[source];
        sample.row = graph.offsets[sample.head + 1] - graph.offsets[sample.head];
        const bool has_long = sample.leads_to_rows(PACKED + 1, PACKED_SHARE);
        if (threadIdx.x == 0) shared.packed = has_long ? 2 : 0;
        const bool uneven = sample.leads_to_rows(PACKED + 1, UNEVEN_SHARE);
        if (threadIdx.x == 0) shared.packed_steps = uneven ? UNEVEN_STEPS * gridDim.x : ~0u;
        const index_t mean_row = graph.arcs / graph.vertices;
        const bool cuts = mean_row >= PIECE && sample.leads_to_rows(HUB_ROW, CUT_SHARE);
        if (threadIdx.x == 0) shared.parts = cuts ? static_cast<uint32>(mean_row / LOCAL_ROW) + 1 : 1;
        if (1 << group_shift == WARP && !sample.leads_to_rows(LONG_GROUP, LONG_SHARE)) group_shift -= 1;
        const distance_t first_horizon = first_horizon_of(shared, graph, sample, source_row);
        if (threadIdx.x == 0) {
            shared.horizon = first_horizon;
            shared.is_small = first_horizon == UNREACHED && !shared.waits && is_small(graph);
            distance_t threshold = word_of(shared.delta, weight_t());
            if (threshold == 0) threshold = 1;
            if (threshold > push.horizon) threshold = push.horizon;
            shared.threshold = threshold < limit ? threshold : limit;
        }
        barrier();
        enter(START);
    }

    // ------------------------------------------------------------------ rounds

    // Relax until nothing is near, or little: then the threshold moves early, but not before a late horizon.  False if
    // the host wants the kernel to end.
    __device__ __forceinline__ bool relax_rounds() {
        while (true) {
            if (shared.seen.near == 0 && shared.due.count == 0) return true;
            if (!relax_near()) return false;
            if (shared.seen.pieces != 0) {
                relax_hubs_put_aside();
            } else if (shared.seen.dry) {
                return true;
            }
            if (!sets_horizon() && is_tail(shared, graph.vertices, most_local())) return true;
        }
    }

    // Round `round` + 1: relax what is near, by local steps where that is little.
    __device__ __forceinline__ bool relax_near() {
        const auto entries = [&]() { return shared.seen.near < room ? shared.seen.near : room; };
        if (is_first_thread()) clear(round + 2);
        if (threadIdx.x == 0) {
            shared.round = round + 1;
            note(ROUNDS);
            shared.phase = cuts_rows() || shared.seen.near > most_local() ? WIDE : LOCAL;
        }
        outbox.open(near(round + 1), far(shared.bucket), shared.threshold,
                    shared.due.count != 0 ? 0 : shared.seen.listed);
        uint32 steps = 1;
        if (shared.phase == LOCAL) {
            const bool packed = PACKABLE && shared.packed == 1;
            distribute(outbox, near(round).queue, entries(), packed);
            if (packed) {
                steps = relax_carried(push, packed_rows, hubs(round + 1));
            } else {
                steps = round == 0 ? relax_alone() : relax_locally(push, group_shift, hubs(round + 1));
            }
        } else {
            relax_widely(push, near(round).queue, entries(), hubs(round + 1));
        }
        if (threadIdx.x == 0) shared.tallies[STEPPED] += steps;
        outbox.flush();
        if (threadIdx.x == 0) shared.due.count = 0;
        round = shared.round;
        uint32 requested = 0;
        if (is_first_thread()) requested = static_cast<volatile uint32*>(control)[STOP];
        meet(round);
        if (round == 1 && !cuts_rows()) follow_first_block();
        if (ends(requested)) return false;
        if (threadIdx.x == 0) enter(shared.phase);
        return true;
    }

    // The first round; see alone.cuh.
    __device__ __forceinline__ uint32 relax_alone();
    __device__ __forceinline__ uint32 move_alone(uint32 step);
    __device__ __forceinline__ void follow_first_block();
    __device__ __forceinline__ bool find(int32 source, uint64* next, uint32 next_words);

    // Whether the host wants the kernel to end, alike in all threads of all blocks.  The first thread, which brings
    // what the host has `requested`, names the next barrier: a block that passes that one sees it, and one that is late
    // at this one sees a later number than its own.
    __device__ __forceinline__ bool ends(uint32 requested) {
        const uint32 leaving = shared.leaving;
        // race-allowed: read by blocks that are late, at a barrier before it
        if (requested != 0 && leaving == 0) control[LEAVING] = shared.barriers + 1;
        return leaving != 0 && has_reached(shared.barriers, leaving);
    }

    __device__ __forceinline__ void relax_hubs_put_aside() {
        const uint64 pieces = shared.seen.pieces & ((1ull << HUB_SHIFT) - 1);
        if (threadIdx.x == 0) {  // the others must not even load `waits`, which this thread writes
            const bool many = pieces > static_cast<uint64>(graph.arcs) / (HUB_SHARE * PIECE);
            if (many && shared.waits) set_horizon_beyond(shared, shared.threshold);
        }
        outbox.open(near(round), far(shared.bucket), shared.threshold, shared.seen.listed);
        relax_hubs(push, graph, distance, hubs(round), shared.seen.pieces);
        outbox.flush();
        meet(round);
        enter(HUBS);
    }

    // Enter again what found no room.
    __device__ __forceinline__ void collect_lost() {
        barrier();  // all have seen the queue empty before it fills again
        if (threadIdx.x == 0) {
            shared.lost = false;
            note(RESCANS);
        }
        outbox.open(near(round), far(shared.bucket), shared.threshold, shared.seen.listed);
        collect_near(outbox, static_cast<uint32>(graph.vertices), shared.floor, shared.threshold);
        meet(round);
        enter(BUCKETS);
    }

    // ------------------------------------------------------------------ the next threshold

    // The next threshold: a width beyond the nearest that is pending.  That of the list has been kept, and may be too
    // near, for what was entered may have fallen since: then a bucket stays empty.  Without a list a part of the
    // distances is read, whose least is near enough, and where many wait the threshold goes far enough to take in an
    // eighth of the vertices.  From here until they meet nobody relaxes, so that all see the same; only a far list as
    // short as a small frontier is distributed with the next round, without a meeting.  Nothing beyond `end` is wanted.
    __device__ __forceinline__ Next move_threshold(distance_t end) {
        const uint32 bucket = shared.bucket, turn = bucket % 2;
        const uint32 listed = shared.seen.listed;
        const bool few = listed <= far_room && listed <= graph.vertices / NEAR_SHARE;
        const bool moves = shared.threshold < push.horizon && shared.threshold < end && (few || !sets_horizon());
        if (is_early() && (listed == 0 || !moves)) {
            meet(round);
            return RELAXING;
        }
        const bool crosses = !is_early() && shared.threshold >= push.horizon;
        if (!few && !crosses) {
            survey_pending(shared, distance, graph.vertices, memory.histogram + turn * BINS, &control[PENDING + turn],
                           &memory.wide_control[LEAST + turn], [&]() { barrier(); });
        }
        const uint32 waiting = crosses ? 0 : shared.seen.listed;
        if (is_early() && waiting == 0) {
            meet(round);
            return RELAXING;
        }
        const uint32 most = most_local(), near_now = shared.seen.near;
        const bool fits = listed <= most && near_now <= most &&
                          listed + near_now <= (LOCAL_ROOM - 2) * gridDim.x;  // a block has room for its shares
        const bool distributes = few && waiting != 0 && (cuts_rows() || fits);
        if (SUMS_OVERFLOW && DISTANCE_BITS == 32 && !distributes && shared.seen.overflow != 0) return WIDER_WORDS;
        if (threadIdx.x == 0) {
            shared.last = shared.threshold;
            if (!is_early()) shared.floor = shared.threshold;
        }
        if (waiting == 0) return CROSSING;
        if (!few && sets_horizon()) set_late_horizon(shared, graph.vertices, waiting);
        const distance_t threshold =
            next_threshold(shared, graph.vertices, graph.arcs, symmetric != 0, !few, end_of_search());
        const bool keeps = fits_far_list(waiting, threshold);
        pack_if_it_pays();
        clear_for_next_bucket(bucket, turn, few);
        if (distributes) {
            if (goal >= 0) barrier();  // all have read how far it is
            if (threadIdx.x == 0) {
                shared.threshold = threshold;
                shared.bucket = bucket + 1;
                shared.due = {far(bucket).queue, listed};
            }
            __syncthreads();
            enter(BUCKETS);
            return RELAXING;
        }
        // A block may still be reading how many are near, unless all have surveyed.
        if (!is_early()) {
            round += 1;
        } else if (few) {
            barrier();
        }
        outbox.open(near(round), far(bucket + 1), threshold, 0);
        if (keeps) {
            const uint32 count = few ? listed : static_cast<uint32>(graph.vertices);
            collect(outbox, {far(bucket).queue, distance, few, count}, shared.last, threshold);
        } else {
            collect_near(outbox, static_cast<uint32>(graph.vertices), shared.last, threshold);
        }
        if (is_first_thread()) {
            clear(round + 1);
            if (!keeps) *shared.far.count = far_room + 1;
        }
        if (threadIdx.x == 0) shared.bucket = bucket + 1;
        meet(round);
        enter(BUCKETS);
        return RELAXING;
    }

    // Whether the far list can hold what stays beyond a threshold.  Where more has been settled than waits few are
    // still to come.
    __device__ __forceinline__ bool fits_far_list(uint32 waiting, distance_t threshold) const {
        if (waiting <= far_room) return true;
        return shared.counted[RELAXED] > waiting && part_beyond(shared, threshold) * waiting < far_room / 2;
    }

    // Pack rows when steps have taken about as long as that takes.
    __device__ __forceinline__ void pack_if_it_pays() {
        if (PACKABLE && packs && shared.packed == 0 &&
            (PACKED_AHEAD ||
             shared.counted[STEPPED] * PACKED_A_STEP > static_cast<uint64>(graph.vertices) * PACKED)) {
            if (!PACKED_AHEAD) pack_rows(graph, packed_rows);
            barrier();
            if (threadIdx.x == 0) shared.packed = 1;
        }
    }

    // Clear, in the first block, what the bucket after the next begins with.
    __device__ __forceinline__ void clear_for_next_bucket(uint32 bucket, uint32 turn, bool few) {
        if (blockIdx.x != 0) return;
        for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) memory.histogram[(turn ^ 1) * BINS + bin] = 0;
        if (threadIdx.x == 0) {
            control[PENDING + (turn ^ 1)] = 0;
            memory.wide_control[LEAST + (turn ^ 1)] = 0;
            *far(bucket + 2).count = 0;
            *far(bucket + 2).least = 0;
            note(BUCKETS_DONE);
            if (!few) note(SCANS);
            if (is_early()) note(EARLY);
        }
    }

    // ------------------------------------------------------------------ the horizon

    // Everything within the horizon is settled.  If few arcs are left outside, or few vertices where it was set late,
    // those there pull; else those within are relaxed once more, but for what had been settled before.
    __device__ __forceinline__ void cross_horizon() {
        const distance_t crossed = push.horizon;
        if (shared.complete == 0) weigh_sides(shared, graph, distance, &memory.wide_control[BALANCE]);
        barrier();  // all have seen the queue empty, and the end of the search, before either changes
        const bool mostly_within = shared.complete == 0
                                       ? static_cast<int64>(current(&memory.wide_control[BALANCE])) >= 0
                                       : shared.counted[RELAXED] > static_cast<uint32>(graph.vertices) / 2;
        if (threadIdx.x == 0) {
            shared.horizon = UNREACHED;
            shared.delta *= BEYOND_WIDTHS;
        }
        if (symmetric && mostly_within) {
            pull_twice(crossed);
        } else {
            if (threadIdx.x == 0) shared.floor = shared.complete;
            outbox.open(near(round), far(shared.bucket), crossed, shared.seen.listed);
            collect_near(outbox, static_cast<uint32>(graph.vertices), shared.floor, crossed);
            meet(round);
        }
        if (threadIdx.x == 0) shared.threshold = shared.complete = crossed;
        __syncthreads();
        enter(PULL);
    }

    // Vertices beyond the horizon pull twice: what lies within offers, then all do.  Who falls then is all that is
    // pending.
    __device__ __forceinline__ void pull_twice(distance_t crossed) {
        const uint32 bucket = shared.bucket;
        if (is_first_thread()) *far(bucket).count = *far(bucket).least = 0;
        outbox.open(near(round), far(bucket), crossed, 0);
#pragma unroll 1
        for (int again = 0; again < 2; ++again) {
            Pull pull = {graph, distance, control, outbox, again ? UNREACHED : crossed, shared.complete};
            pull_rows(shared, pull, crossed, hubs(round + 1));
            outbox.flush();
            if (is_first_thread()) clear(round + 2);
            round += 1;
            meet(round);
            if (shared.seen.pieces != 0) {
                relax_hubs(pull, graph, distance, hubs(round), shared.seen.pieces);
                outbox.flush();
                meet(round);
            }
            if (threadIdx.x == 0) shared.complete = crossed;
            __syncthreads();
        }
    }
};

#endif
