/*
Segmented min-scan: for every element the least key from the head of its segment up to it, and the position of that key.

    keys (n)                       what is compared; with FLAGS 1 each key's top bit says whether a segment begins
    heads (n)                      with FLAGS 0: 1 where a segment begins, one byte an element
    ids (n)                        with IDS 1: of equal keys the one of least id is the least; else the first one
    block_head, _key, _index       of each block's range: whether it holds a head; the least element after the last one;
    (blocks)                       after the spine, the least element of the segment that reaches into the range
    minima, index (n)              with ENDS 0: the scan: key (as it was given, its type) and position
    owner (n), best (owners)       with ENDS 1: at each segment's end, the position of its least key, to best[owner]

The scheme is that of prefix_scan.cu: upsweep, spine, downsweep, in three launches; a lane scans its vector in
registers, a warp its lanes by Kogge-Stone, a thread the warps before its own.  What the flags change: a sum never
reaches back across a head.  Inside a warp one ballot shows how far each lane reaches, so that flags never travel; and a
block of the upsweep reads its range backwards, and only down to the last head in it.

Defines in addition to those of common.cuh:
    FLAGS    0 | 1      heads as bytes, or in the top bit of unsigned keys
    IDS      0 | 1      ties by ids
    ENDS     0 | 1      write every element's minimum, or each segment's only
    VECTORS  1 | 2 | 4  vectors of 16 bytes of keys a thread (default 2)

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, sections 4 and 6 (the top bit,
and the ballot).
*/
#include "segmented_scan/tile.cuh"

// ------------------------------------------------------------------ kernels, in launch order

// Put the heads into the top bits of the keys.
// Launch: any grid.  Writes packed.
#if FLAGS
extern "C" __global__ void segmented_pack(int64 n, const weight_t* __restrict__ keys, const uint8* __restrict__ heads,
                                          weight_t* packed) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) packed[i] = keys[i] | (heads[i] != 0 ? TOP_BIT : 0);
}
#endif

// Upsweep: the least element after the last head of every block's range, read backwards down to that head.
// Launch: BLOCK threads, at most as many blocks as tiles.  Writes block_head, block_key, block_index.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
segmented_reduce(int64 n, const weight_t* __restrict__ keys, const uint8* __restrict__ heads,
                 const index_t* __restrict__ ids, uint8* block_head, weight_key_t* block_key, index_t* block_index) {
    __shared__ WarpItems warps;
    __shared__ int last_head[2][WARPS];
    const Range range = own_tiles<TILE>(n);
    Item mine = NO_ITEM;
    bool found = false;
    int turn = 0;
    for (int64 tile = range.last - 1; tile >= range.first && !found; --tile) {
        Items items;
        load_tile(items, n, tile * TILE, keys, heads);
        int head = -1;  // the last head of the tile, by position
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) head = is_head(items, v, e) ? place(v) + e : head;
        }
        for (int offset = WARP / 2; offset > 0; offset /= 2) {
            const int other = __shfl_xor_sync(FULL_MASK, head, offset);
            if (other > head) head = other;
        }
        if (lane_id() == 0) last_head[turn][threadIdx.x / WARP] = head;
        __syncthreads();
        for (int w = 0; w < WARPS; ++w) head = last_head[turn][w] > head ? last_head[turn][w] : head;
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) {
                if (place(v) + e >= head) mine = lesser(mine, items.at[v][e], ids);
            }
        }
        found = head >= 0;
        turn ^= 1;
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        const Item theirs = {__shfl_xor_sync(FULL_MASK, mine.key, offset),
                             __shfl_xor_sync(FULL_MASK, mine.index, offset)};
        mine = lesser(mine, theirs, ids);
    }
    Item total = NO_ITEM;
    carry_to_warp(warps, 0, mine, false, &total, ids);
    if (threadIdx.x != 0) return;
    block_head[blockIdx.x] = found;
    block_key[blockIdx.x] = total.key;
    block_index[blockIdx.x] = total.index;
}

// Spine: what reaches into every block's range.
// Launch: one block of BLOCK threads.  Writes block_key, block_index.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
segmented_spine(int32 blocks, const index_t* __restrict__ ids, const uint8* __restrict__ block_head,
                weight_key_t* block_key, index_t* block_index) {
    __shared__ WarpItems warps;
    Item prefix = NO_ITEM;
    int turn = 0;
    for (int32 first = 0; first < blocks; first += BLOCK) {
        const int32 b = first + threadIdx.x;
        Item item = NO_ITEM;
        bool head = false;
        if (b < blocks) {
            item = {block_key[b], block_index[b]};
            head = block_head[b] != 0;
        }
        const unsigned heads = __ballot_sync(FULL_MASK, head);
        const Item sum = warp_scan(item, heads, ids);
        const Item carry = carry_to_warp(warps, turn, sum, heads != 0, &prefix, ids);
        Item before = shuffled_up(sum, 1);
        if (lane_id() == 0) before = NO_ITEM;
        if ((heads & lanes_before()) == 0) before = lesser(carry, before, ids);
        if (b < blocks) {
            block_key[b] = before.key;
            block_index[b] = before.index;
        }
        turn ^= 1;
    }
}

// Downsweep: every block scans its range from what reaches into it.
// Launch: BLOCK threads, as many blocks as the upsweep had.  Writes minima and index, or best: a segment has one end,
// so one thread writes its entry.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
segmented_scan(int64 n, const weight_t* __restrict__ keys, const uint8* __restrict__ heads,
               const index_t* __restrict__ ids, const weight_key_t* __restrict__ block_key,
               const index_t* __restrict__ block_index,
#if ENDS
               const int32* __restrict__ owner, index_t* best) {
#else
               weight_t* minima, index_t* index) {
#endif
    __shared__ WarpItems warps;
    const Range range = own_tiles<TILE>(n);
    Item prefix = {block_key[blockIdx.x], block_index[blockIdx.x]};
    int turn = 0;
    for (int64 tile = range.first; tile < range.last; ++tile) {
        Items items;
        load_tile(items, n, tile * TILE, keys, heads);
        scan_tile(items, warps, turn, &prefix, ids);
        turn ^= 1;
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            const int64 first = tile * TILE + place(v);
#if ENDS
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) {
                const int64 i = first + e;
                if (i >= n) continue;
                const bool ends =
                    i + 1 == n || (e + 1 < WIDTH ? is_head(items, v, (e + 1) % WIDTH) : heads[i + 1] != 0);
                if (ends) best[owner[i]] = items.at[v][e].index;
            }
#else
            store_vector(items.at[v], first, n, minima, index);
#endif
        }
    }
}
