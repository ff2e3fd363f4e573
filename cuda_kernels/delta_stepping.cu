/*
Single-source shortest paths in one cooperative launch: delta-stepping with two buckets, near and far, whose border is a
threshold that moves up.  What is special:

    no parameter      the width of a bucket doubles while the GPU is idle or distances settle at once; where many
                      vertices wait, a histogram of their distances sets how far the threshold goes
    local steps       a small frontier is divided among the blocks, and each follows what it finds for many steps in a
                      queue in its shared memory, with a few reads a step and no barrier of the grid; a block that finds
                      more than it relaxes at once, such as a clique, relaxes the nearest first, long rows by two a
                      warp, and requests a redistribution if it is much more, or if others have had no work
    a lone start      as long as little is pending the first block searches alone, thresholds included
    early thresholds  when most blocks have nothing near left, or a large round has left little, the threshold moves,
                      and what is left is relaxed with what is near by the new one
    packed rows       where rows are short and a search takes many steps, each is copied into one sector; it is read
                      while the distance of its vertex is lowered, and each warp goes on by itself for some steps; where
                      many rows are too long for that a long search leaves them again
    no far queue      far vertices are noted in a short list, whose least distance is kept: a threshold is known before
                      the list is read, and costs no barrier, for those due join the next round.  When it overflows,
                      distances are read instead: what is reached, and not below the threshold, is pending
    a horizon         where most arcs lead to hubs, sums from the horizon on are left alone, unread; then every vertex
                      beyond it pulls the best offer from within, and once more from the others: only those that fall
                      the second time have anything to push.  It counts from the source, or, where that is no hub, from
                      the first large ones met: until then buckets stay narrow, for their distances still fall
    a late horizon    in other graphs whose vertices can pull, the same from when many wait, if the number of vertices
                      settled multiplies from bucket to bucket.  It lies a few arcs further, or at nine tenths of those
                      that wait.  Those left beyond look only at arcs shorter than what they lie beyond that threshold
    hubs, quads       long rows are cut into pieces for all warps; a lane relaxes four arcs, which one load brings
    a dense graph     has no local steps, where most arcs lead to hubs and rows have a piece in the mean: in wide rounds
                      warps share a row, and those due are relaxed with those near
    a small graph     has no late horizon; where it expands at once a threshold goes many widths further
    an early end      where only the distance of a goal, or only distances up to a limit are wanted, no threshold
                      goes beyond them; the goal's is the least known so far

The phases are in delta_stepping/, in this order: relax (four arcs, a warp's rows), frontier (the near queue), carried
(the same with packed rows), buckets (the next threshold, the horizon), search (how they follow each other), alone (the
first round); where lowered vertices go is in outbox, what all share in base.

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
    reply_word (1)                                  reports to the host what it waits for

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
next round already, so what is reported of a round has words that take turns.

Source: U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms 49, 2003; A.
Davidson, S. Baxter, M. Garland, J. Owens, "Work-efficient parallel GPU methods for single-source shortest paths", IPDPS
2014 (near and far); V. Chakaravarthy et al., "Scalable single source shortest path algorithms for massively parallel
systems", IPDPS 2014 (pulling along long arcs); K. Wang, D. Fussell, C. Lin, "A fast work-efficient SSSP algorithm for
GPUs", PPoPP 2021 (the width follows the run).  Local steps, the list that may overflow and the horizon are ours.
*/
#include "delta_stepping/alone.cuh"

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident; control, wide_control, histogram are
// all 0, and so are the `next_words` words at `next` afterwards.  `symmetric`: both arcs of every edge are
// there; `group_shift` is the binary logarithm of the lanes that share a row in local steps, half of a warp where few
// arcs lead to rows that need a whole one.  Local steps relax up to `local_limit` entries, at times LOCAL_LIMIT_FACTOR
// or REPEATED_LIMIT_FACTOR times as many; `packs`: there are packed_rows.  Only distances below `limit` are wanted, and
// none beyond that of `goal`, -1 for none.  Writes distance, where those not wanted may be too large; replies whether a
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
    Outbox outbox = {shared, graph, distance, control, true, 0, 0, 0, 0, 0, 0};
    Push push = {graph, distance, control, outbox, shared.horizon};
    const Memory memory = {{near_vertex, near_length}, {far_vertex, far_length}, hub_vertex, hub_length,
                           hub_first_piece, histogram, wide_control};
    Search search = {shared, graph, goal, limit, symmetric, group_shift, packs, local_limit, room, far_room,
                     packed_rows, distance, memory, control, outbox, push, 0};
    if (!search.find(source, next, next_words)) return;
    if (is_first_thread()) {
        reply(reply_word, number, current(&control[OVERFLOW]));
        for (int tally = 0; tally < TALLIES; ++tally) control[STEPS + tally] = shared.counted[tally];
        for (int word = ROUNDS; word < OVERFLOW; ++word) control[word] = shared.done[word - ROUNDS];
        for (int phase = 0; phase < PHASES; ++phase) timeline[phase] = shared.spent[phase];
    }
}
