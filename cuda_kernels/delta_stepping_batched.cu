/*
Shortest paths from many sources in one cooperative launch: delta-stepping whose one bucket has no end, which is Bellman
and Ford's algorithm.  It relaxes an arc several times, but for all searches at once, and reads a line of memory for it.

    a line          the distances of a vertex in all searches of a group lie side by side: 128 bytes hold 64 of 16 bits,
                    32 of 32 or 16 of 64.  So many searches relax an arc by one gather of one line, which costs a GPU
                    hardly more than that of a single distance
    a tile          eight threads work on a vertex, each on 16 bytes of its line.  Few searches take shorter lines, and
                    then a tile gathers several of them at once
    pulling         a vertex takes the minimum over its in-arcs of the tail's line plus the weight, and is written by
                    one tile alone: no atomics, no queue
    changed bits    only tails whose line fell in the sweep before are gathered, or fell earlier in this one and will be
                    once more; where nearly all have, nobody looks
    lists           where few have, each marks the heads of its out-arcs, and only these are looked at in the next sweep
    pieces          of a row longer than PIECE several tiles take one each; they lower its line by atomics
    long paths      without thresholds a distance falls once for every better path that comes later.  Where lines fall
                    often, or paths have many arcs, sharing gains nothing, and the host makes the searches apart
    narrow words    16 bits are enough where no path is long, and make a line twice as good.  A distance that comes near
                    the end of a word ends the launch; then the host starts a wider one, or makes the searches apart

A sweep looks at every vertex of every group (an item: group * n + vertex), or at those listed.  Groups share nothing,
and so all pairs of a small graph are thousands of items that sweep side by side.

    offsets (n+1)  targets  weights (arcs)   in-arcs, row by row: `targets` are their tails; weights are not negative
    out_offsets  out_targets                 out-arcs; of an undirected graph the same arrays
    sources (searches)                       where they begin
    lines (items, threads)                   16 bytes each: order-preserving words (distance_words.cuh)
    changed (3, words)                       by turns, a bit for each item: fell in the last sweep, in this one, cleared
    listed (2, items)                        by turns, the items to look at in this sweep, in the next
    stamp (items)                            the last sweep that an item was listed for; 0 at the start
    order (n)                                short rows, class by class
    piece_vertex, piece_begin (room)         pieces of long rows, the same in all sweeps
    wide (3)                                 by turns, the out-arcs of what fell; 0 at the start
    control (CONTROL_WORDS)                  counters (enum Control); 0 at the start
    timeline (PHASES)                        nanoseconds spent in each phase (enum Phase)
    rows (searches, n)                       the distances, search by search: words of 32 bits or more

Kernels, in launch order: delta_stepping_batched_begin, _order, _search, _rows.

Invariants.  A distance only falls, and is that of a path.  Whoever lowers a line sets its bit, too; a line that is read
too early is read again in the next sweep, because the bit is seen there.  When nothing fell, no arc can be relaxed.

Kernel rules: every wait on another block is barrier(); what decides how often a loop around one runs is read after a
barrier and not written before the next.

Source: U. Meyer, P. Sanders, "Delta-stepping", J. Algorithms 49, 2003, section 2 (a bucket without end); searches side
by side as in M. Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 8(4), 2014,
section 3.
*/
#include "csr.cuh"
#include "distance_words.cuh"

// Blocks of a multiprocessor: who waits for lines hides behind others, and the fewer registers the more of them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int RESIDENT = 3;
#else
constexpr int RESIDENT = DISTANCE_BITS == 64 ? 3 : DISTANCE_BITS == 16 && INDEX_BITS == 32 ? 5 : 4;
#endif
constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / WARP;
constexpr int SHARE = 16;         // bytes of a line that a thread has
constexpr int TILE = 8;           // threads that work on an item
constexpr int IN_FLIGHT = 2;      // lines that a thread has under way: more would leave room for fewer threads
constexpr int CLASSES = 16;       // rows of as many eights of arcs are looked at side by side
constexpr int PIECE = TILE * CLASSES;  // arcs; longer rows are cut
constexpr int FEW = 8;            // lists pay where fewer than one arc of so many leaves what fell,
constexpr int LONG_ROW = 4096;    // and no row that marks its heads is longer
constexpr float64 NEARLY_ALL = 0.875;  // of the arcs leave what fell: then bits exclude nothing

enum Phase { LIST, SWEEP, PHASES };

// Words of control.
enum Control {
    ARRIVALS,           // three words of grid_barrier_or_stop
    LEAVE,
    STOP,
    PIECES,             // in the table
    HEAVIEST,           // the largest weight, if words are narrow
    LISTED,             // three words that take turns: items in the list
    LONG = LISTED + 3,      // three words that take turns: the row of something that fell is longer than LONG_ROW
    OVERFLOW = LONG + 3,    // three words that take turns: a distance may not fit its word
    FELL = OVERFLOW + 3,    // three words that take turns: lines that fell
    SWEEPS = FELL + 3,      // done
    LISTS,              // of these, by a list
    LOWERED,            // lines, in all; modulo 2^32
    LEFT,               // lines fell so often, or in so many sweeps, that the search was left
    ROWS,                   // by class, short rows of it and of those before
    ORDERED = ROWS + CLASSES,  // by class, rows written down
    CONTROL_WORDS = ORDERED + CLASSES
};

// ------------------------------------------------------------------ lines

#if DISTANCE_BITS == 16
typedef unsigned short word_t;
// Two of them and a sum of both fit a register side by side.  No distance is so far: one from whose end an arc might
// lead there is beyond Shared::limit, and ends the launch.
constexpr uint32 NOWHERE = 0x7fff;
#else
typedef distance_t word_t;
constexpr word_t NOWHERE = UNREACHED;
#endif
constexpr int LANES = SHARE / sizeof(word_t);  // of a thread
typedef uint4 share_t;

constexpr int PAIRS = SHARE / 4;

union Share {
    share_t whole;
    uint32 pair[PAIRS];
    word_t lane[LANES];
};

// The smaller of each of two numbers of 16 bits.
__device__ __forceinline__ uint32 min_halves(uint32 a, uint32 b) {
#ifdef __CUDA_ARCH__
    return __vminu2(a, b);
#else
    const uint32 low = (a & 0xffffu) < (b & 0xffffu) ? a & 0xffffu : b & 0xffffu;
    const uint32 high = a >> 16 < b >> 16 ? a >> 16 : b >> 16;
    return high << 16 | low;
#endif
}

__device__ __forceinline__ Share nowhere() {
    Share share;
#if DISTANCE_BITS == 16
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) share.pair[i] = NOWHERE << 16 | NOWHERE;
#else
#pragma unroll
    for (int i = 0; i < LANES; ++i) share.lane[i] = NOWHERE;
#endif
    return share;
}

// Lower `best` to what leads there from a tail by an arc; `moved` is not 0 afterwards if it fell, `unfit` if a sum did
// not fit.
__device__ __forceinline__ void relax(Share& best, const Share& tail, weight_t weight, uint32& moved, bool& unfit) {
#if DISTANCE_BITS == 16
    const uint32 short_weight = weight < NOWHERE ? static_cast<uint32>(weight) : NOWHERE;
    const uint32 both = short_weight << 16 | short_weight;
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        const uint32 least = min_halves(best.pair[i], tail.pair[i] + both);
        moved |= least ^ best.pair[i];
        best.pair[i] = least;
    }
#else
#pragma unroll
    for (int i = 0; i < LANES; ++i) {
        if (tail.lane[i] >= best.lane[i]) continue;
        const word_t sum = extended(tail.lane[i], weight);
        if (sum < best.lane[i]) {
            best.lane[i] = sum;
            moved = 1;
        }
        unfit |= SUMS_OVERFLOW && sum == NOWHERE;
    }
#endif
}

// True if one of the distances may not be the shortest because of the width of its word: narrow ones lie beyond
// `limit`, of others some sum was `unfit` and no other way is known.
__device__ __forceinline__ bool too_long(const Share& share, uint32 limit, bool unfit) {
    bool is = false;
#if DISTANCE_BITS == 16
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        const uint32 low = share.pair[i] & 0xffffu, high = share.pair[i] >> 16;
        is |= (low > limit && low != NOWHERE) || (high > limit && high != NOWHERE);
    }
#else
#pragma unroll
    for (int i = 0; i < LANES; ++i) is |= unfit && share.lane[i] == NOWHERE;
#endif
    return is;
}

// Lower a thread's part of a line that others lower, too.
__device__ __forceinline__ void lower_together(Share* place, const Share& best) {
#if DISTANCE_BITS == 16
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        uint32 old = current(&place->pair[i]);
        while (min_halves(old, best.pair[i]) != old) {
            const uint32 seen = atomicCAS(&place->pair[i], old, min_halves(old, best.pair[i]));
            if (seen == old) break;
            old = seen;
        }
    }
#else
#pragma unroll
    for (int i = 0; i < LANES; ++i) lower_to(&place->lane[i], best.lane[i]);
#endif
}

// ------------------------------------------------------------------ structures

// The threads that work on one item.  Where lines are shorter than 128 bytes, as many arcs at once as a tile has parts.
struct Tile {
    int32 threads;  // that a line takes: a power of two, at most TILE

    __device__ __forceinline__ static int32 lane() { return lane_id() % TILE; }
    __device__ __forceinline__ static int32 rank() { return lane_id() / TILE; }  // which of the warp's it is
    __device__ __forceinline__ int32 share() const { return lane() & (threads - 1); }
    __device__ __forceinline__ int32 part() const { return lane() / threads; }
    __device__ __forceinline__ int32 parts() const { return TILE / threads; }
    // Of a ballot the bits of this tile.
    __device__ __forceinline__ static uint32 own(unsigned ballot) {
        return ballot >> (lane_id() & -TILE) & ((1u << TILE) - 1);
    }
    // The first tile of the warp, and how many the grid has.  Neighbouring warps belong to different blocks.
    __device__ __forceinline__ static uint32 first() {
        return (threadIdx.x / WARP * gridDim.x + blockIdx.x) * (WARP / TILE);
    }
    __device__ __forceinline__ static uint32 all() { return WARPS * gridDim.x * (WARP / TILE); }
};

// What a tile has to look at: the in-arcs [begin, end) of an item, all of them or a piece.
struct Row {
    bool there, whole;
    uint32 item, first;  // `first` is the first item of its group
    index_t begin, end;
};

// The shared memory of a block: what a sweep is to do lies here, so that more threads have room for their registers.
struct Shared {
    // Of what fell in this sweep: the arcs that leave it, how many lines, whether one has a row longer than LONG_ROW,
    // and whether a distance may not fit.
    uint64 arcs;
    uint32 lines, long_row, unfit;

    const uint32* changed;  // the bits of the sweep before
    uint32* next;           // and of this one
    uint32 every;           // tail is gathered, whatever its bit
    uint32 now;             // number of this sweep
    const uint32* list;     // of the items to look at, or null: all
    uint32 parts, all;      // pieces of all groups; these, and short rows or listed items
    uint32 rows, pieces;    // of a group
    uint32 limit;           // of narrow distances

    uint32* listed;         // for the next sweep,
    uint32* count;          // how many,
    uint32 mark;            // and its number; 0: nothing is listed
    uint64 spent[PHASES], since;
};

// By one thread of the block.
__device__ __forceinline__ void clear(Shared& shared) {
    shared.arcs = 0;
    shared.lines = shared.long_row = shared.unfit = 0;
}

// One sweep as all threads see it.
struct Sweep {
    const Graph& in;
    const index_t* __restrict__ out_offsets;
    const int32* __restrict__ out_targets;
    Tile tile;
    uint32 vertices;
    Share* lines;
    uint32* stamp;
    Shared& shared;

    __device__ __forceinline__ Share* line(uint32 item) const {
        return &lines[static_cast<uint64>(item) * tile.threads + tile.share()];
    }
    __device__ __forceinline__ bool fell(uint32 item) const { return shared.changed[item / 32] >> item % 32 & 1; }

    // Lower `best` to the least that leads to an item by the arcs of `row` from tails that fell; see relax().  Each
    // part of the tile takes its own arcs.  All lanes of a warp call together.
    __device__ __forceinline__ void gather(const Row& row, Share& best, uint32& moved, bool& unfit) const {
        const int32 parts = tile.parts();
        for (index_t arc = row.begin + tile.lane(); true; arc += TILE) {
            const bool has = arc < row.end;
            const uint32 tail = row.first + (has ? static_cast<uint32>(streamed(&in.targets[arc])) : 0);
            const weight_t weight = has ? streamed(&in.weights[arc]) : static_cast<weight_t>(0);
            if (!__any_sync(FULL_MASK, has)) break;
            const uint32 wanted = tile.own(__ballot_sync(FULL_MASK, has && (shared.every != 0 || fell(tail))));
            int at = tile.part();
            for (uint32 rest = wanted; __any_sync(FULL_MASK, rest); rest >>= IN_FLIGHT * parts) {
                Share there[IN_FLIGHT];
#pragma unroll
                for (int i = 0; i < IN_FLIGHT; ++i) {
                    const uint32 item = __shfl_sync(FULL_MASK, tail, at + i * parts, TILE);
                    if (wanted >> (at + i * parts) & 1) there[i].whole = current(&line(item)->whole);
                }
#pragma unroll
                for (int i = 0; i < IN_FLIGHT; ++i) {
                    const weight_t length = __shfl_sync(FULL_MASK, weight, at + i * parts, TILE);
                    if (wanted >> (at + i * parts) & 1) relax(best, there[i], length, moved, unfit);
                }
                at += IN_FLIGHT * parts;
            }
        }
    }

    // What all parts of the tile have found, in each of them.  All lanes of a warp call together.
    __device__ __forceinline__ void join(Share& best, uint32& moved) const {
        for (int offset = tile.threads; offset < TILE; offset *= 2) {
            moved |= __shfl_xor_sync(FULL_MASK, moved, offset);
#if DISTANCE_BITS == 16
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                best.pair[i] = min_halves(best.pair[i], __shfl_xor_sync(FULL_MASK, best.pair[i], offset));
            }
#else
#pragma unroll
            for (int i = 0; i < LANES; ++i) {
                const word_t other = __shfl_xor_sync(FULL_MASK, best.lane[i], offset);
                if (other < best.lane[i]) best.lane[i] = other;
            }
#endif
        }
    }

    // Look at a row and lower its item's line.  All lanes of a warp call together.
    __device__ __forceinline__ void visit(const Row& row) const {
        Share best = nowhere();
        if (row.there) best.whole = current(&line(row.item)->whole);
        uint32 moved = 0;
        bool unfit = false;
        gather(row, best, moved, unfit);
        join(best, moved);
        const bool lowers = moved != 0 && tile.part() == 0;
        if (lowers) {
            // race-allowed: who reads it early reads it again
            if (row.whole) line(row.item)->whole = best.whole;
            if (!row.whole) lower_together(line(row.item), best);
        }
        if ((lowers || unfit) && too_long(best, shared.limit, unfit)) {
            shared.unfit = 1;  // race-allowed: every writer writes 1
        }
        bool is_first = tile.own(__ballot_sync(FULL_MASK, lowers)) != 0;
        if (is_first && tile.lane() == 0) {
            const uint32 bit = 1u << row.item % 32;
            uint32* const word = &shared.next[row.item / 32];
            if (row.whole) {
                atomicOr(word, bit);  // nobody waits for what it was
            } else {
                is_first = (atomicOr(word, bit) & bit) == 0;  // of several pieces
            }
        }
        note_fallen(row.item, row.first, __shfl_sync(FULL_MASK, static_cast<int>(is_first), 0, TILE) != 0);
    }

    // Count an item if it fell, and list the heads of its out-arcs if that is wanted.  All lanes of a warp call.
    __device__ __forceinline__ void note_fallen(uint32 item, uint32 first, bool fallen) const {
        index_t begin = 0, end = 0;
        if (fallen) {
            begin = out_offsets[item - first];
            end = out_offsets[item - first + 1];
            if (tile.lane() == 0) {
                atomicAdd(&shared.arcs, static_cast<uint64>(end - begin));
                atomicAdd(&shared.lines, 1u);
                if (end - begin > LONG_ROW) atomicOr(&shared.long_row, 1u);
            }
            if (end - begin > LONG_ROW) end = begin;
        }
        const uint32 mark = shared.mark;
        if (mark == 0) return;
        for (index_t arc = begin; __any_sync(FULL_MASK, arc < end); arc += TILE) {
            const bool has = arc + tile.lane() < end;
            const uint32 head = first + (has ? static_cast<uint32>(out_targets[arc + tile.lane()]) : 0);
            const bool fresh = has && current(&stamp[head]) != mark && atomicExch(&stamp[head], mark) != mark;
            const uint32 slot = warp_append(shared.count, fresh);
            if (fresh) shared.listed[slot] = head;
        }
    }
};

// ------------------------------------------------------------------ the parts of a launch

// Add up what the block saw fall.  All threads must call.
__device__ __forceinline__ void add_up(Shared& shared, uint32* control, uint64* wide, uint32 turn) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (shared.arcs != 0) {
        atomicAdd(&wide[turn % 3], shared.arcs);
        if (shared.long_row != 0) atomicOr(&control[LONG + turn % 3], 1u);
    }
    if (shared.unfit != 0) atomicOr(&control[OVERFLOW + turn % 3], 1u);
    if (shared.lines != 0) atomicAdd(&control[FELL + turn % 3], shared.lines);
    clear(shared);
}

// Look at all items, or at those listed: the pieces of long rows, then the short ones in the order of their length, so
// that the tiles of a warp have about as much to do.
__device__ __forceinline__ void look(const Sweep& sweep, const int32* order, const int32* piece_vertex,
                                     const index_t* piece_begin) {
    const Shared& shared = sweep.shared;
    const Graph& in = sweep.in;
    for (uint32 base = sweep.tile.first(); base < shared.all; base += sweep.tile.all()) {
        const uint32 i = base + sweep.tile.rank();
        Row row = {false, true, 0, 0, 0, 0};
        if (i < shared.parts) {
            const uint32 piece = i % shared.pieces;
            const int32 v = piece_vertex[piece];
            row.whole = false;
            row.first = i / shared.pieces * sweep.vertices;
            row.item = row.first + static_cast<uint32>(v);
            // What is listed for the next sweep already may have been listed for this one.
            row.there = shared.list == nullptr || current(&sweep.stamp[row.item]) >= shared.now;
            row.begin = piece_begin[piece];
            row.end = row.begin + PIECE < in.offsets[v + 1] ? row.begin + PIECE : in.offsets[v + 1];
        } else if (i < shared.all) {
            const uint32 at = i - shared.parts;
            if (shared.list != nullptr) {
                row.item = shared.list[at];
                row.first = row.item / sweep.vertices * sweep.vertices;
            } else {
                row.first = at / shared.rows * sweep.vertices;
                row.item = row.first + static_cast<uint32>(order[at % shared.rows]);
            }
            row.begin = in.offsets[row.item - row.first];
            row.end = in.offsets[row.item - row.first + 1];
            row.there = row.end - row.begin <= PIECE;
        }
        if (!row.there) row.end = row.begin;
        sweep.visit(row);
    }
}

// List the heads of all arcs that leave what fell.
__device__ __forceinline__ void list_heads(const Sweep& sweep, uint32 items) {
    const Tile tile = sweep.tile;
    for (uint32 base = tile.first(); base < items; base += tile.all()) {
        const uint32 item = base + tile.rank();
        const bool fallen = item < items && sweep.fell(item);
        if (!__any_sync(FULL_MASK, fallen)) continue;
        sweep.note_fallen(item, item / sweep.vertices * sweep.vertices, fallen);
    }
}

// ------------------------------------------------------------------ before the search

// The class of a short row by its length, CLASSES of one that is cut, -1 of one without arcs.
__device__ __forceinline__ int class_of(index_t arcs) {
    const index_t eights = (arcs + TILE - 1) / TILE;
    return eights > CLASSES ? CLASSES : static_cast<int>(eights) - 1;
}

// The vertices whose rows a block sorts: [first, last).
struct Portion {
    uint32 first, last;
};
__device__ __forceinline__ Portion own_vertices(uint32 vertices) {
    const uint32 each = (vertices + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    return {first, first + each < vertices ? first + each : vertices};
}

// Visit each of them that has a short row, with its class.
template <typename Visit>
__device__ __forceinline__ void visit_short_rows(const Portion& own, const index_t* __restrict__ offsets, Visit visit) {
    for (uint32 v = own.first + threadIdx.x; v < own.last; v += BLOCK) {
        const int kind = class_of(offsets[v + 1] - offsets[v]);
        if (kind >= 0 && kind < CLASSES) visit(static_cast<int32>(v), kind);
    }
}

// Launch: any grid, BLOCK threads; control and wide are all 0.  Writes lines, changed and stamp, each word by one
// thread; by atomics counts short rows by class, cuts longer ones into pieces, and finds the largest weight if words
// are narrow.
extern "C" __global__ void __launch_bounds__(BLOCK)
delta_stepping_batched_begin(int32 vertices, index_t arcs, uint32 items, int32 threads,
                             const index_t* __restrict__ offsets, const weight_t* __restrict__ weights, share_t* lines,
                             uint32* changed, uint32* stamp, int32* piece_vertex, index_t* piece_begin,
                             uint32* control) {
    __shared__ uint32 counts[CLASSES];
    const Share none = nowhere();
    for (int64 i = grid_thread(); i < static_cast<int64>(items) * threads; i += grid_threads()) lines[i] = none.whole;
    for (int64 i = grid_thread(); i < 3ll * (items / 32 + 1); i += grid_threads()) changed[i] = 0;
    for (int64 i = grid_thread(); i < items; i += grid_threads()) stamp[i] = 0;
    if (threadIdx.x < CLASSES) counts[threadIdx.x] = 0;
    __syncthreads();
    const Portion own = own_vertices(vertices);
    for (uint32 base = own.first; base < own.last; base += BLOCK) {
        const uint32 v = base + threadIdx.x;
        const index_t begin = v < own.last ? offsets[v] : 0;
        const index_t length = v < own.last ? offsets[v + 1] - begin : 0;
        const int kind = class_of(length);
        if (kind >= 0 && kind < CLASSES) atomicAdd(&counts[kind], 1u);
        const uint32 pieces = kind == CLASSES ? static_cast<uint32>((length + PIECE - 1) / PIECE) : 0;
        const uint32 slot = warp_reserve(&control[PIECES], pieces);
        for (uint32 i = 0; i < pieces; ++i) {
            piece_vertex[slot + i] = static_cast<int32>(v);
            piece_begin[slot + i] = begin + static_cast<index_t>(i) * PIECE;
        }
    }
    __syncthreads();
    if (threadIdx.x < CLASSES && counts[threadIdx.x] != 0) {  // the rows of a class come behind those of all before it
        for (int kind = threadIdx.x; kind < CLASSES; ++kind) atomicAdd(&control[ROWS + kind], counts[threadIdx.x]);
    }
#if DISTANCE_BITS == 16
    uint32 heaviest = 0;
    for (int64 arc = grid_thread(); arc < arcs; arc += grid_threads()) {
        const uint32 weight = streamed(&weights[arc]);
        if (weight > heaviest) heaviest = weight;
    }
    heaviest = ~warp_min(~heaviest);
    if (lane_id() == 0) atomicMax(&control[HEAVIEST], heaviest);
#endif
}

// Launch: any grid, BLOCK threads.  Writes order, each place by one thread, rows of a class in any order; and sets
// every search's source, by atomics where several have one.
extern "C" __global__ void __launch_bounds__(BLOCK)
delta_stepping_batched_order(int32 vertices, int32 searches, int32 threads, const index_t* __restrict__ offsets,
                             const index_t* __restrict__ out_offsets, const int32* __restrict__ sources,
                             share_t* lines, uint32* changed, int32* order, uint64* wide, uint32* control) {
    __shared__ uint32 slots[CLASSES];
    if (threadIdx.x < CLASSES) slots[threadIdx.x] = 0;
    __syncthreads();
    const Portion own = own_vertices(vertices);
    visit_short_rows(own, offsets, [&](int32, int kind) { atomicAdd(&slots[kind], 1u); });
    __syncthreads();
    if (threadIdx.x < CLASSES) {
        const uint32 first = threadIdx.x == 0 ? 0 : control[ROWS + threadIdx.x - 1];
        slots[threadIdx.x] = first + atomicAdd(&control[ORDERED + threadIdx.x], slots[threadIdx.x]);
    }
    __syncthreads();
    visit_short_rows(own, offsets, [&](int32 v, int kind) { order[atomicAdd(&slots[kind], 1u)] = v; });

    const uint32 lanes = static_cast<uint32>(threads * LANES);
    for (int64 i = grid_thread(); i < searches; i += grid_threads()) {
        const uint32 item = static_cast<uint32>(i / lanes) * vertices + static_cast<uint32>(sources[i]);
        const uint32 lane = static_cast<uint32>(i % lanes), bit = 1u << item % 32;
        reinterpret_cast<Share*>(lines)[static_cast<uint64>(item) * threads + lane / LANES].lane[lane % LANES] = 0;
        if (atomicOr(&changed[item / 32], bit) & bit) continue;
        const index_t arcs = out_offsets[sources[i] + 1] - out_offsets[sources[i]];
        atomicAdd(&wide[0], static_cast<uint64>(arcs));
        if (arcs > LONG_ROW) atomicOr(&control[LONG], 1u);
    }
}

// ------------------------------------------------------------------ the search, and what it found

// Launch: cooperative, BLOCK threads, at most as many blocks as are resident, after the two above.  A line takes
// `threads` threads, 1 to TILE, a power of two; searches that do not fill the last group's lines stay nowhere.  Writes
// lines.  They mean nothing if control[OVERFLOW] says that a wider word may be needed, or control[LEFT] that the search
// was left because more than `most_falls` lines fell, or something still fell in the last of `most_sweeps`.  The host
// may set control[STOP] while it runs: then it ends a sweep or two later, and what it has written means nothing.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
delta_stepping_batched_search(int32 vertices, index_t arcs, uint32 groups, int32 threads, uint64 most_falls,
                              uint32 most_sweeps, const index_t* __restrict__ offsets,
                              const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                              const index_t* __restrict__ out_offsets, const int32* __restrict__ out_targets,
                              share_t* lines, uint32* changed, uint32* listed, uint32* stamp,
                              const int32* __restrict__ order,
                              const int32* __restrict__ piece_vertex, const index_t* __restrict__ piece_begin,
                              uint64* wide, uint32* control, uint64* timeline) {
    __shared__ Shared shared;
    uint32 barriers = 0;
    const Graph in = {vertices, arcs, offsets, targets, weights};
    const uint32 items = groups * static_cast<uint32>(vertices);  // their lines would take 256 GB from 2^31 on
    const uint32 words = items / 32 + 1;
    const auto barrier = [&]() { return grid_barrier_or_stop(control, &barriers); };
    const auto enter = [&](Phase phase) {  // the time since the last call was spent in `phase`
        if (grid_thread() != 0) return;
        const uint64 now = device_nanoseconds();
        shared.spent[phase] += now - shared.since;
        shared.since = now;
    };
    const auto bits = [&](uint32 turn) { return changed + static_cast<uint64>(turn % 3) * words; };
    const auto list = [&](uint32 turn) { return listed + static_cast<uint64>(turn % 2) * items; };
    // What falls from now on lists its heads for a sweep, 0 for none.
    const auto list_for = [&](uint32 turn) {
        shared.listed = list(turn);
        shared.count = &control[LISTED + turn % 3];
        shared.mark = turn;
    };

    if (threadIdx.x == 0) {
        clear(shared);
        for (int phase = 0; phase < PHASES; ++phase) shared.spent[phase] = 0;
        shared.since = device_nanoseconds();
#if DISTANCE_BITS == 16
        shared.limit = NOWHERE - 1 - control[HEAVIEST];
#endif
    }
    const Sweep sweep = {in, out_offsets, out_targets, {threads}, static_cast<uint32>(vertices),
                         reinterpret_cast<Share*>(lines), stamp, shared};
#if DISTANCE_BITS == 16
    if (control[HEAVIEST] >= NOWHERE) {
        if (grid_thread() == 0) control[OVERFLOW] = 1;
        return;
    }
#endif

    bool has_list = false;  // the last sweep listed what this one has to look at
    uint64 fallen = 0;      // lines, so far
    for (uint32 turn = 1; true; ++turn) {
        const uint64 active = current(&wide[(turn - 1) % 3]);
        fallen += current(&control[FELL + (turn - 1) % 3]);
        const bool too_many = fallen > most_falls || turn > most_sweeps;
        if (grid_thread() == 0) {
            control[LOWERED] = static_cast<uint32>(fallen);
            control[LEFT] = active != 0 && too_many;
        }
        if (active == 0 || too_many) break;
        // Wider words start anew.  The widest go on: only where nothing else leads somewhere does a sum matter.
        if (DISTANCE_BITS < 64 && current(&control[OVERFLOW + (turn - 1) % 3]) != 0) break;
        const uint64 all = static_cast<uint64>(arcs) * groups;
        const bool few = active < all / FEW && current(&control[LONG + (turn - 1) % 3]) == 0;
        if (threadIdx.x == 0) {
            shared.changed = bits(turn - 1);
            shared.next = bits(turn);
            shared.every = active >= NEARLY_ALL * static_cast<float64>(all);
            shared.now = turn;
            list_for(turn);
        }
        __syncthreads();
        if (few && !has_list) {
            list_heads(sweep, items);
            if (barrier()) return;
            if (threadIdx.x == 0) clear(shared);  // nothing fell while they were listed
            enter(LIST);
        }
        for (uint64 i = grid_thread(); i < words; i += grid_threads()) bits(turn + 1)[i] = 0;
        if (grid_thread() == 0) {
            wide[(turn + 1) % 3] = 0;
            control[LONG + (turn + 1) % 3] = control[FELL + (turn + 1) % 3] = 0;
            control[LISTED + (turn + 2) % 3] = 0;
            control[SWEEPS] += 1;
            control[LISTS] += few;
        }
        if (threadIdx.x == 0) {
            shared.list = few ? list(turn) : nullptr;
            shared.rows = current(&control[ROWS + CLASSES - 1]);
            shared.pieces = current(&control[PIECES]);
            shared.parts = groups * shared.pieces;
            shared.all = shared.parts + (few ? current(&control[LISTED + turn % 3]) : groups * shared.rows);
            list_for(few ? turn + 1 : 0);
        }
        __syncthreads();
        has_list = few;
        look(sweep, order, piece_vertex, piece_begin);
        add_up(shared, control, wide, turn);
        if (barrier()) return;
        enter(SWEEP);
    }
    if (grid_thread() == 0) {
        for (int phase = 0; phase < PHASES; ++phase) timeline[phase] = shared.spent[phase];
    }
}

// Launch: any grid, BLOCK threads.  Writes rows, each word by one thread; no atomics.  A warp takes 32 vertices, and
// turns their lines round in shared memory, where a line has a word more than it needs, so that no two threads meet in
// a bank.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
delta_stepping_batched_rows(int32 vertices, int32 searches, int32 threads, const share_t* __restrict__ lines,
                            distance_t* rows) {
    constexpr int STRIDE = TILE * LANES + (LANES == 8 ? 2 : 1);
    __shared__ word_t turned[WARPS][WARP * STRIDE];
    word_t* const own = turned[threadIdx.x / WARP];
    const int32 lanes = threads * LANES, shift = __ffs(threads) - 1;
    const uint32 chunks = (static_cast<uint32>(vertices) + WARP - 1) / WARP;
    const uint32 groups = static_cast<uint32>((searches + lanes - 1) / lanes);
    for (uint32 i = grid_thread() / WARP; i < chunks * groups; i += grid_threads() / WARP) {
        const int64 group = i / chunks;
        const int32 first = static_cast<int32>(i % chunks) * WARP;
        const int32 some = vertices - first < WARP ? vertices - first : WARP;
        const share_t* const begin = lines + (group * vertices + first) * threads;
        for (int32 at = lane_id(); at < some * threads; at += WARP) {
            Share share;
            share.whole = begin[at];
#pragma unroll
            for (int lane = 0; lane < LANES; ++lane) {
                own[(at >> shift) * STRIDE + (at & (threads - 1)) * LANES + lane] = share.lane[lane];
            }
        }
        __syncwarp();
        for (int32 lane = 0; lane < lanes && group * lanes + lane < searches; ++lane) {
            if (lane_id() >= some) break;
            const word_t word = own[lane_id() * STRIDE + lane];
            const int64 place = (group * lanes + lane) * vertices + first + lane_id();
            rows[place] = word == NOWHERE ? UNREACHED : static_cast<distance_t>(word);
        }
        __syncwarp();
    }
}
