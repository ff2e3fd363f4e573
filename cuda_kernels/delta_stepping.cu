/*
Single-source shortest paths in one cooperative launch: delta-stepping with two buckets, near and far, whose border is a
threshold that moves up.  What is special:

    no parameter      the width of a bucket follows what the last one saw: wider while the GPU is idle and distances
                      settle at once, narrower when they are lowered again and again; where many vertices wait, a
                      histogram of their distances says how far the threshold goes
    local steps       a small frontier is dealt out to the blocks, and each follows what it finds for many steps in a
                      queue in its shared memory: a step takes a few reads and no barrier of the grid; a block that
                      has found more than it can relax at once, such as a clique, relaxes the nearest first, long
                      rows by two a warp, and calls for a new deal if it is much more
    early thresholds  when most blocks have nothing near left, or a large round has left little, the threshold moves,
                      and nobody waits for the longest chain of a bucket; what is left is relaxed with what is near by
                      the new threshold
    packed rows       where vertices have few arcs and a search takes many steps, rows are copied into one sector
                      each; a row is read while the distance of its vertex is lowered, and each warp goes on by itself
                      for some steps, so that a hop waits for the memory once and for no barrier
    no far queue      far vertices are noted in a short list, whose least distance is kept, so that a threshold is known
                      before the list is read, and costs no barrier: who is due is dealt out with the next round.  When
                      it overflows, distances are read instead, a part of them to choose the threshold and all to see
                      who is below it: what is reached, and not below it, is pending
    a horizon         in a dense graph most arcs are far too long to matter.  At first sums from the horizon on are left
                      alone, unread; then every vertex beyond it pulls the best offer from within, and once more from
                      the others: only those that fall the second time have anything to push.  It counts from the
                      source, or, where most arcs belong to hubs and the source is none, from the first large ones met:
                      until then buckets stay narrow, so that hubs are not relaxed with distances that still fall
    a late horizon    in a sparse one, where vertices can pull, the same from when many wait: most of what would be
                      lowered beyond nine tenths of them falls again; those left then look only at arcs that are shorter
                      than what they lie beyond that threshold
    hubs              long rows are cut into pieces for all warps
    quads             a lane relaxes four arcs side by side, which one load brings
    an early end      where only the distance of a goal, or only distances up to a limit are asked for, no threshold
                      goes beyond them; the goal's is the least known so far

The phases stand in delta_stepping/, in this order: relax (four arcs, a warp's rows), frontier (the near queue), carried
(the same with packed rows), buckets (the next threshold, the horizon); where lowered vertices go is in outbox, what all
share in base.

    offsets (n+1)  targets (arcs)  weights (arcs)   the graph; weights are not negative
    packed_rows (n, or none)                        the graph once more, see struct PackedRow
    distance (n)                                    order-preserving words (distance_words.cuh)
    near (2 x room)                                 the near queue of this round and of the next: vertex and distance
    far (2 x far_room)                              the far list, and the one that is being made of it
    hubs (arcs / LOCAL_ROW + 1)                       rows put aside in a round
    histogram (2 x BINS)                            pending distances beyond the threshold; the halves take turns
    control, wide_control                           counters (enum Control, enum WideControl), all 0 before the launch
    next (next_words)                               another set of these three, which the launch behind this one uses
    timeline (PHASES)                               nanoseconds spent in each phase (enum Phase)
    reply_word (1)                                  tells the host what it waits for

Invariants.  A distance only falls, and each time it does its vertex is entered into a queue or the list, or stays
pending; an entry whose distance has fallen since is skipped.  When the near queue is empty every vertex below the
threshold is settled; the floor is the last for which that was seen.  An entry that found no room is found again: when
the queue is empty all vertices between the floor and the threshold are entered once more, of which there are at most n,
and the queue has room for n.
Below the horizon the same holds with the arcs that do not lead across it; vertices that were settled before there was
one have relaxed all of theirs.  Vertices that have pulled across it, and from each other, have nothing to push until
they fall; what reads all distances relaxes them nevertheless.  What a stale entry lowers in a step with packed rows is
not entered: a later entry of the same vertex lowers it further, for the sums are integers.

Kernel rules: every wait on another block is grid_barrier(); every loop around one runs equally often in all threads,
because what decides is read after a barrier and not written before the next.  A block may look while others are in the
next round already, so what is told of a round has words that take turns.

Source: U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms 49, 2003; A.
Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source shortest paths", IPDPS
2014 (near and far); V. Chakaravarthy et al., "Scalable single source shortest path algorithms for massively parallel
systems", IPDPS 2014 (pulling along long arcs); K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP algorithm for
GPUs", PPoPP 2021 (the width follows the run).  Local steps, the list that may overflow and the horizon are ours.
*/
#include "delta_stepping/buckets.cuh"
#include "delta_stepping/carried.cuh"

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; control, wide_control, histogram are
// all 0, and so are the `next_words` words at `next` afterwards.  `symmetric` tells that both arcs of every edge are
// there; `group_shift` is the binary logarithm of the lanes that share a row in local steps, half of a warp where few
// arcs lead to rows that need a whole one.  Local steps relax up to `local_limit` entries, at times LOCAL_LIMIT_FACTOR
// times as many; `packs` tells that there are packed_rows.  Only distances below `limit` are asked for, and none beyond
// that of `goal`, -1 for none.  Writes distance, of which what was not asked for may be too large; replies whether a
// wider word is needed, as the launch of that `number`.  The host may set control[STOP] while it runs: then it ends a
// round or two later, without a reply, and what it has written means nothing.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping(int32 source, int32 goal, distance_t limit, uint32 number, int32 vertices, index_t arcs,
               int32 symmetric, int32 group_shift, int32 packs, uint32 local_limit, uint32 room, uint32 far_room,
               const index_t* __restrict__ offsets, const int32* __restrict__ targets,
               const weight_t* __restrict__ weights, PackedRow* packed_rows, distance_t* distance,
               int32* near_vertex, distance_t* near_length, int32* far_vertex, distance_t* far_length,
               int32* hub_vertex, distance_t* hub_length, uint64* hub_first_piece, uint32* histogram,
               uint32* control, uint64* wide_control, uint64* next, uint32 next_words, uint64* timeline,
               uint64* reply_word) {
    __shared__ Shared shared;
    const Graph graph = {vertices, arcs, offsets, targets, weights};
    uint32 round = 0;
    if (1 << group_shift == WARP && !leads_to_rows(graph, LONG_GROUP, LONG_SHARE)) group_shift -= 1;
    const auto barrier = [&]() { grid_barrier(&control[ARRIVALS], &shared.barriers); };
    const auto barrier_or_stop = [&]() { return grid_barrier_or_stop(&control[ARRIVALS], &shared.barriers); };
    const auto enter = [&](Phase phase) {  // the time since the last call was spent in `phase`
        if (!is_first_thread()) return;
        const uint64 now = device_nanoseconds();
        shared.spent[phase] += now - shared.since;
        shared.since = now;
    };
    const auto asked = [&]() {  // distances from here on are not asked for, as far as is known
        if (goal < 0) return limit;
        const distance_t known = current(&distance[goal]);
        return known < limit ? known + 1 : limit;
    };
    const auto near = [&](uint32 turn) {
        const int64 first = static_cast<int64>(turn % 2) * room;
        return List{{near_vertex + first, near_length + first}, &control[NEAR + turn % 3], room, nullptr};
    };
    const auto far = [&](uint32 turn) {
        const int64 first = static_cast<int64>(turn % 2) * far_room;
        return List{{far_vertex + first, far_length + first}, &control[FAR + turn % 3], far_room,
                    &wide_control[FAR_LEAST + turn % 3]};
    };
    // Entries that are relaxed in local steps: more, where rows have a warp each, once arcs are no longer left alone.
    const auto most_local = [&]() {
        return 1 << group_shift == WARP && shared.horizon == UNREACHED ? LOCAL_LIMIT_FACTOR * local_limit : local_limit;
    };
    const auto hubs = [&](uint32 turn) {
        return Hubs{hub_vertex, hub_length, hub_first_piece, &wide_control[HUB_PIECES + turn % 3],
                    static_cast<uint64>(arcs / LOCAL_ROW + 1)};
    };

    const auto clear = [&](uint32 turn) {  // what is told of the round in which near queue `turn` is made
        *near(turn).count = 0;
        control[DRY + turn % 3] = 0;
        for (int what = 0; what < TALLIES; ++what) control[COUNTED + turn % 3 * TALLIES + what] = 0;
    };

    // What all blocks have told before they met: of the near queue `turn`, of the hubs put aside while it was made, of
    // what was counted, which a pass of hubs adds to, and of the far list.  One thread reads it for its block, since
    // reads of one word by all warps wait for each other.
    const auto look = [&](uint32 which) {
        const uint32 turn = anew(which);
        if (threadIdx.x == 0) {
            shared.seen = {shared.looked == turn ? shared.seen.began : shared.seen.near,
                           current(near(turn).count),
                           current(&control[DRY + turn % 3]),
                           current(far(shared.bucket).count),
                           current(&control[OVERFLOW]),
                           current(hubs(turn + 2).pieces),
                           current(far(shared.bucket).least)};
            if (shared.seen.near > room || shared.seen.pieces >> HUB_SHIFT > hubs(turn).room) shared.lost = true;
#pragma unroll
            for (int what = 0; what < TALLIES; ++what) {
                const uint32 seen = current(&control[COUNTED + turn % 3 * TALLIES + what]);
                shared.counted[what] += seen - (shared.looked == turn ? shared.seen_tallies[what] : 0);
                shared.seen_tallies[what] = seen;
            }
            shared.looked = turn;
        }
        __syncthreads();
    };
    const auto meet = [&](uint32 turn) {
        barrier();
        look(turn);
    };

    // Start: every distance is UNREACHED but the source's, which is the one entry.
    if (threadIdx.x == 0) {
        shared.settled_last = 1;
        const uint32 quarters = 1 << group_shift == WARP ? DRY_BLOCK_QUARTERS_WARP_PER_ROW : DRY_BLOCK_QUARTERS;
        shared.most = (gridDim.x * quarters + 3) / 4;
        shared.barriers = shared.packed = shared.bucket = shared.round = shared.looked = 0;
        shared.near_left = shared.far_left = shared.due.count = 0;
        shared.called[0] = shared.called[1] = 0;
        shared.lost = false;
        for (int what = 0; what < TALLIES; ++what) {
            shared.tallies[what] = shared.seen_tallies[what] = 0;
            shared.counted[what] = shared.counted_before[what] = 0;
        }
        shared.floor = shared.last = shared.complete = 0;
        for (int phase = 0; phase < PHASES; ++phase) shared.spent[phase] = 0;
        shared.since = device_nanoseconds();
    }
    clear_for_next(next, next_words);
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) distance[v] = v == source ? 0 : UNREACHED;
    if (is_first_thread()) {
        near(0).queue.vertex[0] = source;
        near(0).queue.length[0] = 0;
        control[NEAR] = 1;
    }
    Outbox outbox = {shared, graph, distance, control, true, 0, 0, 0, 0, 0, 0};
    const distance_t first_horizon = sample_weights(shared, graph, symmetric != 0, source);
    Push push = {graph, distance, control, outbox, shared.horizon};
    if (threadIdx.x == 0) {
        shared.horizon = first_horizon;
        distance_t threshold = word_of(shared.delta, weight_t());
        if (threshold == 0) threshold = 1;
        if (threshold > push.horizon) threshold = push.horizon;
        shared.threshold = threshold < limit ? threshold : limit;
    }
    meet(round);
    enter(START);

    while (true) {
        // Relax until nothing is near, or little: then the threshold moves early.  Not before a late horizon, for which
        // it has to be known what is settled.
        const auto sets_horizon = [&]() { return symmetric && push.horizon == UNREACHED && shared.complete == 0; };
        while (true) {
            if (shared.seen.near == 0 && shared.due.count == 0) break;
            const auto entries = [&]() { return shared.seen.near < room ? shared.seen.near : room; };
            if (is_first_thread()) {
                clear(round + 2);
                *hubs(round + 1).pieces = 0;
                control[ROUNDS] += 1;
            }
            if (threadIdx.x == 0) {
                shared.round = round + 1;
                shared.phase = shared.seen.near <= most_local() ? LOCAL : WIDE;
            }
            outbox.open(near(round + 1), far(shared.bucket), shared.threshold,
                        shared.due.count != 0 ? 0 : shared.seen.listed);
            uint32 steps = 1;
            if (shared.phase == LOCAL) {
                const bool packed = PACKABLE && shared.packed;
                deal(shared, graph, distance, near(round).queue, entries(), packed);
                steps = packed ? relax_carried(push, packed_rows, hubs(round))
                               : relax_locally(push, group_shift, hubs(round));
                outbox.write_far_of_block();
            } else {
                relax_widely(push, near(round).queue, entries(), hubs(round));
            }
            if (threadIdx.x == 0) {
                shared.tallies[STEPPED] += steps;
                shared.due.count = 0;
            }
            outbox.flush();
            round = shared.round;
            if (barrier_or_stop()) return;
            look(round);
            if (threadIdx.x == 0) enter(shared.phase);
            if (shared.seen.pieces != 0) {
                const uint64 pieces = shared.seen.pieces & ((1ull << HUB_SHIFT) - 1);
                if (threadIdx.x == 0 && shared.reach != 0 && pieces > static_cast<uint64>(arcs) / (HUB_SHARE * PIECE)) {
                    set_horizon_beyond(shared, shared.threshold);
                }
                outbox.open(near(round), far(shared.bucket), shared.threshold, shared.seen.listed);
                relax_hubs(push, graph, distance, hubs(round + 2), shared.seen.pieces);
                outbox.flush();
                meet(round);
                enter(HUBS);
            } else if (shared.seen.dry >= shared.most) {
                break;
            }
            if (!sets_horizon() && is_tail(shared, vertices, most_local())) break;
        }

        const auto early = [&]() { return shared.seen.near != 0; };

        // What found no room is entered again.
        if (!early() && shared.lost) {
            barrier();  // all have seen the queue empty before it fills again
            if (threadIdx.x == 0) shared.lost = false;
            outbox.open(near(round), far(shared.bucket), shared.threshold, shared.seen.listed);
            collect_near(outbox, static_cast<uint32>(vertices), shared.floor, shared.threshold);
            if (is_first_thread()) control[RESCANS] += 1;
            meet(round);
            enter(BUCKETS);
            continue;
        }

        // All that is asked for is settled: nobody writes a distance before all have read the goal's.
        const distance_t end = asked();
        if (!early() && shared.threshold >= end) {
            if (is_first_thread() && end != UNREACHED) control[OVERFLOW] = 0;  // of sums beyond it
            break;
        }

        // The next threshold: a width beyond the nearest that is pending.  That of the list has been kept, and may be
        // too near, for what was entered may have fallen since: then a bucket stays empty.  Without a list a part of
        // the distances is read, whose least is near enough, and where many wait the threshold goes far enough to take
        // in an eighth of the vertices.  From here until they meet nobody relaxes, so that all see the same; only a far
        // list as short as a small frontier is dealt out with the next round, without a meeting.
        const uint32 bucket = shared.bucket, turn = bucket % 2;
        const uint32 listed = shared.seen.listed;
        const bool few = listed <= far_room && listed <= graph.vertices / NEAR_SHARE;
        const bool moves = shared.threshold < push.horizon && shared.threshold < end && (few || !sets_horizon());
        if (early() && (listed == 0 || !moves)) {
            meet(round);
            continue;
        }
        const bool crosses = !early() && shared.threshold >= push.horizon;
        if (!few && !crosses) {
            survey_pending(shared, distance, vertices, histogram + turn * BINS, &control[PENDING + turn],
                           &wide_control[LEAST + turn], barrier);
        }
        const uint32 waiting = crosses ? 0 : shared.seen.listed;
        if (early() && waiting == 0) {
            meet(round);
            continue;
        }
        const bool deals = few && waiting != 0 && listed <= most_local() && shared.seen.near <= most_local();
        if (SUMS_OVERFLOW && DISTANCE_BITS == 32 && !deals && shared.seen.overflow != 0) break;  // wants wider words
        if (threadIdx.x == 0) {
            shared.last = shared.threshold;
            if (!early()) shared.floor = shared.threshold;
        }
        if (waiting != 0) {
            if (!few && sets_horizon()) set_late_horizon(shared, vertices, waiting);
            const distance_t threshold = next_threshold(shared, vertices, arcs, symmetric != 0, !few, asked());
            // Where more has been settled than waits few are still to come, and the list may hold what stays.
            bool keep = waiting <= far_room;
            if (!keep && shared.counted[RELAXED] > waiting) {
                const float32 part = part_beyond(shared, threshold);
                keep = part * waiting < far_room / 2;
            }
            // Rows are packed when steps have taken about as long as that takes.
            if (PACKABLE && packs && !shared.packed &&
                shared.counted[STEPPED] * PACKED_A_STEP > static_cast<uint64>(vertices) * PACKED) {
                pack_rows(graph, packed_rows);
                barrier();
                if (threadIdx.x == 0) shared.packed = 1;
            }
            if (blockIdx.x == 0) {
                for (int bin = threadIdx.x; bin < BINS; bin += BLOCK) histogram[(turn ^ 1) * BINS + bin] = 0;
                if (threadIdx.x == 0) {
                    control[PENDING + (turn ^ 1)] = 0;
                    wide_control[LEAST + (turn ^ 1)] = 0;
                    *far(bucket + 2).count = 0;
                    *far(bucket + 2).least = 0;
                    control[BUCKETS_DONE] += 1;
                    if (!few) control[SCANS] += 1;
                    if (early()) control[EARLY] += 1;
                }
            }
            if (deals) {
                if (goal >= 0) barrier();  // all have read how far it is
                if (threadIdx.x == 0) {
                    shared.threshold = threshold;
                    shared.bucket = bucket + 1;
                    shared.due = {far(bucket).queue, listed};
                }
                __syncthreads();
                enter(BUCKETS);
                continue;
            }
            // A block may still be reading how many are near, unless all have surveyed.
            if (!early()) {
                round += 1;
            } else if (few) {
                barrier();
            }
            outbox.open(near(round), far(bucket + 1), threshold, 0);
            if (keep) {
                const uint32 count = few ? listed : static_cast<uint32>(vertices);
                collect(outbox, {far(bucket).queue, distance, few, count}, shared.last, threshold);
            } else {
                collect_near(outbox, static_cast<uint32>(vertices), shared.last, threshold);
            }
            if (is_first_thread()) {
                clear(round + 1);
                *hubs(round).pieces = 0;
                if (!keep) *shared.far.count = far_room + 1;
            }
            if (threadIdx.x == 0) shared.bucket = bucket + 1;
            meet(round);
            enter(BUCKETS);
            continue;
        }
        if (push.horizon == UNREACHED) break;

        // Everything within the horizon is settled.  If few arcs are left outside, or few vertices where it was set
        // late, those there pull; else those within are relaxed once more, but for what had been settled before.
        const distance_t crossed = push.horizon;
        if (shared.complete == 0) weigh_sides(shared, graph, distance, &wide_control[BALANCE]);
        barrier();  // all have seen the queue empty, and what is asked for, before either changes
        const bool mostly_within = shared.complete == 0 ? static_cast<int64>(current(&wide_control[BALANCE])) >= 0
                                                 : shared.counted[RELAXED] > static_cast<uint32>(vertices) / 2;
        if (threadIdx.x == 0) {
            shared.horizon = UNREACHED;
            shared.delta *= BEYOND_WIDTHS;
        }
        if (symmetric && mostly_within) {
            // Those beyond pull twice: what lies within offers, then all do; who falls then is all that is pending.
            if (is_first_thread()) *far(bucket).count = *far(bucket).least = 0;
            outbox.open(near(round), far(bucket), crossed, 0);
#pragma unroll 1
            for (int again = 0; again < 2; ++again) {
                Pull pull = {graph, distance, control, outbox, again ? UNREACHED : crossed, shared.complete};
                pull_rows(shared, pull, crossed, hubs(round));
                outbox.flush();
                if (is_first_thread()) {
                    clear(round + 2);
                    *hubs(round + 1).pieces = 0;
                }
                round += 1;
                meet(round);
                if (shared.seen.pieces != 0) {
                    relax_hubs(pull, graph, distance, hubs(round - 1), shared.seen.pieces);
                    outbox.flush();
                    meet(round);
                }
                if (threadIdx.x == 0) shared.complete = crossed;
                __syncthreads();
            }
        } else {
            if (threadIdx.x == 0) shared.floor = shared.complete;
            outbox.open(near(round), far(bucket), crossed, shared.seen.listed);
            collect_near(outbox, static_cast<uint32>(vertices), shared.floor, crossed);
            meet(round);
        }
        if (threadIdx.x == 0) shared.threshold = shared.complete = crossed;
        __syncthreads();
        enter(PULL);
    }
    if (is_first_thread()) {
        reply(reply_word, number, current(&control[OVERFLOW]));
        for (int what = 0; what < TALLIES; ++what) control[STEPS + what] = shared.counted[what];
        for (int phase = 0; phase < PHASES; ++phase) timeline[phase] = shared.spent[phase];
    }
}
