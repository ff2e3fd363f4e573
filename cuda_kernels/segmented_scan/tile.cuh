/*
What the kernels of segmented_scan.cu share: elements with their positions, and how a block reads, scans and writes one
tile of them without reaching across the head of a segment.  Where a thread's elements are: prefix_scan/tile.cuh.
*/
#ifndef GPUGRAPH_SEGMENTED_SCAN_TILE_CUH
#define GPUGRAPH_SEGMENTED_SCAN_TILE_CUH

#include "common.cuh"

#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef IDS
#define IDS 0
#endif
#ifndef ENDS
#define ENDS 0
#endif
#ifndef VECTORS
#define VECTORS 2
#endif

constexpr int BLOCK = 256;
constexpr int RESIDENT = 2;  // blocks of a multiprocessor, at least: leaves a thread 128 registers
constexpr int WARPS = BLOCK / WARP;
constexpr int WIDTH = 16 / static_cast<int>(sizeof(weight_t));
constexpr int ROW = WARP * WIDTH;
constexpr int TILE = BLOCK * VECTORS * WIDTH;
constexpr index_t NOWHERE = -1;

struct Item {
    weight_key_t key;
    index_t index;  // NOWHERE: no element
};
constexpr Item NO_ITEM = {NO_KEY, NOWHERE};  // an element may have NO_KEY, but none is NOWHERE

__device__ __forceinline__ Item lesser(const Item& a, const Item& b, const index_t* __restrict__ ids) {
    if (a.index == NOWHERE || b.index == NOWHERE) return a.index == NOWHERE ? b : a;
    if (a.key != b.key) return a.key < b.key ? a : b;
#if IDS
    return ids[a.index] < ids[b.index] ? a : b;
#else
    return a.index < b.index ? a : b;
#endif
}

// The weight of a key: the inverse of order_key.
__device__ __forceinline__ void weight_of(uint32 key, uint32* weight) { *weight = key; }
__device__ __forceinline__ void weight_of(uint64 key, uint64* weight) { *weight = key; }
__device__ __forceinline__ void weight_of(uint32 key, int32* weight) {
    *weight = static_cast<int32>(key ^ 0x80000000u);
}
__device__ __forceinline__ void weight_of(uint64 key, int64* weight) {
    *weight = static_cast<int64>(key ^ 0x8000000000000000ull);
}
__device__ __forceinline__ void weight_of(uint32 key, float32* weight) {
    *weight = __uint_as_float(key >> 31 ? key ^ 0x80000000u : ~key);
}
__device__ __forceinline__ void weight_of(uint64 key, float64* weight) {
    *weight = __longlong_as_double(static_cast<int64>(key >> 63 ? key ^ 0x8000000000000000ull : ~key));
}

// The elements of a thread, row by row, and a bit for each that is a head, that of element e of row v at v * WIDTH + e.
struct Items {
    Item at[VECTORS][WIDTH];
    uint32 heads;
};

__device__ __forceinline__ bool is_head(const Items& items, int v, int e) { return items.heads >> (v * WIDTH + e) & 1; }

// Position in the tile of this thread's vector in a row.
__device__ __forceinline__ int place(int row) {
    return (threadIdx.x / WARP * VECTORS + row) * ROW + lane_id() * WIDTH;
}

// Read the tile that begins at `start`; what lies beyond n is NOWHERE.
__device__ __forceinline__ void load_tile(Items& items, int64 n, int64 start, const weight_t* __restrict__ keys,
                                          const uint8* __restrict__ heads) {
    union {
        uint4 word;
        weight_t at[WIDTH];
    } vector;
    union {
        uint32 word;
        uint8 at[4];
    } flags;
    items.heads = 0;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        const int64 first = start + place(v);
        const bool whole = first + WIDTH <= n;
        flags.word = 0;
        if (whole) {
            vector.word = __ldcs(reinterpret_cast<const uint4*>(keys + first));
            if (!FLAGS && WIDTH == 4) flags.word = __ldcs(reinterpret_cast<const uint32*>(heads + first));
            if (!FLAGS && WIDTH == 2) flags.word = __ldcs(reinterpret_cast<const unsigned short*>(heads + first));
        }
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) {
            items.at[v][e] = NO_ITEM;
            if (first + e >= n) continue;
            weight_key_t key = order_key(whole ? vector.at[e] : keys[first + e]);
            bool head = false;
            if (FLAGS) {
                head = (key & TOP_BIT) != 0;
                key &= ~TOP_BIT;
            } else {
                head = (whole ? flags.at[e] : heads[first + e]) != 0;
            }
            items.at[v][e] = {key, static_cast<index_t>(first + e)};
            if (head) items.heads |= 1u << (v * WIDTH + e);
        }
    }
}

// Write the keys, as weights, and positions of a vector; what lies beyond n is left out.
__device__ __forceinline__ void store_vector(const Item* items, int64 first, int64 n, weight_t* minima,
                                             index_t* index) {
    union {
        uint4 word;
        weight_t at[WIDTH];
    } values;
    union {
        uint4 word[WIDTH * sizeof(index_t) > 16 ? 2 : 1];
        uint2 half;
        index_t at[WIDTH];
    } places;
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) {
        weight_of(items[e].key, &values.at[e]);
        places.at[e] = items[e].index;
    }
    if (first + WIDTH <= n) {
        __stcs(reinterpret_cast<uint4*>(minima + first), values.word);
        if (WIDTH * sizeof(index_t) == 8) {
            __stcs(reinterpret_cast<uint2*>(index + first), places.half);
        } else {
#pragma unroll
            for (int k = 0; k < static_cast<int>(WIDTH * sizeof(index_t) / 16); ++k) {
                __stcs(reinterpret_cast<uint4*>(index + first) + k, places.word[k]);
            }
        }
        return;
    }
#pragma unroll
    for (int e = 0; e < WIDTH; ++e) {
        if (first + e >= n) continue;
        minima[first + e] = values.at[e];
        index[first + e] = places.at[e];
    }
}

__device__ __forceinline__ Item shuffled_up(const Item& item, int offset) {
    return {__shfl_up_sync(FULL_MASK, item.key, offset), __shfl_up_sync(FULL_MASK, item.index, offset)};
}
__device__ __forceinline__ Item shuffled(const Item& item, int lane) {
    return {__shfl_sync(FULL_MASK, item.key, lane), __shfl_sync(FULL_MASK, item.index, lane)};
}

// Kogge-Stone over the lanes: the least item from the last head on.  `heads` is the ballot of the lanes that hold one.
__device__ __forceinline__ Item warp_scan(Item item, unsigned heads, const index_t* __restrict__ ids) {
    const unsigned upto = heads & (FULL_MASK >> (WARP - 1 - lane_id()));
    const int reach = upto == 0 ? lane_id() : lane_id() - (WARP - 1 - __clz(static_cast<int>(upto)));
#pragma unroll
    for (int offset = 1; offset < WARP; offset *= 2) {
        const Item below = shuffled_up(item, offset);
        if (offset <= reach) item = lesser(below, item, ids);
    }
    return item;
}

// What each warp of a block publishes for the later ones; `turn` alternates, so that one barrier is enough.
struct WarpItems {
    weight_key_t key[2][WARPS];
    index_t index[2][WARPS];
    bool head[2][WARPS];
};

// Carry a block's prefix on to this thread's warp (the result), and to the end of the block (*prefix), from what each
// warp holds after its last head.  All threads must call.
__device__ __forceinline__ Item carry_to_warp(WarpItems& warps, int turn, const Item& last, bool head, Item* prefix,
                                              const index_t* __restrict__ ids) {
    const int own = threadIdx.x / WARP;
    if (lane_id() == WARP - 1) {
        warps.key[turn][own] = last.key;
        warps.index[turn][own] = last.index;
        warps.head[turn][own] = head;
    }
    __syncthreads();
    Item carry = *prefix, mine = carry;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (w == own) mine = carry;
        const Item item = {warps.key[turn][w], warps.index[turn][w]};
        carry = warps.head[turn][w] ? item : lesser(carry, item, ids);
    }
    *prefix = carry;
    return mine;
}

// Scan a tile whose segments may reach back to *prefix; *prefix becomes what reaches out of it.  All threads must call.
__device__ __forceinline__ void scan_tile(Items& items, WarpItems& warps, int turn, Item* prefix,
                                          const index_t* __restrict__ ids) {
    Item sum[VECTORS];
    unsigned heads[VECTORS];
    Item last = NO_ITEM;
    bool any_head = false;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
        for (int e = 1; e < WIDTH; ++e) {
            if (!is_head(items, v, e)) items.at[v][e] = lesser(items.at[v][e - 1], items.at[v][e], ids);
        }
        heads[v] = __ballot_sync(FULL_MASK, (items.heads >> (v * WIDTH) & ((1u << WIDTH) - 1)) != 0);
        sum[v] = warp_scan(items.at[v][WIDTH - 1], heads[v], ids);
        const Item row = shuffled(sum[v], WARP - 1);
        last = heads[v] != 0 ? row : lesser(last, row, ids);
        any_head |= heads[v] != 0;
    }
    Item carry = carry_to_warp(warps, turn, last, any_head, prefix, ids);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        Item before = shuffled_up(sum[v], 1);
        if (lane_id() == 0) before = NO_ITEM;
        if ((heads[v] & lanes_before()) == 0) before = lesser(carry, before, ids);
        bool open = true;
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) {
            open = open && !is_head(items, v, e);
            if (open) items.at[v][e] = lesser(before, items.at[v][e], ids);
        }
        const Item row = shuffled(sum[v], WARP - 1);
        carry = heads[v] != 0 ? row : lesser(carry, row, ids);
    }
}

#endif
