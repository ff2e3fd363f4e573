/*
Prefix sums of an array that a GPU's blocks share: four schemes, of the same few kernels.

    reduce-then-scan             T blocks, each with a range of tiles.  scan_sums: every block adds up its range (upsweep);
                                 scan_tiles with one block: their sums are scanned (spine); scan_tiles with T blocks:
                                 every block scans its range, from its prefix on (downsweep).  Three launches, whatever
                                 n is.
    reduce-then-scan-multilevel  as many blocks as tiles, so that the sums may need more than one tile: they are reduced
                                 again, level by level, and scanned on the way back.  log_TILE n launches each way.
    scan-then-propagate          as before, but every level is scanned on the way up (scan_tiles, which tells totals)
                                 and what stands before a tile is added on the way down (scan_propagate).
    look-back                    one launch: a tile that knows its sum tells it, and finds what stands before it by
                                 looking back at what the tiles before it have told.

    source, target (n)      the elements, and their scan; may be one array (in place)
    sums (blocks)           sum of each block's range; scanned in place to what stands before each range
    descriptors (tiles)     look-back: what each tile has told, see prefix_scan/look_back.cuh
    tickets (1)             look-back: the next tile

Sums of integers wrap: they are exact modulo 2^bits.  Signed integers are scanned as unsigned ones of their width.  All
of them add only consecutive elements, but for scan_sums, where a thread adds elements of its block's range.

Defines:
    ELEMENT  uint32 | uint64 | float32 | float64   (default uint32)
    BLOCK    threads of a block                    (default 256)
    VECTORS  vectors of 16 bytes for each thread   (default 4)
    NETWORK  0 | 1 | 2 | 3   how a tile is scanned: in registers and by shuffles, or by one of prefix_scan/networks.cuh
    LOOK     tiles that a lane looks at together   (default 4)
    PREFETCH 0 | 1           look-back: take the next tile early and bring it to the cache while waiting (default 1)

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 2; D. Merrill, A.
Grimshaw, "Parallel scan for stream architectures", 2009 (reduce-then-scan); D. Merrill, M. Garland, "Single-pass
parallel prefix scan with decoupled look-back", 2016 (look-back).
*/
#include "prefix_scan/look_back.cuh"
#include "prefix_scan/tile.cuh"

#ifndef PREFETCH
#define PREFETCH 1
#endif

// ------------------------------------------------------------------ helpers

// The tiles of this block: an even share of all, consecutive ones.
struct Range {
    int64 first, last;
};
__device__ __forceinline__ Range own_tiles(int64 n) {
    const int64 tiles = (n + TILE - 1) / TILE;
    return {tiles * blockIdx.x / gridDim.x, tiles * (blockIdx.x + 1) / gridDim.x};
}

// Bring a tile to the L2 cache; a hint, which may reach beyond the array's end.  Called by one warp.
__device__ __forceinline__ void prefetch_tile(const element_t* tile) {
    constexpr int LINE = 128 / sizeof(element_t);
#pragma unroll
    for (int i = 0; i < TILE; i += WARP * LINE) {
        const int line = i + lane_id() * LINE;
#ifdef __CUDA_ARCH__
        if (line < TILE) asm volatile("prefetch.global.L2 [%0];" ::"l"(tile + line));
#endif
    }
}

// ------------------------------------------------------------------ kernels, in launch order

// Upsweep: every block adds up its range.
// Launch: BLOCK threads, at most as many blocks as tiles.  Writes sums[block].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_sums(int64 n, const element_t* source, element_t* sums) {
    __shared__ WarpSums shared;
    const Range range = own_tiles(n);
    element_t mine = 0;
    for (int64 tile = range.first; tile < range.last; ++tile) {
        Items items;
        load_tile<false>(items, source + tile * TILE, n - tile * TILE);
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
            for (int e = 0; e < WIDTH; ++e) mine += items.row[v].at[e];
        }
    }
    element_t before;
    const element_t total = block_sums(shared, 0, warp_sum(mine), &before);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Spine and downsweep: every block scans its range; where `has_prefixes`, from prefixes[block] on, else from 0.  Where
// `has_totals`, it tells the range's sum.
// Launch: BLOCK threads, at most as many blocks as tiles.  Writes target, and totals[block].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_tiles(int64 n, int32 exclusive, const element_t* source, element_t* target, int32 has_prefixes,
           const element_t* prefixes, int32 has_totals, element_t* totals) {
    __shared__ Workspace shared;
    const Range range = own_tiles(n);
    element_t prefix = has_prefixes ? prefixes[blockIdx.x] : element_t(0);
    int turn = 0;
    for (int64 tile = range.first; tile < range.last; ++tile) {
        const int64 start = tile * TILE;
        Items items;
        load_tile<true>(items, source + start, n - start);
        const element_t total = scan_tile(shared, turn, exclusive != 0, items);
        add_to_tile(items, prefix);
        store_tile(items, target + start, n - start);
        prefix += total;
        turn ^= 1;
    }
    if (has_totals && threadIdx.x == 0) totals[blockIdx.x] = prefix;
}

// Propagate: every block adds what stands before its tile to the tile's own scan.
// Launch: BLOCK threads, a block for each tile.  Writes target.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_propagate(int64 n, element_t* target, const element_t* __restrict__ prefixes) {
    const int64 start = static_cast<int64>(blockIdx.x) * TILE;
    Items items;
    load_tile<true>(items, target + start, n - start);
    add_to_tile(items, prefixes[blockIdx.x]);
    store_tile(items, target + start, n - start);
}

// Look-back: the whole scan in one pass.  Tiles are handed out by a counter, so that a tile in work only waits for
// tiles that were begun before it; a block asks for its next tile while it works on one, which does no harm, for the
// smallest unfinished tile is never the one that is kept waiting.
// Launch: BLOCK threads, any grid; `epoch` grows by 2 from run to run, and `first_ticket` is where *tickets stands.
// Writes target, descriptors; raises *tickets by the number of tiles and blocks.
#if NETWORK == 0
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_look_back(int64 n, int32 exclusive, const element_t* source, element_t* target, Descriptor* descriptors,
               uint32* tickets, uint32 first_ticket, uint32 epoch) {
    __shared__ Workspace shared;
    __shared__ element_t tile_prefix;
    __shared__ uint32 next_tile;
    const uint32 tiles = static_cast<uint32>((n + TILE - 1) / TILE);
    const auto take_ticket = [&]() { return atomicAdd(tickets, 1u) - first_ticket; };
    if (threadIdx.x == 0) next_tile = take_ticket();
    __syncthreads();
    uint32 tile = next_tile;
    int turn = 0;
    while (tile < tiles) {
        const int64 start = static_cast<int64>(tile) * TILE;
        Items items;
        load_tile<true>(items, source + start, n - start);
        uint32 following = 0;
        if (PREFETCH && threadIdx.x == 0) following = take_ticket();
        const element_t total = scan_tile(shared, turn, exclusive != 0, items);
        if (threadIdx.x < WARP) {
            element_t prefix = 0;
            if (tile != 0) {
                if (lane_id() == 0) publish(&descriptors[tile], epoch, SUM, total);
                if (PREFETCH) {
                    following = __shfl_sync(FULL_MASK, following, 0);
                    if (following < tiles) prefetch_tile(source + static_cast<int64>(following) * TILE);
                }
                prefix = look_back(descriptors, tile, epoch);
            }
            if (lane_id() == 0) {
                publish(&descriptors[tile], epoch, PREFIX, prefix + total);
                tile_prefix = prefix;
                next_tile = PREFETCH ? following : take_ticket();
            }
        }
        __syncthreads();
        add_to_tile(items, tile_prefix);
        tile = next_tile;
        store_tile(items, target + start, n - start);
        turn ^= 1;
    }
}
#endif
