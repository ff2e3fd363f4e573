/*
Shortest paths over ranks: the part of one rank in every round; messages lie in between.

A rank owns the vertices [first, first + rows) and holds every arc whose *head* is one of them, by tails.  So only the
owner lowers a distance, knows it exactly, and prunes as one device does; what travels is the vertices that are to be
relaxed, each with its distance.  A round looks over the vertices that are pending, those whose distance has fallen
since it was last sent (survey); all ranks agree on how far the round goes; what is near is put into one list of all
ranks (collect), and each relaxes its own arcs out of all of them (relax, relax_hubs).  Where each device can write into
the memory of all others, one launch makes all rounds, without messages (rounds).

In a dense graph most arcs are too long to matter.  As soon as many vertices are pending, a *horizon* is set, a window
beyond the nearest of them, and sums from it on are left alone.  The arcs of a row that are shorter than the window come
first in it, so that of vertices from the nearest one on the others are not even read.  Then the vertices beyond
(beyond) pull: in a graph that has both arcs of every edge, a rank looks in the rows of all of them for its own vertices
within (pull, pull_hubs), the best offers of all ranks are reduced, and the owner takes them (settle).  In a directed
graph what lies within is relaxed once more (reenter).

    own_offsets (rows + 1,) int64, own_targets, own_weights (arcs,)   what the rank was given: arcs by tail, of its own
    offsets (n + 1,) int64, light (n,) uint32        rows of all tails, and how many arcs in front are light, shorter
                                                     than the window;
    heads (arcs,) int32, weights (arcs,)             heads as the owner counts them, from 0.  Made by count and turn
    distance (rows,) distance_t                      UNREACHED at first
    pending (rows / 32 + 1,) uint32                  a bit for each own vertex
    entries (ENTRY_WORDS * n,) uint64                vertices of all ranks, each with its distance
    best (n,) distance_t                             of each entry that pulls the best offer
    hubs (arcs / HUB_ROW + 1)                        rows put aside, by entry; see relax.cuh
    control (CONTROL_WORDS,) uint32                  OVERFLOW, and NEAR: entries collected
    table (P, REPORT_WORDS) uint64                   what each rank reports of pending vertices; see enum Report

Kernel rules of rounds: every wait on another block is grid_barrier(), every wait on another device is meet(), which the
first block does between two barriers; all ranks come to the same ones, for they decide alike on the same table.

Source: Meyer & Sanders 2003, Delta-stepping: a parallelizable shortest path algorithm (light and heavy arcs);
Chakaravarthy et al. 2014, Scalable single source shortest path algorithms for massively parallel systems (pulling along
long arcs); Dong, Gu, Sun & Zhang 2021, Efficient stepping algorithms and implementations for parallel shortest paths
(a round takes so many of the nearest).  Rows by head, and the horizon, are ours.
*/
#define BLOCKS_ALIKE  // MOST_BLOCK threads on every GPU
#include "delta_stepping/relax.cuh"

constexpr int ENTRY_WORDS = DISTANCE_BITS / 32;
constexpr int TILE = 1024;  // arcs that a warp turns at a time

// What a rank reports of its pending vertices: the complement of the least distance, whether a sum did not fit, and how
// many there are by bin of their distance beyond `base`.
enum Report { LEAST_PENDING, OVERFLOWED, BY_BIN };
constexpr int REPORT_WORDS = BY_BIN + BINS;
constexpr int MOST_REPORT_WORDS = BY_BIN + 64 * 8;  // of 64-bit distances

// ------------------------------------------------------------------ entries

__device__ __forceinline__ void write_entry(uint64* entries, int64 i, int32 vertex, distance_t length) {
    if (ENTRY_WORDS == 1) {
        entries[i] = static_cast<uint64>(length) << 32 | static_cast<uint32>(vertex);
    } else {
        entries[2 * i] = static_cast<uint64>(length);
        entries[2 * i + 1] = static_cast<uint32>(vertex);
    }
}

struct Entry {
    int32 vertex;
    distance_t length;
};

__device__ __forceinline__ Entry read_entry(const uint64* entries, int64 i) {
    if (ENTRY_WORDS == 1) {
        return {static_cast<int32>(entries[i]), static_cast<distance_t>(entries[i] >> 32)};
    }
    return {static_cast<int32>(entries[2 * i + 1]), static_cast<distance_t>(entries[2 * i])};
}

// ------------------------------------------------------------------ rows by head

// Launch: any.  Writes: unplaced (n,), raised by the number of own arcs that lead to each vertex.
extern "C" __global__ void delta_stepping_distributed_count(int64 arcs, const int32* __restrict__ own_targets,
                                                            uint32* unplaced) {
    for (int64 arc = grid_thread(); arc < arcs; arc += grid_threads()) atomicAdd(&unplaced[own_targets[arc]], 1u);
}

// Turn every own arc v -> u of a graph that has both arcs of every edge into u -> v: light ones from the front of the
// row of u on, others from its end.
// Launch: any grid, blocks of whole warps.  Writes: heads, weights; light, 0 at first; unplaced, which heavy ones lower
// from the count of all to that of the light ones.  The order of arcs within a row is left open.
extern "C" __global__ void delta_stepping_distributed_turn(int32 rows, int64 arcs,
                                                           const int64* __restrict__ own_offsets,
                                                           const int32* __restrict__ own_targets,
                                                           const weight_t* __restrict__ own_weights, distance_t window,
                                                           const int64* __restrict__ offsets, uint32* unplaced,
                                                           uint32* light, int32* heads, weight_t* weights) {
    walk_arcs<TILE>(own_offsets, rows, 0, arcs, [&](int32 row, int64 arc, bool there) {
        if (!there) return;
        const int32 tail = own_targets[arc];
        const weight_t weight = own_weights[arc];
        const int64 first = offsets[tail];
        const int64 at = extended(0, weight) < window ? first + atomicAdd(&light[tail], 1u)
                                                       : first + atomicSub(&unplaced[tail], 1u) - 1;
        heads[at] = row;
        weights[at] = weight;
    });
}

// ------------------------------------------------------------------ what is pending

// Visit the pending vertices of a warp's 32 words: visit(word, there, v, length) for lane after lane of each word.
// Each lane brings one word in `bits`; all lanes must call.
template <typename Visit>
__device__ __forceinline__ void visit_bits(const distance_t* distance, uint32 bits, int64 first_word, Visit visit) {
#pragma unroll 1
    for (int word = 0; word < WARP; word += SCANNED) {
        distance_t length[SCANNED];
        uint32 theirs[SCANNED], any = 0;
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            theirs[k] = __shfl_sync(FULL_MASK, bits, word + k);
            any |= theirs[k];
        }
        if (any == 0) continue;
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            length[k] = UNREACHED;
            if (theirs[k] >> lane_id() & 1) length[k] = distance[(first_word + word + k) * WARP + lane_id()];
        }
#pragma unroll
        for (int k = 0; k < SCANNED; ++k) {
            const int32 v = static_cast<int32>((first_word + word + k) * WARP + lane_id());
            visit(word + k, theirs[k] >> lane_id() & 1, v, length[k]);
        }
    }
}

// Count the own pending vertices by bin of their distance beyond `base`, and find the nearest: both into `table`, 0 at
// first, by atomics.  All threads of the grid must call.
__device__ __forceinline__ void survey_pending(int32 rows, const distance_t* distance, const uint32* pending,
                                               distance_t base, float64 units, uint64* table) {
    __shared__ uint32 histogram[BINS];
    __shared__ uint64 least;
    Survey survey = {histogram, &least, base, units, UNREACHED};
    survey.begin();
    const int64 words = (static_cast<int64>(rows) + WARP - 1) / WARP;
    for (int64 first = grid_thread() - lane_id(); first < words; first += grid_threads()) {
        const uint32 bits = first + lane_id() < words ? pending[first + lane_id()] : 0;
        visit_bits(distance, bits, first, [&](int, bool there, int32, distance_t length) {
            if (there) survey.count(length);
        });
    }
    survey.end();
    survey.add_to(&table[BY_BIN], &table[LEAST_PENDING]);
}

// Launch: any.  Writes: table (REPORT_WORDS,), this rank's, 0 at first, by atomics; and 0 for what the round that
// follows counts.
extern "C" __global__ void delta_stepping_distributed_survey(int32 rows, const distance_t* __restrict__ distance,
                                                             const uint32* __restrict__ pending, distance_t base,
                                                             float64 units, uint32* control, uint64* hub_pieces,
                                                             uint64* table) {
    survey_pending(rows, distance, pending, base, units, table);
    if (grid_thread() == 0) {
        table[OVERFLOWED] = control[OVERFLOW];
        control[NEAR] = 0;
        *hub_pieces = 0;
    }
}

// Put the own pending vertices below a bin into the list of all ranks, and pending, which they are no longer:
// write(slot, v, length), slots by atomicAdd on `taken`.  All threads of the grid must call.
template <typename Write>
__device__ __forceinline__ void collect_pending(int32 rows, const distance_t* distance, uint32* pending,
                                                distance_t base, float64 units, int32 below, uint32* taken,
                                                Write write) {
    const int64 words = (static_cast<int64>(rows) + WARP - 1) / WARP;
    for (int64 word = grid_thread() - lane_id(); word < words; word += grid_threads()) {
        const int64 mine = word + lane_id();
        const uint32 bits = mine < words ? pending[mine] : 0;
        uint32 near = 0;
        visit_bits(distance, bits, word, [&](int which, bool there, int32, distance_t length) {
            const bool takes = there && bin_beyond(base, length, units) < below;
            const unsigned found = __ballot_sync(FULL_MASK, takes);
            if (lane_id() == which) near = found;
        });
        if (!__any_sync(FULL_MASK, near != 0)) continue;
        const uint32 slot = warp_reserve(taken, static_cast<uint32>(__popc(near)));
        if (near != 0) pending[mine] = bits & ~near;
        visit_bits(distance, near, word, [&](int which, bool there, int32 v, distance_t length) {
            const uint32 lanes = __ballot_sync(FULL_MASK, there), begin = __shfl_sync(FULL_MASK, slot, which);
            if (there) write(begin + __popc(lanes & lanes_before()), v, length);
        });
    }
}

// Launch: any grid, blocks of whole warps.  Writes: this rank's stretch of the entries, the pending vertices below a
// bin, slots by atomicAdd on control[NEAR]; pending, which they are no longer.
extern "C" __global__ void delta_stepping_distributed_collect(int32 rows, int32 first,
                                                              const distance_t* __restrict__ distance, uint32* pending,
                                                              distance_t base, float64 units, int32 below,
                                                              uint32* control, uint64* entries) {
    collect_pending(rows, distance, pending, base, units, below, &control[NEAR],
                    [&](uint32 slot, int32 v, distance_t length) { write_entry(entries, slot, first + v, length); });
}

// ------------------------------------------------------------------ relaxing

// The rows by head, whole or as far as the light arcs go.
struct Turned {
    const int64* offsets;
    const uint32* light;
    distance_t light_from;  // from this distance on all other arcs lead beyond the horizon; UNREACHED: rows are whole

    __device__ __forceinline__ Row row(int32 entry, int32 vertex, distance_t length) const {
        const int64 begin = offsets[vertex];
        const bool whole = light_from == UNREACHED || length < light_from;
        const int64 end = whole ? offsets[vertex + 1] : begin + light[vertex];
        return {entry, length, static_cast<index_t>(begin), static_cast<index_t>(end)};
    }
};

// Lower the distances of own vertices at the heads of arcs, and note them as pending.
struct Lower {
    const int32* heads;
    const weight_t* weights;
    index_t arcs;
    distance_t* distance;
    uint32* pending;
    uint32* control;
    distance_t horizon;  // sums from here on are left alone

    // Each lane brings those of the four arcs from `first` on that are its row's.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) {
        distance_t sum[QUAD], before[QUAD];
        int32 head[QUAD] = {};
        weight_t weight[QUAD] = {};
        if (first < row.end) {
            load_streamed(heads, first, arcs, head);
            load_streamed(weights, first, arcs, weight);
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = row.holds(first + i);
            sum[i] = mine ? extended(row.length, weight[i]) : UNREACHED;
            before[i] = 0;
            if (sum[i] < horizon) before[i] = current(&distance[head[i]]);
            if (SUMS_OVERFLOW && horizon == UNREACHED && mine && sum[i] == UNREACHED) {
                note_overflow(control, distance, head[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (sum[i] >= before[i] || sum[i] >= atomicMin(&distance[head[i]], sum[i])) continue;
            atomicOr(&pending[head[i] / WARP], 1u << head[i] % WARP);
        }
    }
};

// Lower the best offer to each vertex beyond the horizon: what own vertices within it offer along the same edges.
struct Offer {
    const int32* heads;
    const weight_t* weights;
    index_t arcs;
    const distance_t* distance;
    distance_t* best;
    uint32* control;
    distance_t horizon;

    // Each lane brings those of the four arcs from `first` on that are its row's.
    __device__ __forceinline__ void relax_quad(const Row& row, index_t first) {
        distance_t near[QUAD];
        int32 head[QUAD] = {};
        if (first < row.end) load_streamed(heads, first, arcs, head);
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            const bool mine = row.holds(first + i);
            near[i] = mine ? distance[head[i]] : UNREACHED;
        }
#pragma unroll
        for (int i = 0; i < QUAD; ++i) {
            if (near[i] >= horizon) continue;
            const distance_t sum = extended(near[i], streamed(&weights[first + i]));
            if (sum < current(&best[row.vertex])) atomicMin(&best[row.vertex], sum);
            if (SUMS_OVERFLOW && sum == UNREACHED) control[OVERFLOW] = 1;  // race-allowed: every writer writes 1
        }
    }
};

// Relax the rows of all entries; hubs are put aside.
template <typename Visit>
__device__ __forceinline__ void relax_entries(Visit& visit, const Turned& turned, const uint64* entries, uint32 count,
                                              const Hubs& hubs) {
    uint32 batch = (count + grid_warps() - 1) / grid_warps();
    if (batch > WARP) batch = WARP;
#pragma unroll 1
    for (uint64 first = static_cast<uint64>(grid_warp()) * batch; first < count;
         first += static_cast<uint64>(grid_warps()) * batch) {
        const uint64 i = first + lane_id();
        Row row = {0, UNREACHED, 0, 0};
        if (lane_id() < batch && i < count) {
            const Entry entry = read_entry(entries, static_cast<int64>(i));
            row = turned.row(static_cast<int32>(i), entry.vertex, entry.length);
        }
        relax_rows(visit, row, hubs);
    }
}

// Relax the hubs that were put aside: every warp takes an equal share of their pieces.
template <typename Visit>
__device__ __forceinline__ void relax_pieces(Visit& visit, const Turned& turned, const uint64* entries,
                                             const Hubs& hubs) {
    share_hubs(
        hubs, current(hubs.pieces),
        [&](int32 entry, distance_t length) { return turned.row(entry, read_entry(entries, entry).vertex, length); },
        [&](const Row& part) { relax_row(visit, part); });
}

// Launch: BLOCK threads.  Writes: distance and pending by atomics; hubs, slots by atomicAdd on hub_pieces, 0 at first.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_distributed_relax(uint32 count, const uint64* __restrict__ entries, distance_t light_from,
                                 const int64* __restrict__ offsets, const uint32* __restrict__ light,
                                 const int32* __restrict__ heads, const weight_t* __restrict__ weights, int64 arcs,
                                 distance_t horizon, distance_t* distance, uint32* pending, uint32* control,
                                 int32* hub_entry, distance_t* hub_length, uint64* hub_first_piece, uint64* hub_pieces,
                                 uint64 hub_room) {
    Lower lower = {heads, weights, static_cast<index_t>(arcs), distance, pending, control, horizon};
    relax_entries(lower, {offsets, light, light_from}, entries, count,
                  {hub_entry, hub_length, hub_first_piece, hub_pieces, hub_room});
}

// Launch: BLOCK threads.  Writes: distance and pending by atomics.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_distributed_relax_hubs(const uint64* __restrict__ entries, distance_t light_from,
                                      const int64* __restrict__ offsets, const uint32* __restrict__ light,
                                      const int32* __restrict__ heads, const weight_t* __restrict__ weights, int64 arcs,
                                      distance_t horizon, distance_t* distance, uint32* pending, uint32* control,
                                      int32* hub_entry, distance_t* hub_length, uint64* hub_first_piece,
                                      uint64* hub_pieces, uint64 hub_room) {
    Lower lower = {heads, weights, static_cast<index_t>(arcs), distance, pending, control, horizon};
    relax_pieces(lower, {offsets, light, light_from}, entries,
                 {hub_entry, hub_length, hub_first_piece, hub_pieces, hub_room});
}

// ------------------------------------------------------------------ all rounds in one launch

// Where every GPU can write into the memory of all others, a round needs no host: a rank has a block of memory that is
// mapped by all, its reports and the vertices that it sends go straight into those of the others, and a word in each
// counts them.
//
//     block   FLAGS words: how often each rank has signalled that what it wrote is there
//             two tables (P, REPORT_WORDS), as above, which take turns: who is late may read the last one still, which
//             may be of the other width of distances, so that both begin where the wider ones do
//             entries (ENTRY_WORDS * n,), as above
constexpr int FLAGS = 32;  // and so many ranks at most

enum Step { SURVEY, AGREE, COLLECT, EXCHANGE, RELAX };

// Words of `plan`, all 0 before the first round of a search but for EPOCH, which is kept from one to the next.
enum Plan {
    EPOCH,      // how often the ranks have met
    BASE,       // no pending vertex is nearer
    HORIZON,    // sums from here on are left alone; 0 until it is set
    LIGHT_FROM, // of vertices from here on light arcs are enough
    BELOW,      // the first bin that is not near
    BEGIN,      // this rank's first entry,
    COUNT,      // and how many all have
    ENDED,      // nothing is pending, or nothing within the horizon, or a sum of 32 bits did not fit
    DID_NOT_FIT,
    ROUNDS_DONE,
    ENTRIES,    // of all ranks in all rounds,
    SENT,       // and this one's
    SPENT,      // nanoseconds in each of enum Step
    PLAN_WORDS = SPENT + RELAX + 1
};

struct Ranks {
    int32 count, own;
    uint64* block;         // this rank's
    const uint64* blocks;  // where that of each is mapped here

    __device__ __forceinline__ uint64* block_of(int32 rank) const {
        return rank == own ? block : reinterpret_cast<uint64*>(blocks[rank]);
    }
    __device__ __forceinline__ uint64* table_in(uint64* block, uint64 epoch) const {
        return block + FLAGS + epoch % 2 * count * MOST_REPORT_WORDS;
    }
    __device__ __forceinline__ uint64* entries_in(uint64* block) const {
        return block + FLAGS + 2 * count * MOST_REPORT_WORDS;
    }
};

// Signal, in the memory of another GPU, that all is there that was written before.
__device__ __forceinline__ void signal(uint64* flag, uint64 epoch) {
#ifdef __CUDA_ARCH__
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(epoch) : "memory");
#else
    __threadfence_system();
    *static_cast<volatile uint64*>(flag) = epoch;
#endif
}

// What another GPU has signalled; what it wrote before is seen by whoever reads this first.
__device__ __forceinline__ uint64 signalled(const uint64* flag) {
#ifdef __CUDA_ARCH__
    uint64 epoch;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(epoch) : "l"(flag) : "memory");
#else
    const uint64 epoch = *static_cast<const volatile uint64*>(flag);
    __threadfence_system();
#endif
    return epoch;
}

// Wait until all ranks are here.  The first block alone calls, all its threads, between two barriers of the grid.
__device__ __forceinline__ void meet(const Ranks& ranks, uint64* plan) {
    const uint64 epoch = current(&plan[EPOCH]) + 1;
    __threadfence_system();
    __syncthreads();
    const int32 other = static_cast<int32>(threadIdx.x);
    if (other < ranks.count && other != ranks.own) {
        signal(&ranks.block_of(other)[ranks.own], epoch);
        spin_until(signalled(&ranks.block[other]) >= epoch);
    }
    if (threadIdx.x == 0) plan[EPOCH] = epoch;
    __syncthreads();
}

// The number of bins that begin before what lies a width beyond the nearest vertex.
__device__ __forceinline__ uint32 bins_to_width(distance_t base, distance_t nearest, float64 width, float64 units) {
    const float64 beyond = value_of(nearest, weight_t()) + width - value_of(base, weight_t());
    const float64 scaled = SUMS_OVERFLOW ? beyond : beyond * units;
    const float64 most = SUMS_OVERFLOW && DISTANCE_BITS == 64 ? 1.8446744073709550e19 : 4294967295.0;
    const int bin = bin_of(scaled < most ? static_cast<distance_t>(scaled) : static_cast<distance_t>(0xffffffffu));
    return static_cast<uint32>(scaled < most ? bin : BINS);
}

// What decides how far a round goes.
struct Reach {
    uint32 share;     // pending vertices that a round takes at least,
    float64 width;    // and it takes all that are less than this beyond the nearest
    float64 units;    // of float distances; see bin_beyond()
    bool crossed;     // there is no horizon, or no longer
    uint32 mass;      // pending vertices from which on a horizon is set,
    weight_t window;  // so far beyond the nearest
};

// Report to all ranks what is pending here, read what they report, and decide, as all do alike, what the round takes.
// The first block alone calls, all its threads, between two barriers of the grid.
__device__ __noinline__ void agree(const Ranks& ranks, const Reach& reach, uint64* own_table, uint32* control,
                                   uint64* hub_pieces, uint64* plan) {
    __shared__ uint32 histogram[BINS], sums[WARPS], counts[FLAGS];
    const uint64 epoch = current(&plan[EPOCH]);
    for (int word = threadIdx.x; word < REPORT_WORDS; word += blockDim.x) {
        const uint64 value = word == OVERFLOWED ? control[OVERFLOW] : current(&own_table[word]);
        for (int32 rank = 0; rank < ranks.count; ++rank) {
            ranks.table_in(ranks.block_of(rank), epoch)[ranks.own * REPORT_WORDS + word] = value;
        }
        own_table[word] = 0;
    }
    meet(ranks, plan);

    const uint64* table = ranks.table_in(ranks.block, epoch);
    const int bin = threadIdx.x;
    if (bin < BINS) {
        uint32 waiting = 0;
        for (int32 rank = 0; rank < ranks.count; ++rank) {
            waiting += static_cast<uint32>(current(&table[rank * REPORT_WORDS + BY_BIN + bin]));
        }
        histogram[bin] = waiting;
    }
    if (bin < FLAGS) counts[bin] = 0;
    __syncthreads();
    sum_histogram(histogram, sums);
    const uint32 total = histogram[BINS - 1];
    const bool waits = !reach.crossed && plan[HORIZON] == 0 && total < reach.mass;
    uint32 wanted = reach.share > 0 && !waits ? reach.share : 1;
    if (wanted > total) wanted = total;
    uint64 least = 0, over = 0;
    for (int32 rank = 0; rank < ranks.count; ++rank) {
        const uint64 complement = current(&table[rank * REPORT_WORDS + LEAST_PENDING]);
        if (complement > least) least = complement;
        over |= current(&table[rank * REPORT_WORDS + OVERFLOWED]);
    }
    const distance_t nearest = static_cast<distance_t>(~least), base = static_cast<distance_t>(plan[BASE]);
    uint32 below = static_cast<uint32>(bin_of_rank(histogram, wanted)) + 1;
    if (total != 0) {
        const uint32 to_width = bins_to_width(base, nearest, reach.width, reach.units);
        if (to_width > below) below = to_width;
    }
    for (int32 rank = 0; rank < ranks.count; ++rank) {
        uint32 mine = 0;
        if (bin < BINS && bin < below) mine = static_cast<uint32>(current(&table[rank * REPORT_WORDS + BY_BIN + bin]));
        mine = warp_scan(mine);
        if (lane_id() == WARP - 1 && mine != 0) atomicAdd(&counts[rank], mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint64 begin = 0, count = 0;
        for (int32 rank = 0; rank < ranks.count; ++rank) {
            if (rank == ranks.own) begin = count;
            count += counts[rank];
        }
        if (!reach.crossed && !waits && plan[HORIZON] == 0 && total != 0) {
            plan[HORIZON] = extended(nearest, reach.window);
            plan[LIGHT_FROM] = plan[HORIZON] == UNREACHED ? UNREACHED : nearest;
        }
        const bool beyond = !reach.crossed && plan[HORIZON] != 0 && nearest >= plan[HORIZON];
        const bool ends = total == 0 || beyond || (DISTANCE_BITS == 32 && over != 0);
        plan[BELOW] = below;
        plan[BEGIN] = begin;
        plan[COUNT] = count;
        plan[ENDED] = ends;
        if (over != 0) plan[DID_NOT_FIT] = 1;
        if (!ends) {
            plan[BASE] = nearest;  // nothing will ever be nearer
            plan[ROUNDS_DONE] += 1;
            plan[ENTRIES] += count;
            plan[SENT] += counts[ranks.own];
        }
        control[NEAR] = 0;
        *hub_pieces = 0;
    }
}

// The arguments of the kernel of all rounds, and the steps of a round.  All threads must call all functions but
// spent_on().
struct Rounds {
    const Ranks& ranks;
    int32 rows, first;
    const Reach& reach;
    Turned& turned;
    const Hubs& hubs;
    Lower& lower;
    uint64* entries;        // of all ranks, in this one's block
    uint64* own_table;
    uint64* plan;
    uint32 barriers;        // passed
    uint64 since;           // when the last step ended

    __device__ __forceinline__ void barrier() { grid_barrier(&lower.control[ARRIVALS], &barriers); }

    // The time since the last call was spent in `step`.
    __device__ __forceinline__ void spent_on(Step step) {
        if (grid_thread() != 0) return;
        const uint64 now = device_nanoseconds();
        plan[SPENT + step] += now - since;
        since = now;
    }

    // Survey what is pending beyond `base`, and agree with all ranks on what the round takes.  False if there is none.
    __device__ __forceinline__ bool plan_round(distance_t base) {
        survey_pending(rows, lower.distance, lower.pending, base, reach.units, own_table);
        barrier();
        spent_on(SURVEY);
        if (blockIdx.x == 0) agree(ranks, reach, own_table, lower.control, hubs.pieces, plan);
        barrier();
        spent_on(AGREE);
        const uint64 horizon = current(&plan[HORIZON]);
        if (!reach.crossed && horizon != 0) {
            lower.horizon = static_cast<distance_t>(horizon);
            turned.light_from = static_cast<distance_t>(current(&plan[LIGHT_FROM]));
        }
        return current(&plan[ENDED]) == 0;
    }

    // Write the own entries of the round into the lists of all ranks, and wait until theirs are here.
    __device__ __forceinline__ void exchange_entries(distance_t base) {
        const uint64 begin = current(&plan[BEGIN]);
        const int32 below = static_cast<int32>(current(&plan[BELOW]));
        collect_pending(rows, lower.distance, lower.pending, base, reach.units, below, &lower.control[NEAR],
                        [&](uint32 slot, int32 v, distance_t length) {
                            for (int32 other = 0; other < ranks.count; ++other) {
                                uint64* list = ranks.entries_in(ranks.block_of(other));
                                write_entry(list, static_cast<int64>(begin + slot), first + v, length);
                            }
                        });
        __threadfence_system();
        barrier();
        spent_on(COLLECT);
        if (blockIdx.x == 0) meet(ranks, plan);
        barrier();
        spent_on(EXCHANGE);
    }

    // Relax the own arcs out of all entries.
    __device__ __forceinline__ void relax() {
        relax_entries(lower, turned, entries, static_cast<uint32>(current(&plan[COUNT])), hubs);
        barrier();
        if (current(hubs.pieces) != 0) {
            relax_pieces(lower, turned, entries, hubs);
            barrier();
        }
        spent_on(RELAX);
    }
};

// Launch: cooperative, BLOCK threads; control[ARRIVALS] and plan[ENDED] are 0.  Writes: distance and pending by
// atomics, plan, hubs; own_table (REPORT_WORDS,), 0 at first and afterwards; the blocks of all ranks.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_distributed_rounds(int32 count, int32 rank, uint64* block, const uint64* __restrict__ blocks, int32 rows,
                                  int32 first, uint32 share, float64 width, float64 units, int32 crossed, uint32 mass,
                                  weight_t window, const int64* __restrict__ offsets, const uint32* __restrict__ light,
                                  const int32* __restrict__ heads, const weight_t* __restrict__ weights, int64 arcs,
                                  distance_t* distance, uint32* pending, uint32* control, int32* hub_entry,
                                  distance_t* hub_length, uint64* hub_first_piece, uint64* hub_pieces, uint64 hub_room,
                                  uint64* own_table, uint64* plan) {
    const uint64 since = device_nanoseconds();
    const Ranks ranks = {count, rank, block, blocks};
    const Reach reach = {share, width, units, crossed != 0, mass, window};
    Lower lower = {heads, weights, static_cast<index_t>(arcs), distance, pending, control, UNREACHED};
    Turned turned = {offsets, light, UNREACHED};
    const Hubs hubs = {hub_entry, hub_length, hub_first_piece, hub_pieces, hub_room};
    Rounds rounds = {ranks, rows, first, reach, turned, hubs, lower, ranks.entries_in(block), own_table,
                     plan, 0, since};
    while (true) {
        const distance_t base = static_cast<distance_t>(current(&plan[BASE]));
        if (!rounds.plan_round(base)) return;
        rounds.exchange_entries(base);
        rounds.relax();
    }
}

// ------------------------------------------------------------------ across the horizon

// Launch: any grid, blocks of whole warps.  Writes: this rank's stretch of the entries, the own vertices with arcs that
// are not reached within the horizon, slots by atomicAdd on control[NEAR]; only counts them if `only_count`.
extern "C" __global__ void delta_stepping_distributed_beyond(int32 rows, int32 first,
                                                             const int64* __restrict__ own_offsets,
                                                             const distance_t* __restrict__ distance,
                                                             distance_t horizon, int32 only_count, uint32* control,
                                                             uint64* entries) {
    for (int64 word = grid_thread() - lane_id(); word * WARP < rows; word += grid_threads()) {
        uint32 away = 0;
#pragma unroll 1
        for (int i = 0; i < WARP && (word + i) * WARP < rows; ++i) {
            const int64 v = (word + i) * WARP + lane_id();
            const bool is_away = v < rows && distance[v] >= horizon && own_offsets[v] != own_offsets[v + 1];
            const unsigned found = __ballot_sync(FULL_MASK, is_away);
            if (lane_id() == i) away = found;
        }
        const uint32 slot = warp_reserve(&control[NEAR], static_cast<uint32>(__popc(away)));
        if (only_count) continue;
        visit_bits(distance, away, word, [&](int which, bool there, int32 v, distance_t length) {
            const uint32 lanes = __ballot_sync(FULL_MASK, there), begin = __shfl_sync(FULL_MASK, slot, which);
            if (there) write_entry(entries, begin + __popc(lanes & lanes_before()), first + v, length);
        });
    }
}

// Launch: BLOCK threads.  Writes: best, UNREACHED at first, by atomics; hubs, as relax does.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_distributed_pull(uint32 count, const uint64* __restrict__ entries, const int64* __restrict__ offsets,
                                const uint32* __restrict__ light, const int32* __restrict__ heads,
                                const weight_t* __restrict__ weights, int64 arcs,
                                const distance_t* __restrict__ distance, distance_t horizon, distance_t* best,
                                uint32* control, int32* hub_entry, distance_t* hub_length, uint64* hub_first_piece,
                                uint64* hub_pieces, uint64 hub_room) {
    Offer offer = {heads, weights, static_cast<index_t>(arcs), distance, best, control, horizon};
    relax_entries(offer, {offsets, light, UNREACHED}, entries, count,
                  {hub_entry, hub_length, hub_first_piece, hub_pieces, hub_room});
}

// Launch: BLOCK threads.  Writes: best by atomics.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_distributed_pull_hubs(const uint64* __restrict__ entries, const int64* __restrict__ offsets,
                                     const uint32* __restrict__ light, const int32* __restrict__ heads,
                                     const weight_t* __restrict__ weights, int64 arcs,
                                     const distance_t* __restrict__ distance, distance_t horizon, distance_t* best,
                                     uint32* control, int32* hub_entry, distance_t* hub_length, uint64* hub_first_piece,
                                     uint64* hub_pieces, uint64 hub_room) {
    Offer offer = {heads, weights, static_cast<index_t>(arcs), distance, best, control, horizon};
    relax_pieces(offer, {offsets, light, UNREACHED}, entries,
                 {hub_entry, hub_length, hub_first_piece, hub_pieces, hub_room});
}

// Launch: any; a thread for every own entry.  Writes: distance, of each its own; pending by atomics.
extern "C" __global__ void delta_stepping_distributed_settle(uint32 count, int32 first,
                                                             const uint64* __restrict__ entries,
                                                             const distance_t* __restrict__ best, distance_t* distance,
                                                             uint32* pending) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        const int32 v = read_entry(entries, i).vertex - first;
        if (best[i] < distance[v]) distance[v] = best[i];
        if (distance[v] == UNREACHED) continue;
        atomicOr(&pending[v / WARP], 1u << v % WARP);
    }
}

// Launch: any grid, blocks of whole warps; a thread for every own vertex.  Writes: pending, what is reached.
extern "C" __global__ void delta_stepping_distributed_reenter(int32 rows, const distance_t* __restrict__ distance,
                                                              uint32* pending) {
    for (int64 first = grid_thread() - lane_id(); first < rows; first += grid_threads()) {
        const int64 v = first + lane_id();
        const unsigned reached = __ballot_sync(FULL_MASK, v < rows && distance[v] != UNREACHED);
        if (lane_id() == 0) pending[first / WARP] = reached;
    }
}
