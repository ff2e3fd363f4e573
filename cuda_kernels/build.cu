/*
From arcs in any order to the rows of a graph: sorted by target, without loops and parallel arcs, of which the lightest
stays.

An arc becomes the key tail << bits | head (arc_keys.cuh); sorted, equal keys are parallel arcs and lie side by side,
and the first of each run is an arc of the graph.  Tiles of the sorted list count their firsts, the host adds the counts
up, and then every tile knows where its arcs go.  Weights do not travel with the keys: each arc of the list looks itself
up in its finished row, which is sorted, and lowers the weight that it finds there.  So the sort moves 8 bytes an arc,
whatever the weights are, and how many parallel arcs there are does not matter.

    tails, heads, weights (k)   arcs as they were listed
    keys (k)                    sorted
    firsts (tiles)              keys of each tile that differ from the one before
    slots (tiles)               where the first of them goes
    offsets (n+1)  targets      the rows
    words (arcs)                weights as words that compare as unsigned numbers do, ~0 at the start; then as they are
    unequal (1)                 edges of a directed graph whose two arcs differ in weight

A directed graph that is to be undirected lists its arcs by build_tails, and counts by build_unequal those that differ.
A file may come in several parts, each of which is listed by a launch of its own; its ids are first made numbers
0, 1, 2, ... by build_less, or by build_mark and build_renumber.

Kernels, in launch order: build_list (or generate_*), sort, build_count, build_rows; build_lightest_N_bytes,
build_restore_N_bytes for weights that were listed.

Where tails are taken range by range, `keys` holds those of one range, counted from `first`, and all but build_list run
once a range, each writing on behind the last.

Source: sorting by keys and taking the first of each run is the common way to build rows; the lookup in place of a
second sort is ours.
*/
#include "arc_keys.cuh"

constexpr int BLOCK = 256;         // threads of build_count and build_rows
constexpr int TILE = 8 * BLOCK;    // keys that one block takes
constexpr int WARPS = BLOCK / WARP;

// ------------------------------------------------------------------ keys

struct ListedNegative {
    const void* weights;  // of a signed type; null: none is negative
    int32 bytes, real;
    __device__ __forceinline__ bool operator()(int64 i, int64) const {
        if (weights == nullptr) return false;
        if (real) {
            return bytes == 4 ? static_cast<const float32*>(weights)[i] < 0.0f
                              : static_cast<const float64*>(weights)[i] < 0.0;
        }
        return bytes == 4 ? static_cast<const int32*>(weights)[i] < 0 : static_cast<const int64*>(weights)[i] < 0;
    }
};

// Launch: any grid, blocks of whole warps.  Item i of [begin, items) is arc i - begin of the part of the list that is
// given.  `is_signed`: a weight can be below zero.  Writes out and counters, by atomics.
extern "C" __global__ void build_list(int64 items, int64 begin, uint64* out, int32 mode, int32 mirrored,
                                      int32 head_bits, int64 first, int64 last, uint64* counters,
                                      const int32* __restrict__ tails, const int32* __restrict__ heads,
                                      const void* __restrict__ weights, int32 bytes, int32 real, int32 is_signed) {
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        tail = tails[i - begin];
        head = heads[i - begin];
        return true;
    };
    const ListedNegative listed{is_signed ? weights : nullptr, bytes, real};
    const auto negative = [&](int64 i, int64 vertex) { return listed(i - begin, vertex); };
    put_all(Sink{begin, out, mode, mirrored, head_bits, first, last, counters}, items, draw, negative);
}

// ------------------------------------------------------------------ rows

// Launch: a block of BLOCK threads for each tile.  Writes firsts, each by one thread; no atomics.
extern "C" __global__ void build_count(int64 count, const uint64* __restrict__ keys, uint32* firsts) {
    const int64 begin = static_cast<int64>(blockIdx.x) * TILE;
    const int64 end = begin + TILE < count ? begin + TILE : count;
    uint32 found = 0;
    for (int64 round = begin; round < end; round += BLOCK) {
        const int64 i = round + threadIdx.x;
        found += __syncthreads_count(i < end && (i == 0 || keys[i] != keys[i - 1]));
    }
    if (threadIdx.x == 0) firsts[blockIdx.x] = found;
}

// Launch: a block of BLOCK threads for each tile.  Writes targets, and offsets of [first, last) up to the last row that
// has arcs, each by one thread; the thread that begins a row also begins the empty rows before it.  Where a launch of
// one range ends, the last tile begins the empty rows behind.  No atomics.
extern "C" __global__ void build_rows(int64 count, const uint64* __restrict__ keys, const int64* __restrict__ slots,
                                      int32 head_bits, int64 first, int64 last, index_t* offsets, int32* targets) {
    __shared__ uint32 in_warp[WARPS];
    const int64 begin = static_cast<int64>(blockIdx.x) * TILE;
    const int64 end = begin + TILE < count ? begin + TILE : count;
    const uint64 head_mask = (1ull << head_bits) - 1;
    const int warp = threadIdx.x / WARP;
    int64 base = slots[blockIdx.x];
    for (int64 round = begin; round < end; round += BLOCK) {
        const int64 i = round + threadIdx.x;
        const uint64 key = i < end ? keys[i] : 0;
        const bool is_first = i < end && (i == 0 || key != keys[i - 1]);
        const unsigned firsts = __ballot_sync(FULL_MASK, is_first);
        if (lane_id() == 0) in_warp[warp] = static_cast<uint32>(__popc(firsts));
        __syncthreads();
        uint32 before = 0, all = 0;
        for (int w = 0; w < WARPS; w++) {
            if (w < warp) before += in_warp[w];
            all += in_warp[w];
        }
        const int64 slot = base + before + __popc(firsts & ((1u << lane_id()) - 1));
        int64 row = 0, begun = 0;  // rows [begun, row] begin here
        if (is_first) {
            targets[slot] = static_cast<int32>(key & head_mask);
            row = first + static_cast<int64>(key >> head_bits);
            begun = i == 0 ? first : first + static_cast<int64>(keys[i - 1] >> head_bits) + 1;
        }
        // A long stretch of empty rows is begun by the whole warp.
        unsigned starters = __ballot_sync(FULL_MASK, is_first && begun <= row);
        while (starters != 0) {
            const int lane = __ffs(static_cast<int32>(starters)) - 1;
            starters &= starters - 1;
            const int64 from = __shfl_sync(FULL_MASK, begun, lane), to = __shfl_sync(FULL_MASK, row, lane);
            const int64 where = __shfl_sync(FULL_MASK, slot, lane);
            for (int64 v = from + lane_id(); v <= to; v += WARP) offsets[v] = static_cast<index_t>(where);
        }
        base += all;
        __syncthreads();
    }
    if (end == count) {
        const int64 from = first + static_cast<int64>(keys[count - 1] >> head_bits) + 1;
        for (int64 v = from + threadIdx.x; v <= last; v += BLOCK) offsets[v] = static_cast<index_t>(base);
    }
}

// ------------------------------------------------------------------ weights

// A word that compares as the weight behind it does, among words of one width (canonical.py: weight_key), and back.
template <typename Word>
__device__ __forceinline__ Word weight_order(Word word, Word sign, int32 real) {
    if (real && word == sign) return sign;  // -0.0 is sorted as +0.0 is
    if (real && (word & sign)) return ~word;
    return word ^ sign;
}

template <typename Word>
__device__ __forceinline__ Word ordered_weight(Word key, Word sign, int32 real) {
    if (real && !(key & sign)) return ~key;
    return key ^ sign;
}

template <typename Word>
__device__ __forceinline__ void lower_weight(const index_t* __restrict__ offsets, const int32* __restrict__ targets,
                                             int32 tail, int32 head, Word key, Word* words) {
    const index_t arc = find_arc(targets, offsets[tail], offsets[tail + 1], head);
    lower_to(&words[arc], key);
}

template <typename Word>
__device__ __forceinline__ void take_lightest(int64 items, int32 mirrored, const int32* __restrict__ tails,
                                              const int32* __restrict__ heads, const Word* __restrict__ weights,
                                              uint64 sign, int32 real, const index_t* __restrict__ offsets,
                                              const int32* __restrict__ targets, Word* words) {
    for (int64 i = grid_thread(); i < items; i += grid_threads()) {
        const int32 u = tails[i], v = heads[i];
        if (u == v) continue;
        const Word key = weight_order(weights[i], static_cast<Word>(sign), real);
        lower_weight(offsets, targets, u, v, key, words);
        if (mirrored) lower_weight(offsets, targets, v, u, key, words);
    }
}

template <typename Word>
__device__ __forceinline__ void restore(int64 arcs, uint64 sign, int32 real, Word* words) {
    for (int64 i = grid_thread(); i < arcs; i += grid_threads()) {
        words[i] = ordered_weight(words[i], static_cast<Word>(sign), real);
    }
}

// Launch: any grid; words are ~0.  Writes words, by atomicMin: of parallel arcs the lightest stays, whoever comes
// first.
extern "C" __global__ void build_lightest_4_bytes(int64 items, int32 mirrored, const int32* __restrict__ tails,
                                                  const int32* __restrict__ heads, const uint32* __restrict__ weights,
                                                  uint64 sign, int32 real, const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets, uint32* words) {
    take_lightest(items, mirrored, tails, heads, weights, sign, real, offsets, targets, words);
}

extern "C" __global__ void build_lightest_8_bytes(int64 items, int32 mirrored, const int32* __restrict__ tails,
                                                  const int32* __restrict__ heads, const uint64* __restrict__ weights,
                                                  uint64 sign, int32 real, const index_t* __restrict__ offsets,
                                                  const int32* __restrict__ targets, uint64* words) {
    take_lightest(items, mirrored, tails, heads, weights, sign, real, offsets, targets, words);
}

// Launch: any grid.  Writes every word, by one thread; no atomics.
extern "C" __global__ void build_restore_4_bytes(int64 arcs, uint64 sign, int32 real, uint32* words) {
    restore(arcs, sign, real, words);
}

extern "C" __global__ void build_restore_8_bytes(int64 arcs, uint64 sign, int32 real, uint64* words) {
    restore(arcs, sign, real, words);
}

// ------------------------------------------------------------------ undirected graphs of directed ones

constexpr int ARC_TILE = 1024;  // consecutive arcs that a warp takes

// Launch: any grid of whole warps.  Writes tails, each by one thread; no atomics.
extern "C" __global__ void build_tails(int32 vertices, int64 arcs, const index_t* __restrict__ offsets, int32* tails) {
    walk_arcs<ARC_TILE>(offsets, vertices, 0, arcs, [&](int32 u, index_t at, bool there) {
        if (there) tails[at] = u;
    });
}

// Launch: any grid of whole warps; weights are words of 4 or 8 bytes.  Writes *unequal, by atomicAdd.
extern "C" __global__ void build_unequal(int32 vertices, int64 arcs, const index_t* __restrict__ offsets,
                                         const int32* __restrict__ targets, const void* __restrict__ weights,
                                         int32 bytes, uint64* unequal) {
    walk_arcs<ARC_TILE>(offsets, vertices, 0, arcs, [&](int32 u, index_t at, bool there) {
        const int32 v = there ? targets[at] : u;
        if (!there || u > v) return;
        const index_t back = find_arc(targets, offsets[v], offsets[v + 1], u);
        if (back == static_cast<index_t>(-1)) return;
        const bool differ = bytes == 4
                                ? static_cast<const uint32*>(weights)[at] != static_cast<const uint32*>(weights)[back]
                                : static_cast<const uint64*>(weights)[at] != static_cast<const uint64*>(weights)[back];
        if (differ) atomicAdd(unequal, 1ull);
    });
}

// ------------------------------------------------------------------ ids of a list

// Launch: any grid.  Writes every id, by one thread; no atomics.
extern "C" __global__ void build_less(int64 count, int32* ids, int32 number) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) ids[i] -= number;
}

// Launch: any grid.  Writes present, every thread that writes to a place the same.
extern "C" __global__ void build_mark(int64 count, const int32* __restrict__ ids, uint8* present) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) {
        present[ids[i]] = 1;  // race-allowed: whoever writes here writes 1, and nobody reads
    }
}

// Launch: any grid.  Writes every id, by one thread; no atomics.
extern "C" __global__ void build_renumber(int64 count, int32* ids, const int32* __restrict__ numbers) {
    for (int64 i = grid_thread(); i < count; i += grid_threads()) ids[i] = numbers[ids[i]];
}
