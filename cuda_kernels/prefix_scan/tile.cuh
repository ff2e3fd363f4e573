/*
What the kernels of prefix_scan.cu share: how a block reads, scans and writes one tile of TILE elements.

A warp reads rows of 32 vectors of 16 bytes, VECTORS rows behind each other, so that every access is whole and no
element has to change lanes: a lane scans its vector in registers, and the warp scans the sums of each row by shuffles.

    tile:  warp 0 | warp 1 | …      warp:  row 0 | row 1 | …      row:  lane 0 | lane 1 | …      lane:  WIDTH elements
*/
#ifndef GPUGRAPH_PREFIX_SCAN_TILE_CUH
#define GPUGRAPH_PREFIX_SCAN_TILE_CUH

#include "common.cuh"

#ifndef ELEMENT
#define ELEMENT uint32
#endif
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef VECTORS
#define VECTORS 4
#endif
#ifndef NETWORK
#define NETWORK 0
#endif

typedef ELEMENT element_t;

constexpr int WIDTH = 16 / static_cast<int>(sizeof(element_t));
constexpr int ROW = WARP * WIDTH;
constexpr int WARPS = BLOCK / WARP;
constexpr int TILE = BLOCK * VECTORS * WIDTH;

// Threads of a multiprocessor, at least: as many as leave each thread the registers for its elements.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int MOST_THREADS = 1024;
#else
constexpr int MOST_THREADS = 1280;
#endif
constexpr int RESIDENT = (VECTORS > 4 || NETWORK ? 512 : sizeof(element_t) > 4 ? 768 : MOST_THREADS) / BLOCK;
static_assert(BLOCK % WARP == 0, "a block is made of whole warps");

// The elements of a thread, row by row.
union Vector {
    uint4 word;
    element_t at[WIDTH];
};
struct Items {
    Vector row[VECTORS];
};

// Position in the tile of this thread's vector in a row.
__device__ __forceinline__ int place(int row) {
    return (threadIdx.x / WARP * VECTORS + row) * ROW + lane_id() * WIDTH;
}

// Read a tile of `count` elements, TILE or fewer; what is missing is 0.  Every element is read by the thread that will
// write it, so that source and target may be the same array.  With LAST_USE the cache need not keep the elements.
template <bool LAST_USE>
__device__ __forceinline__ void load_tile(Items& items, const element_t* source, int64 count) {
    if (count >= TILE) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            const uint4* const vector = reinterpret_cast<const uint4*>(source + place(v));
            items.row[v].word = LAST_USE ? __ldcs(vector) : *vector;
        }
        return;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) {
            const int i = place(v) + e;
            items.row[v].at[e] = i < count ? source[i] : element_t(0);
        }
    }
}

__device__ __forceinline__ void store_tile(const Items& items, element_t* target, int64 count) {
    if (count >= TILE) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) __stcs(reinterpret_cast<uint4*>(target + place(v)), items.row[v].word);
        return;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) {
            const int i = place(v) + e;
            if (i < count) target[i] = items.row[v].at[e];
        }
    }
}

__device__ __forceinline__ void add_to_tile(Items& items, element_t prefix) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) items.row[v].at[e] += prefix;
    }
}

__device__ __forceinline__ element_t warp_sum(element_t value) {
#pragma unroll
    for (int offset = WARP / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}

// The sums of a block's warps; `turn` alternates from call to call, so that one barrier is enough.
struct WarpSums {
    element_t of[2][WARPS];
};

// Sum of all warps, and of those before this one, from each warp's sum.  All threads must call.
__device__ __forceinline__ element_t block_sums(WarpSums& sums, int turn, element_t mine, element_t* before) {
    if (lane_id() == WARP - 1) sums.of[turn][threadIdx.x / WARP] = mine;
    __syncthreads();
    const element_t value = lane_id() < WARPS ? sums.of[turn][lane_id()] : element_t(0);
    const element_t inclusive = warp_scan(value);
    const int warp = threadIdx.x / WARP;
    const element_t preceding = __shfl_sync(FULL_MASK, inclusive, warp == 0 ? 0 : warp - 1);
    *before = warp == 0 ? element_t(0) : preceding;
    return __shfl_sync(FULL_MASK, inclusive, WARPS - 1);
}

#if NETWORK == 0
// A block's working memory for scan_tile.
struct Workspace {
    WarpSums sums;
};

// Scan a tile: sequentially in a lane's registers, by Kogge-Stone in the warp, once more over the warps.  Returns the
// sum of the tile, in every thread.  All threads must call; `turn` alternates from call to call.
__device__ __forceinline__ element_t scan_tile(Workspace& space, int turn, bool exclusive, Items& items) {
    element_t before[VECTORS];
    element_t carry = 0;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        Vector& vector = items.row[v];
#pragma unroll
        for (int e = 1; e < WIDTH; ++e) vector.at[e] += vector.at[e - 1];
        const element_t inclusive = warp_scan(vector.at[WIDTH - 1]);
        const element_t preceding = __shfl_up_sync(FULL_MASK, inclusive, 1);
        before[v] = carry + (lane_id() == 0 ? element_t(0) : preceding);
        carry += __shfl_sync(FULL_MASK, inclusive, WARP - 1);
    }
    element_t warps_before;
    const element_t total = block_sums(space.sums, turn, carry, &warps_before);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        Vector& vector = items.row[v];
        if (exclusive) {
#pragma unroll
            for (int e = WIDTH - 1; e > 0; --e) vector.at[e] = vector.at[e - 1];
            vector.at[0] = 0;
        }
        const element_t prefix = warps_before + before[v];
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) vector.at[e] += prefix;
    }
    return total;
}
#else
#include "prefix_scan/networks.cuh"
#endif

#endif
