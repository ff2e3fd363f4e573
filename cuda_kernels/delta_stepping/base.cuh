/*
What the parts of delta_stepping.cu share: tuning constants, the words that host and kernel exchange, queues, and what a
block does together.
*/
#ifndef GPUGRAPH_DELTA_STEPPING_BASE_CUH
#define GPUGRAPH_DELTA_STEPPING_BASE_CUH

#include "csr.cuh"
#include "distance_words.cuh"

constexpr bool NARROW = INDEX_BITS == 32 && DISTANCE_BITS == 32;

// Weights of floats that are summed in float64: searches need nearly as many warps as narrow ones.
// Two blocks were tried from sm_90 on only, and neither for searches in groups nor over ranks.
#if defined(SMALL_BLOCKS) || defined(BLOCKS_ALIKE) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900)
constexpr bool MIXED = false;
#else
constexpr bool MIXED = INDEX_BITS == 32 && DISTANCE_BITS == 64 && !SUMS_OVERFLOW;
#endif

// The constants below were tuned on an H200; docs/performance/sssp.md shows what each is worth.

// ------------------------------------------------------------------ launch: threads, blocks, warps

// Threads of a block, and blocks of a multiprocessor.  Two blocks of 512 leave 64 registers for a thread, and code for
// GPUs of sm_80 to sm_89 needs 80.  Those before hold one block only in their shared memory.
constexpr int MOST_BLOCK = 512;
constexpr int AMPERE_BLOCK = 384;
// MIXED searches spill with 64 registers.  Those of float32 need 72; those of float64 need 80, and have AMPERE_BLOCK.
constexpr int MIXED_BLOCK = 448;
constexpr int SMALL_BLOCK = 320;  // of searches in groups, whose loop needs some 90
#if defined(SMALL_BLOCKS) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
constexpr int RESIDENT = NARROW ? 2 : 1;
constexpr int BLOCK = NARROW ? SMALL_BLOCK : MOST_BLOCK;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr int RESIDENT = NARROW || MIXED ? 2 : 1;
constexpr int BLOCK = MIXED ? sizeof(weight_t) == 4 ? MIXED_BLOCK : AMPERE_BLOCK : MOST_BLOCK;
#elif __CUDA_ARCH__ >= 800 && !defined(BLOCKS_ALIKE)
constexpr int RESIDENT = NARROW ? 2 : 1;
constexpr int BLOCK = NARROW ? AMPERE_BLOCK : MOST_BLOCK;
#else
constexpr int RESIDENT = 1;
constexpr int BLOCK = MOST_BLOCK;
#endif
constexpr int WARPS = BLOCK / WARP;  // of a block

// ------------------------------------------------------------------ rows, in arcs

constexpr int QUAD = 4;             // that a lane has under way, side by side
constexpr int PIECE = WARP * QUAD;  // of a long row, for one warp
constexpr int HUB_ROW = 256;        // at least: all warps of the grid relax the row, a piece each
constexpr int LOCAL_ROW = 64;       // at least: the same in local steps, if its lanes would take LOCAL_TURNS or more
constexpr int LOCAL_TURNS = 8;      // turns
constexpr int FEW_TURNS = 2;        // at most: else all lanes of the warp relax the rest of a row of fewer lanes
constexpr int CLOSE_ROW = 16;       // at most: a narrow row is fetched in advance even into the first-level cache,
constexpr int CLOSE_READS = 4;      // by so many reads
constexpr int LONG_GROUP = 25;      // at least: the row needs a whole warp;
constexpr int LONG_SHARE = 3;       // rows get one where more than 1/LONG_SHARE of all arcs lead to such rows
constexpr int CUT_SHARE = 2;        // wide rounds cut rows where more than 1/CUT_SHARE of all arcs lead to hubs,
                                    // and a row has a PIECE in the mean
constexpr int LEAST_GROUP = 4;      // lanes that share a row in local steps, at least;
constexpr int SMALL_GROUP = 8;      // up to these, local steps of a small graph relax more entries
constexpr int PACKED = 4;           // of a packed row;
constexpr int PACKED_SHARE = 2;     // none are made where more than 1/PACKED_SHARE of all arcs lead to longer rows
constexpr int UNEVEN_SHARE = 5;     // where more than 1/UNEVEN_SHARE do none are used after so many
constexpr uint32 UNEVEN_STEPS = 64;  // steps of every block: in a long search warps hold many, of which some are longer
constexpr bool PACKABLE = NARROW && SUMS_OVERFLOW;  // rows are packed only of integers, whose sums are exact
constexpr uint64 PACKED_A_STEP = 992 / RESIDENT;    // arcs that a block packs in about the time of a local step

// ------------------------------------------------------------------ reads a thread has under way

constexpr int SCANNED = 4;   // distances, when all are read
constexpr int SURVEYED = 3;  // distances, when vertices beyond the horizon are looked for
constexpr int VISITED = 8;   // words, when near entries are counted and entered
constexpr int AHEAD = 32;    // entries that share a cache line: what lies that far is fetched in advance

// ------------------------------------------------------------------ queues, in entries

constexpr int NEAR_BUFFER = 128;  // near ones a warp holds back in wide rounds, to write them out together
constexpr int FAR_BUFFER = 64;    // far ones
constexpr int LOCAL_ROOM = NEAR_BUFFER * WARPS / 4;  // each of the two queues of a block, in the memory of NEAR_BUFFER
constexpr uint32 FAR_ROOM = FAR_BUFFER * WARPS;      // far ones that a block holds back
constexpr int CARRIED = WARP;     // that a warp carries with their packed rows
constexpr int HUB_SHIFT = 36;     // bits: hubs and their pieces share a word

// ------------------------------------------------------------------ rounds, in steps

constexpr int LOCAL_STEPS = 128;    // at most, before all blocks redistribute what each holds
constexpr int OWN_STEPS = 8;        // of a warp by itself, before its block redistributes what its warps carry
constexpr int CARRIED_STEPS = 256;  // of a block that carries packed rows, before all blocks redistribute
// A block is overloaded, and ends the round, where it holds OVERLOAD_FACTOR times what its warps relax at once, and
// OVERLOAD_STEPS times that, divided by the steps so far; or SPARE_FACTOR times it in a round in which blocks have had
// no work.  Where a row has a whole warp fewer are relaxed at once, and both are larger.
constexpr int OVERLOAD_FACTOR = 3;
constexpr int OVERLOAD_FACTOR_WARP_PER_ROW = 8;
constexpr int SPARE_FACTOR = 4;
constexpr int OVERLOAD_STEPS = 48;
constexpr int OVERLOAD_STEPS_WARP_PER_ROW = 384;
constexpr uint32 LOCAL_LIMIT_FACTOR = 2;  // where a row has a whole warp local steps relax so many times the entries,
constexpr uint32 REPEATED_LIMIT_FACTOR = 3;  // and so many where distances often fall twice, which must fit a block
// Entries that a block may be given in local steps: so many times LOCAL_LIMIT_FACTOR near ones and as many that are due
// fit its queue.
constexpr uint32 MOST_LOCAL = LOCAL_ROOM / (2 * LOCAL_LIMIT_FACTOR);
constexpr uint32 BUSY_SHARE = 4;  // the threshold moves early when at most this part of the blocks is not dry

// ------------------------------------------------------------------ histograms and samples

constexpr int NEARNESS_BITS = 5;  // bins of distance by which a block chooses what it relaxes first:
constexpr int NEARNESSES = 1 << NEARNESS_BITS;  // one for each lane
constexpr int MOST_BINS = DISTANCE_BITS * 8;  // of the histogram of distances
constexpr int BINS = MIXED ? MOST_BINS / 2 : MOST_BINS;  // bin_beyond() counts reals in units of 32 bits
constexpr int SAMPLES = 4;        // weights that each thread samples, side by side
constexpr int LARGE = 1 << 20;    // vertices, from which on every SURVEY_STRIDE-th line of them is surveyed
constexpr int SURVEY_STRIDE = 8;

// Phases; `timeline` holds the nanoseconds spent in each.
enum Phase { START, LOCAL, WIDE, HUBS, BUCKETS, PULL, PHASES };

// What is counted; the words of `control` from STEPS on are the sums.
enum Tally { STEPPED, RELAXED, PUSHED, REPEATED, TALLIES };

constexpr int PROGRESS_WORDS = 14;  // of 4 bytes, in Shared::progress, which takes all of them where distances are wide

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,            // of grid_barrier()
    STOP,                // the host may set it
    REDISTRIBUTE,        // the last round, counted from 1, in which a block requested a redistribution
    STEPS,               // steps of all blocks, ever; modulo 2^32, as the next three
    SETTLED,             // entries that were relaxed
    PUSHES,              // distances lowered
    REPEATS,             // distances lowered that were below the threshold already
    ROUNDS,              // rounds between two barriers; this and the next four are written at the end
    BUCKETS_DONE,        // thresholds tried
    SCANS,               // thresholds found by reading all distances instead of the far list
    EARLY,               // thresholds that moved while something was near still
    RESCANS,             // times that lost entries were collected again
    OVERFLOW,            // a sum did not fit that may be needed; at a multiple of 8 bytes, for it is read with the next
    LEAVING,             // the barrier from which on all blocks leave, or 0
    COUNTED,             // three times TALLIES words that take turns: what all blocks counted in a round
    DRY = COUNTED + 3 * TALLIES,  // three words that take turns: blocks that have nothing left in a round
    NEAR = DRY + 3,      // three words that take turns: entries of the near queue
    FAR = NEAR + 3,      // three words that take turns: entries of the far list
    PENDING = FAR + 3,   // two words that take turns: vertices at or beyond the threshold
    LED = PENDING + 2,   // Shared::progress of the first block after the first round
    CONTROL_WORDS = LED + PROGRESS_WORDS
};

// Words of `wide_control`, all 0 before the launch.
enum WideControl {
    HUB_PIECES,                  // three words that take turns: hubs << HUB_SHIFT | pieces
    LEAST = HUB_PIECES + 3,      // two words that take turns: the complement of the least pending distance
    FAR_LEAST = LEAST + 2,       // three words that take turns: of the least that was entered into the far list
    BALANCE = FAR_LEAST + 3,     // arcs out of the vertices below the horizon, less those of the others
    WIDE_CONTROL_WORDS
};

// ------------------------------------------------------------------ structures

// Vertices, each with the distance it had when it was entered.  An entry is stale if the distance has fallen since.
struct Queue {
    int32* vertex;
    distance_t* length;

    // The vertex of entry i and its distance; UNREACHED if the entry is stale.
    __device__ __forceinline__ distance_t at(uint32 i, const distance_t* distance, int32* v) const {
        *v = current(&vertex[i]);
        const distance_t then = current(&length[i]);
        return current(&distance[*v]) == then ? then : UNREACHED;
    }
};

// A row to be relaxed: the vertex, its distance and its arcs.  Narrow ones are moved by one access.
struct __align__(NARROW ? 16 : 8) Row {
    int32 vertex;
    distance_t length;
    index_t begin, end;

    __device__ __forceinline__ bool holds(index_t arc) const { return arc >= begin && arc < end; }
};

// A packed row: the arcs of a vertex, each a word with its head below and its weight above, in one sector of memory.
// Where a vertex has fewer than PACKED the others lead to NO_HEAD; where it has more see long_row().
struct __align__(8 * PACKED) PackedRow {
    uint64 arc[PACKED];
};
constexpr int32 NO_HEAD = -1, LONG_HEAD = -2;  // vertices are not negative

// A far list that is to be looked through when the near vertices are distributed: some of it is due.
struct Due {
    Queue list;
    uint32 count;
};

// A queue that blocks append to, its number of entries, and how many it holds.
struct List {
    Queue queue;
    uint32* count;
    uint32 room;
    uint64* least;  // of the far list: the complement of the least distance entered

    // Write an entry, if there is room for it.
    __device__ __forceinline__ void put(uint32 entry, int32 v, distance_t length) const {
        if (entry >= room) return;
        queue.vertex[entry] = v;
        queue.length[entry] = length;
    }
};

// Rows that all warps relax together; each knows the number of its first piece.
struct Hubs {
    int32* vertex;
    distance_t* length;
    uint64* first_piece;
    uint64* pieces;  // hubs << HUB_SHIFT | pieces
    uint64 room;
};

// What a block knows of the others since they met last.
struct Seen {
    uint32 began;     // entries with which the last round began
    uint32 near;      // entries of the near queue
    bool dry;         // most blocks are
    uint32 listed;    // and of the far list, or all vertices that are pending
    uint32 overflow;  // OVERFLOW
    uint64 pieces;    // of hubs
    uint64 least;     // the complement of the least distance that is pending
};

// What warps hold back, each ROOM entries.
template <int ROOM>
struct Buffers {
    int32 vertex[WARPS * ROOM];
    distance_t length[WARPS * ROOM];
};

// The two queues of a block in local steps, which take turns.
struct LocalQueues {
    Row row[2 * LOCAL_ROOM];
};

// The shared memory of a block.
struct Shared {
    union {
        Buffers<NEAR_BUFFER> near_held;  // in wide rounds
        LocalQueues local;
    };
    Buffers<FAR_BUFFER> far_held;
    union {
        struct {  // what warps carry, a ring each
            int32 carried_vertex[PACKABLE ? CARRIED * WARPS : 1];
            distance_t carried_length[PACKABLE ? CARRIED * WARPS : 1];
            PackedRow carried_row[PACKABLE ? CARRIED * WARPS : 1];
        };
        uint32 unused[NARROW || MIXED ? CLOSE_READS * BLOCK : 1];  // see fetch_close()
    };
    Due due;
    List near, far;         // where this round's vertices go,
    union {
        struct {  // what changes with the threshold; all blocks have the same
            float64 delta;          // width of a bucket
            distance_t threshold;   // what parts near and far;
            distance_t last;        // the last one, from which on nearness is counted;
            distance_t floor;       // below it everything is settled
            uint32 settled_last;    // vertices, in the last bucket,
            uint32 counted_before[TALLIES];  // and `counted` when the width was chosen last
            uint32 most;            // blocks that have to be dry for the threshold to move early
        };
        uint32 progress[PROGRESS_WORDS];
    };
    uint32 histogram[BINS];
    uint32 sums[WARPS];
    uint32 local_count[4];  // entries of the block's own queues; the words take turns
    uint32 requested[2];    // REDISTRIBUTE, as a block that carries has seen it; the words take turns
    uint32 nearness[NEARNESSES];  // entries of the block's own queue, by bins of distance
    int32 nearness_shift;   // binary logarithm of the width of such a bin
    uint32 choice[BLOCK / LEAST_GROUP];  // places of the entries that a step relaxes
    uint32 base, far_base;
    uint32 near_unwritten, far_unwritten;  // entries that warps still hold at the end of a round
    uint32 far_found;       // far entries that the block holds in local steps
    Seen seen;
    uint32 round;           // from 1
    Phase phase;            // in which it is spent, LOCAL or WIDE
    uint32 bucket;          // number of the far list
    bool lost;              // something found no room since lost entries were collected last
    uint32 leaving;         // LEAVING, as it was seen after the last barrier
    uint32 barriers;        // passed by the block
    float64 weight_sums[WARPS];
    uint64 least, total;
    uint32 pending;
    uint32 tallies[TALLIES];       // what the block counts,
    uint32 seen_tallies[TALLIES];  // and of all blocks what has been seen of round `looked`
    uint32 looked;
    distance_t far_least;   // of what the block has entered into the far list
    distance_t complete;    // below this no arc has been left alone
    distance_t horizon;     // sums from here on are left alone
    distance_t reach;       // of a horizon that is set later; see end_beyond()
    uint32 is_small;        // all arcs are relaxed in a few rounds, and there will be no horizon
    uint32 waits;           // it is set when the first large hubs are met,
    float64 first_width;    // and then buckets are as wide again as they were at first
    uint32 packed;          // 1: the packed rows have been written, 2: none are used, or no longer
    // What thread 0 keeps between two thresholds.
    float64 units;          // of float distances; see bin_beyond()
    uint32 counted[TALLIES];  // ever
    uint32 done[OVERFLOW - ROUNDS];  // of the first block, for the words of `control` from ROUNDS on
    uint64 spent[PHASES];
    uint64 since;
    // Further up these would spill a register.
    uint32 packed_steps;    // of all blocks, after which `packed` becomes 2
    uint32 parts;           // into which wide rounds cut a row, for a warp each; where it is cut all rounds are wide
};

// ------------------------------------------------------------------ helpers

// The four arcs, side by side, that an arc belongs to begin here.
__device__ __forceinline__ index_t quad_of(index_t arc) { return arc / QUAD * QUAD; }

// A long row is cut into pieces where quads meet.
__device__ __forceinline__ count_t pieces_of(index_t begin, index_t end) {
    return static_cast<count_t>((end - quad_of(begin) + PIECE - 1) / PIECE);
}

// The same number, but nothing that was computed from it before is held in registers until now.
__device__ __forceinline__ uint32 anew(uint32 number) {
#ifdef __AMDGCN__
    asm volatile("" : "+v"(number));  // a register is named so there
#else
    asm volatile("" : "+r"(number));
#endif
    return number;
}

// Number of the warp in the grid, such that neighbouring numbers belong to different blocks.
__device__ __forceinline__ uint32 grid_warp() { return threadIdx.x / WARP * gridDim.x + blockIdx.x; }
__device__ __forceinline__ uint32 grid_warps() { return WARPS * gridDim.x; }

__device__ __forceinline__ bool is_first_thread() { return (blockIdx.x | threadIdx.x) == 0; }

// Bins of doubling width, eight to a doubling: fine near 0 and coarse far from it.
__device__ __forceinline__ int bin_of(distance_t x) {
    if (x < 8) return static_cast<int>(x);
    const int exponent = 63 - __clzll(static_cast<int64>(x));
    return (exponent - 2) * 8 + static_cast<int>((x >> (exponent - 3)) & 7);
}

// The first distance beyond a bin, or UNREACHED.
__device__ __forceinline__ distance_t bin_end(int bin) {
    if (bin < 8) return static_cast<distance_t>(bin + 1);
    const distance_t end = static_cast<distance_t>(9 + bin % 8) << (bin / 8 - 1);
    return end >> (bin / 8 - 1) == static_cast<distance_t>(9 + bin % 8) ? end : UNREACHED;
}

// The bin of what lies `length` beyond `origin`, and the word at which that bin ends.  The words of floats grow with
// their logarithm and would fall into a few bins; of floats `units` make a distance of 1.
__device__ __forceinline__ int bin_beyond(distance_t origin, distance_t length, float64 units) {
    if (SUMS_OVERFLOW) return bin_of(length - origin);
    const float64 distance = (value_of(length, weight_t()) - value_of(origin, weight_t())) * units;
    return bin_of(distance < 4294967295.0 ? static_cast<uint32>(distance) : 0xffffffffu);
}
__device__ __forceinline__ distance_t end_beyond(distance_t origin, distance_t edge, float64 units) {
    // Of a float the word after UNREACHED, which is not a number, would be 0.
    if (edge == UNREACHED || origin == UNREACHED) return UNREACHED;
    if (SUMS_OVERFLOW) return edge > UNREACHED - origin ? UNREACHED : origin + edge;
    const distance_t end = word_of(value_of(origin, weight_t()) + static_cast<float64>(edge) / units, weight_t());
    return end > origin ? end : origin + 1;
}

// ------------------------------------------------------------------ histograms of distance

// Turn a block's histogram of BINS bins into running sums; `sums` are WARPS words that nobody else uses.  All threads
// must call.
__device__ __noinline__ void sum_histogram(uint32* histogram, uint32* sums) {
    static_assert(BINS <= BLOCK, "a thread looks after one bin");
    const int bin = threadIdx.x;
    uint32 inclusive = warp_scan(bin < BINS ? histogram[bin] : 0);
    if (lane_id() == WARP - 1) sums[bin / WARP] = inclusive;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < BINS / WARP; ++warp) inclusive += warp < bin / WARP ? sums[warp] : 0;
    if (bin < BINS) histogram[bin] = inclusive;
    __syncthreads();
}

// The first bin up to which a summed histogram holds `wanted` entries; BINS if it holds fewer.  All threads must call.
__device__ __forceinline__ int bin_of_rank(const uint32* histogram, uint32 wanted) {
    return __syncthreads_count(threadIdx.x < BINS && histogram[threadIdx.x] < wanted);
}

// The end of that bin; UNREACHED if there is none.  All threads must call.
__device__ __forceinline__ distance_t histogram_edge(const Shared& shared, uint32 wanted) {
    const int bin = bin_of_rank(shared.histogram, wanted);
    return bin == BINS ? UNREACHED : bin_end(bin);
}

// A block's count of pending vertices, by bin of their distance beyond an origin, and the nearest of them.
struct Survey {
    uint32* histogram;   // BINS words of shared memory
    uint64* least;       // one: the complement of the least distance, 0 where nothing is pending
    distance_t origin;
    float64 units;       // of float distances; see bin_beyond()
    distance_t nearest;  // of those that this thread has counted; UNREACHED at first

    // All threads must call.
    __device__ __forceinline__ void begin() const {
        for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) histogram[bin] = 0;
        if (threadIdx.x == 0) *least = 0;
        __syncthreads();
    }

    __device__ __forceinline__ void count(distance_t length) {
        if (length < nearest) nearest = length;
        atomicAdd(&histogram[bin_beyond(origin, length, units)], 1u);
    }

    // All threads must call.
    __device__ __forceinline__ void end() {
        nearest = warp_min(nearest);
        if (lane_id() == 0 && nearest != UNREACHED) atomicMax(least, ~static_cast<uint64>(nearest));
        __syncthreads();
    }

    // Add what the block has counted to what all blocks have.  All threads must call.
    template <typename Count>
    __device__ __forceinline__ void add_to(Count* table, uint64* least_of_all) const {
        for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
            if (histogram[bin] != 0) atomicAdd(&table[bin], static_cast<Count>(histogram[bin]));
        }
        if (threadIdx.x == 0 && *least != 0) atomicMax(least_of_all, *least);
    }
};

#endif
