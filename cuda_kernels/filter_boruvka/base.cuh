/*
What the phases of filter_boruvka.cu share: tuning constants, how an edge and a component are written down, the words
that host and kernel exchange, and what a warp or a block does together.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_BASE_CUH
#define GPUGRAPH_FILTER_BORUVKA_BASE_CUH

#include "csr.cuh"

// What distinguishes edges of equal weight: the position of an edge's first arc; or, where ranks know their own arcs
// only, its ends, the smaller in the upper half.
#ifdef EDGES_BY_ENDS
typedef int64 edge_id_t;
typedef uint64 slot_t;
constexpr bool NARROW = sizeof(weight_key_t) == 4;
#else
typedef index_t edge_id_t;
typedef count_t slot_t;
constexpr bool NARROW = INDEX_BITS == 32 && sizeof(weight_key_t) == 4;
#endif
constexpr bool PACKED = sizeof(edge_id_t) == 4 && sizeof(weight_key_t) == 4;

// Tuned on an H200; docs/performance/mst.md has what each is worth.
// As many threads as leave 72 registers for each, or 96: fewer would spill.
constexpr int PACKED_BLOCK = 448;
constexpr int WIDE_BLOCK = 640;
constexpr int BLOCK = NARROW ? PACKED_BLOCK : WIDE_BLOCK;
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || (__CUDA_ARCH__ < 900 && defined(INDEX)) || \
                               (__CUDA_ARCH__ >= 1200 && INDEX_BITS == 64))
constexpr int RESIDENT = 1;        // blocks of a multiprocessor: of these two would have too few registers
#else
constexpr int RESIDENT = NARROW ? 2 : 1;
#endif
constexpr int WARPS = BLOCK / WARP;
constexpr int SHORT_ROW = 32;      // below this many arcs one lane finds the minimum of a row,
constexpr int MEDIUM_ROW = 512;    // below this many GROUP lanes,
constexpr int HUB_ROW = 4096;      // below this many a warp, and from it on a block; the same when edges are listed
constexpr int GROUP = 8;
constexpr int SMALL_GROUP = 4;     // or so many, where none of the rows has
constexpr int LONGER_ROW = 128;    // so many arcs
constexpr int SHORT_FLIGHT = 2;    // quads of weights a thread has under way in a row of its own,
constexpr int GROUP_FLIGHT = 3;    // in a row of a group,
constexpr int SMALL_FLIGHT = 4;    // of a small one,
constexpr int MOST_AHEAD = 128;    // arcs a row on average up to which a warp asks for the weights of its rows ahead,
constexpr int TARGETS_AHEAD = 12;  // and for their targets
constexpr int LONG_FLIGHT = NARROW && INDEX_BITS == 32 ? 6 : 4;     // and in a longer one,
constexpr int STREAMED = NARROW ? 4 : 2;        // quads when arcs are streamed,
constexpr int LISTED = 2;          // arcs when edges are listed; every edge brings two more loads
constexpr int AHEAD = 4;           // looks before which targets are prefetched, where all edges are listed,
constexpr int ROWS_AHEAD = 3 * WARP;            // and rows before which offsets are
constexpr int HOOKS = 4;           // vertices a thread hooks at once,
constexpr int PER_THREAD = 2;      // edges or components it has under way in a round,
constexpr int LABELS = 4;          // and labels when all are read
constexpr int SEEN = PACKED ? 4 : 1;   // labels a lane reads to find vertices outside the giant component
constexpr int TILE = 128;              // the fewest arcs of a span
constexpr int PAGE = 64;               // entries of a page of the list
constexpr int MOST_SPANS = 8192;       // warps that list light edges
constexpr int BUFFER = PACKED ? 96 : 64;         // edges a warp gathers before it writes them to the list
constexpr int QUAD = 16 / sizeof(weight_t);      // weights in 16 bytes, the most that one load brings,
constexpr int FOUR = 16 / sizeof(int32);         // and targets
constexpr int POSITIONS = WARP * (STREAMED * QUAD + LISTED);  // arcs a warp gathers before it looks at them
constexpr int CHASE = 32;              // links followed before the others get a chance to shorten the chain
constexpr int MAX_ROUNDS = 34;
constexpr int LONG_WAY = 8;            // links after which a component's way to its root is shortened for others
constexpr int MOST_DENSE = 1024;       // components between which a matrix takes the lightest edges
constexpr int IN_ROW = 2;              // loads that a lane has under way in a row of it
constexpr int SAMPLES = BLOCK;         // arcs that a block samples for the threshold; at least so many vertices are
constexpr float SPARSE = 4.2f;         // where a vertex has fewer arcs, all edges are listed at once
constexpr float CLOSING = 18;          // where a share c of the pairs of neighbours of vertices are edges, 1 + CLOSING
constexpr float MORE_CLUSTERED = 1.36f;  // c^3 times the arcs are light, or, if less, MORE_CLUSTERED / c times,
constexpr float MOST_LIGHT = 0.75f;    // but never more than these of all
constexpr int FEW_ARCS = 1 << 22;      // of so few arcs all edges are listed at once where
constexpr float HALF_LIGHT = 0.5f;     // more than these would be light
constexpr int CLIQUE_ARCS = 1 << 21;   // of so few arcs of cliques all edges are listed at once,
constexpr float MOST_INSIDE = 0.75f;   // and wherever more than so many of their arcs lie inside components
constexpr int MERGED = 12;             // where the lightest arcs leave one component in so many vertices, or less,
constexpr int LESS_MERGED = 35;        // so many per cent make one of them giant

// Vertices and components are numbered from 0.  Where a giant is looked for, labels are so, or DEAD: retired() ones are
// renamed before.
constexpr int32 NO_LINK = -1;
constexpr int32 NO_VERTEX = -1;
constexpr int32 DEAD = -1;             // label of an isolated vertex
constexpr int32 NO_GIANT = -2;
// A packed bid ends in a slot or id, of which none has all bits set; that of a wide key may be this word, and then
// best_id differs.
constexpr uint64 NO_BID = ~0ull;

// `up` holds the parent or another one above (>= 0), DEAD, or what became of the root: its number among the live, or
// among the retired.  Live and retired numbers are below 2^30, for each component has two vertices or more.
__device__ __forceinline__ int32 live_root(uint32 number) { return -2 - 2 * static_cast<int32>(number); }
__device__ __forceinline__ int32 retired_root(uint32 number) { return -3 - 2 * static_cast<int32>(number); }

// `label` and `chain` hold the number of a live component (>= 0), DEAD, or a retired one.
__device__ __forceinline__ int32 retired(uint32 number) { return -2 - static_cast<int32>(number); }
__device__ __forceinline__ int32 learned(int32 up) {
    if (up == DEAD) return DEAD;
    const uint32 code = static_cast<uint32>(-2 - up);
    return code % 2 == 0 ? static_cast<int32>(code / 2) : retired(code / 2);
}

struct alignas(PACKED ? 16 : 8) Edge {
    weight_key_t key;
    edge_id_t id;
    int32 a, b;
};

// Phases; `timeline` holds the nanoseconds at the beginning of each that was entered.
enum Phase { ROW_MINIMA, HOOK, LIGHT_EDGES, LIGHT_ROUNDS, SPREAD, HEAVY_EDGES, HEAVY_ROUNDS, END };

// Words of `control`, all 0 before the launch.
enum Control {
    ARRIVALS,                // of blocks at the grid barrier
    LAST_LONG_CHAIN,         // the last turn, counted from 1, in which some chain was too long; behind ARRIVALS
    FOREST,                  // edges picked
    ROUNDS,                  // rounds made
    HUBS_FIRST,              // hubs met by each of the two walks over the rows
    HUBS_HEAVY,
    PAGES,                   // of the list that light edges take
    FINALS,                  // components retired
    ENTRIES,                 // heavy edges listed: a count_t, of up to 64 bits
    LIVE = ENTRIES + 2,      // three words that take turns: live components after a round
    WITH_ARCS = LIVE + 3,    // of the vertices that were sampled, those that have arcs,
    WEDGES,                  // that have two,
    TRIANGLES,               // and of which two neighbours that were sampled are neighbours
    CONTROL_WORDS
};
static_assert(ENTRIES % 2 == 0 && ARRIVALS % 2 == 0, "words of 64 bits lie at a multiple of 8 bytes");

// ------------------------------------------------------------------ helpers

// The numbers of this block and of this thread in the grid, read anew each time: they would otherwise be kept in
// registers through all phases, and others would spill.
__device__ __forceinline__ uint32 own_block() {
#ifdef __CUDA_ARCH__
    uint32 block;
    asm volatile("mov.u32 %0, %ctaid.x;" : "=r"(block));
    return block;
#else
    return blockIdx.x;
#endif
}
__device__ __forceinline__ int64 own_thread() { return static_cast<int64>(own_block()) * blockDim.x + threadIdx.x; }

// The ends of an edge as one number, by which edges compare as by their first arcs.
__device__ __forceinline__ int64 ends_of(int32 u, int32 v) {
    return static_cast<int64>(u < v ? u : v) << 32 | static_cast<uint32>(u < v ? v : u);
}

// The id of an edge whose first arc is u -> v.
__device__ __forceinline__ edge_id_t id_of(index_t arc, int32 u, int32 v) {
#ifdef EDGES_BY_ENDS
    return ends_of(u, v);
#else
    return arc;
#endif
}

// Whether an edge is listed at the arc u -> v, or else at v -> u: at its first arc; or, where each rank lists those of
// its own rows, by a bit of its ends, so that neither has more to do than the other.
__device__ __forceinline__ bool lists_here(int32 u, int32 v) {
#ifdef EDGES_BY_ENDS
    return ((u ^ v) & 1) == 0 ? u < v : u > v;
#else
    return u < v;
#endif
}

// The pair (key, arc) that orders the arcs of a row.
struct Pick {
    weight_key_t key;
    index_t arc;

    __device__ __forceinline__ bool operator<(const Pick& other) const {
        return key < other.key || (key == other.key && arc < other.arc);
    }
};

// The shared memory of a block.
struct Shared {
    union {
        uint32 positions[WARPS][POSITIONS];  // of light arcs in the span,
        struct {
            Edge buffer[WARPS][BUFFER];                // heavy ones,
            int32 outside[WARPS][WARP * (SEEN + 1)];  // and vertices whose rows are to be read for them
        };
        struct {  // the last rounds, of each of few components:
            int32 root[MOST_DENSE], other[MOST_DENSE];  // what it points to, and what a root leads to,
            uint32 won[MOST_DENSE];                     // and by the edge of which name (matrix.cuh)
        };
    };
    weight_key_t key[WARPS];  // of the lightest arc that each warp has seen of a hub,
    index_t arc[WARPS];       // and that arc
    uint64 counts[WARPS];
    uint32 barriers;          // passed,
    uint32 round;             // rounds begun,
    uint32 batches;           // and batches of rows that the warps have taken
    uint32 word;              // of `control`, as grid_barrier_reading() read it last
    uint32 hubs;              // rows too long for a warp
    uint32 live;              // components after a round
    slot_t begin[WARPS][2];   // where the slots of each span begin,
    uint32 listed[WARPS][2];  // and the edges of it
    uint64 tallies[HOOKS * WARPS];  // of each warp, what takes places (hooking.cuh),
    uint32 bases[3];                // and where the places of this block begin
    uint32 levels[MAX_ROUNDS + 1];  // where the numbers of each round begin in the chain, and the next will
    int32 giant;
    uint64 merging;  // below so many components fewer arcs need be light,
    uint64 cliques;  // and up to so many most arcs of cliques lie inside a component
    uint64 light;    // how many arcs should be
    Pick threshold;
    uint64 tile, spans[2];  // arcs of each part whose first row is noted, and of the first and second span of a warp
    uint64 parting;         // the arc before which all first spans lie, and from which on the second
    bool filters;  // only light edges are listed; kept here, for registers are few
};

constexpr index_t NO_ARC = static_cast<index_t>(UNSIGNED_INDEX ? ~0ll
                                                : INDEX_BITS == 32 ? 0x7fffffffll : 0x7fffffffffffffffll);
constexpr Pick NO_PICK = {NO_KEY, NO_ARC};  // a lightest arc may have NO_KEY, but none is NO_ARC: compare whole picks

// The lightest pick of each group of LANES lanes, in every lane of it.  All 32 lanes must call.
template <int LANES>
__device__ __forceinline__ Pick group_lightest(Pick mine) {
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
        const Pick theirs = {__shfl_xor_sync(FULL_MASK, mine.key, offset),
                             __shfl_xor_sync(FULL_MASK, mine.arc, offset)};
        if (theirs < mine) mine = theirs;
    }
    return mine;
}

// A word of `control` as it is now; after a barrier, the same in every thread.
__device__ __forceinline__ uint32 current(const uint32* word) { return *static_cast<const volatile uint32*>(word); }

// A barrier of all blocks that returns, in all threads, the value of a word of `control` behind it.  One thread of each
// block reads it, because reads of one word by all warps wait for each other.  Without a word it returns the one behind
// the arrivals, which is read with them.  The same thread runs `meanwhile` before it waits.
template <typename Meanwhile>
__device__ __forceinline__ uint32 grid_barrier_reading(Shared& shared, uint32* arrivals, const uint32* word,
                                                       const Meanwhile& meanwhile) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint64 seen = arrive_and_wait<uint64>(arrivals, &shared.barriers, meanwhile);
        shared.word = word == nullptr ? static_cast<uint32>(seen >> 32) : current(word);
    }
    __syncthreads();
    return shared.word;
}

// COUNT words of this thread, `step` apart from `first` on; `otherwise` from `count` on.
template <int COUNT, typename T>
__device__ __forceinline__ void load_each(const T* words, int64 first, int64 step, int64 count, T otherwise,
                                          T (&loaded)[COUNT]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const int64 t = first + k * step;
        loaded[k] = t < count ? words[t] : otherwise;
    }
}

// Three counters of at most 21 bits in one word, so that one scan serves all of them.
__device__ __forceinline__ uint64 counted(uint32 first, uint32 second, uint32 third) {
    return static_cast<uint64>(third) << 42 | static_cast<uint64>(second) << 21 | first;
}
__device__ __forceinline__ uint32 counter(uint64 word, int which) {
    return static_cast<uint32>(word >> (21 * which)) & 0x1fffff;
}

// Sum of the words of all threads before this one; *total is that of the block.  All threads must call.
__device__ __forceinline__ uint64 block_scan(Shared& shared, uint64 mine, uint64* total) {
    const uint64 inclusive = warp_scan(mine);
    __syncthreads();
    if (lane_id() == WARP - 1) shared.counts[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    uint64 before = inclusive - mine, sum = 0;
    for (int warp = 0; warp < WARPS; ++warp) {
        const uint64 count = shared.counts[warp];
        if (warp < threadIdx.x / WARP) before += count;
        sum += count;
    }
    *total = sum;
    return before;
}

// The warps of a block take the rows that fall to it in batches, each the next when it is done with one, for some rows
// are long.  A batch is COUNT times 32 rows, a grid apart.  Returns the first of the next batch, beyond the last row if
// none is left; `taken` is in shared memory, 0 at first.  All 32 lanes must call.
template <int COUNT>
__device__ __forceinline__ uint32 next_batch(uint32* taken) {
    uint32 batch = 0;
    if (lane_id() == 0) batch = atomicAdd(taken, 1u);
    batch = __shfl_sync(FULL_MASK, batch, 0);
    return (batch / WARPS * COUNT * gridDim.x + blockIdx.x) * BLOCK + batch % WARPS * WARP;
}

// Sixteen bytes of weights or targets, the most that one load brings.
template <typename T>
struct alignas(16) Quad {
    static constexpr int SIZE = 16 / sizeof(T);
    T value[SIZE];
};

// Load a quad of values[0, count) at once.  The last may be cut off: then the last value is repeated, which needs no
// branch.  Values that do not begin at a multiple of 16 bytes are loaded one by one.
template <typename T>
__device__ __forceinline__ Quad<T> load_quad(const T* __restrict__ values, index_t quad, index_t count) {
    constexpr int SIZE = Quad<T>::SIZE;
    const bool aligned = reinterpret_cast<uint64>(values) % sizeof(Quad<T>) == 0;
    if (aligned && quad < count / SIZE) return reinterpret_cast<const Quad<T>*>(values)[quad];
    Quad<T> last;
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
        const index_t rest = count - 1 - quad * SIZE;
        last.value[i] = values[quad * SIZE + (i < rest ? static_cast<index_t>(i) : rest)];
    }
    return last;
}

// The list of light edges.  Every warp lists those of its own span of arcs, in the order of their arcs, under numbers
// that begin with the span: so an edge's slot orders edges as its id does, and finds it.  Pages are taken as they are
// needed; page_of has where PAGE slots lie.  Or the list has a place for each slot, and needs no pages.
struct Pages {
    Edge* list;
    uint32 room;  // pages that there are; what is listed beyond is only counted
    uint32* page_of;
    uint32* taken;
    bool direct = false;  // each slot has its place

    __device__ __forceinline__ Edge* at(uint64 slot) const {
        return list + (direct ? slot : static_cast<int64>(page_of[slot / PAGE]) * PAGE + slot % PAGE);
    }

    // The page of slot base + to - 1 of this warp, where that of base + from - 1 is `page`: one is taken for the slots
    // [from, to) from base on, no more than PAGE, if they go beyond.  `room` or more if there is none.  All 32 lanes
    // must call.
    __device__ __forceinline__ uint32 reach(uint64 base, uint32 from, uint32 to, uint32 page) const {
        if (from == to || (from % PAGE != 0 && from / PAGE == (to - 1) / PAGE)) return page;
        if (direct) return static_cast<uint32>((base + to - 1) / PAGE);
        if (lane_id() == 0) {
            page = atomicAdd(taken, 1u);
            if (page < room) page_of[(base + to - 1) / PAGE] = page;
        }
        return __shfl_sync(FULL_MASK, page, 0);
    }
};

// What a warp holds of a list in order: the edges of two spans of slots, the one behind the other.
struct Holding {
    const volatile slot_t* begin;  // in shared memory, for registers are few: where each span begins
    uint32 first, edges;           // edges of the first span, and of both

    __device__ __forceinline__ slot_t slot(uint32 i) const { return i < first ? begin[0] + i : begin[1] + (i - first); }
};

// The edges a warp has found and not yet written, where edges are listed in any order.  Those beyond the room of the
// list are only counted.
template <typename Count>
struct Gatherer {
    Edge* buffer;  // BUFFER of them, in shared memory
    Edge* list;
    Count room;
    Count* count;
    uint32 held;

    __device__ __forceinline__ void flush() {
        if (held == 0) return;
        __syncwarp();
        Count base = 0;
        if (lane_id() == 0) base = atomicAdd(count, static_cast<Count>(held));
        base = __shfl_sync(FULL_MASK, base, 0);
        for (uint32 i = lane_id(); i < held; i += WARP) {
            if (base + i < room) list[base + i] = buffer[i];
        }
        __syncwarp();
        held = 0;
    }

    // All 32 lanes must call.
    __device__ __forceinline__ void add(bool found, const Edge& edge) {
        if (held + WARP > BUFFER) flush();
        const unsigned finders = __ballot_sync(FULL_MASK, found);
        if (found) buffer[held + __popc(finders & lanes_before())] = edge;
        held += __popc(finders);
    }
};

#endif
