/*
Prefix sums of an array that a GPU's blocks share: four schemes, of the same few kernels.

    reduce-then-scan             T blocks, each with a range of tiles.  scan_sums: every block adds up its range
                                 (upsweep); scan_tiles with one block: their sums are scanned (spine); scan_tiles with T
                                 blocks: every block scans its range, from its prefix on (downsweep).  Three launches,
                                 whatever n is.
    reduce-then-scan-multilevel  as many blocks as tiles, so that the sums may need more than one tile: they are reduced
                                 again, level by level, and scanned on the way back.  log_TILE n launches each way.
    scan-then-propagate          as before, but every level is scanned on the way up (scan_tiles, which writes totals)
                                 and the sum before a tile is added on the way down (scan_propagate).
    look-back                    one launch: a tile that knows its sum publishes it, and gets the sum before it from
                                 one warp that looks back for all.

    source, target (n)      the elements, and their scan; may be one array (in place)
    sums (blocks)           sum of each block's range; scanned in place to the sum before each range
    descriptors (tiles)     look-back: what each tile publishes and learns, see prefix_scan/look_back.cuh

Sums of integers wrap: they are exact modulo 2^bits.  Signed integers are scanned as unsigned ones of their width.  All
of them add only consecutive elements, but for scan_sums, where a thread adds elements of its block's range.

Defines:
    ELEMENT  uint32 | uint64 | float32 | float64   (default uint32)
    BLOCK    threads of a block                    (default 256)
    VECTORS  vectors of 16 bytes for each thread   (default 4)
    NETWORK  0 | 1 | 2 | 3   how a tile is scanned: in registers and by shuffles, or by one of prefix_scan/networks.cuh

Source: Y. Sun, K. Skadron, "Prefix scan and minimum spanning tree with OpenCL", 2013, section 2; D. Merrill, A.
Grimshaw, "Parallel scan for stream architectures", 2009 (reduce-then-scan); D. Merrill, M. Garland, "Single-pass
parallel prefix scan with decoupled look-back", 2016 (look-back).
*/
#include "prefix_scan/look_back.cuh"
#include "prefix_scan/tile.cuh"

// ------------------------------------------------------------------ kernels, in launch order

// Upsweep: every block adds up its range.
// Launch: BLOCK threads, at most as many blocks as tiles.  Writes sums[block].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_sums(int64 n, const element_t* source, element_t* sums) {
    __shared__ WarpSums shared;
    const Range range = own_tiles<TILE>(n);
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
// `has_totals`, it writes the range's sum.
// Launch: BLOCK threads, at most as many blocks as tiles.  Writes target, and totals[block].
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_tiles(int64 n, int32 exclusive, const element_t* source, element_t* target, int32 has_prefixes,
           const element_t* prefixes, int32 has_totals, element_t* totals) {
    __shared__ Workspace shared;
    const Range range = own_tiles<TILE>(n);
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

// Propagate: every block adds the sum before its tile to the tile's own scan.
// Launch: BLOCK threads, a block for each tile.  Writes target.
extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
scan_propagate(int64 n, element_t* target, const element_t* __restrict__ prefixes) {
    const int64 start = static_cast<int64>(blockIdx.x) * TILE;
    Items items;
    load_tile<true>(items, target + start, n - start);
    add_to_tile(items, prefixes[blockIdx.x]);
    store_tile(items, target + start, n - start);
}

// Look-back: the whole scan in one pass.  Block 0 looks back for all; the others take turns with the tiles.  A block
// has the tiles that it will need next on their way to shared memory, and before it finishes one it has published the
// sum of the next: the sum before that is then known by the time it is needed, and the memory is never idle.
// Launch: cooperative, since blocks wait for each other: BLOCK threads, two blocks or more, as many tiles of dynamic
// shared memory as there are `stages`, 1 or 2; `epoch` grows by 2 from run to run.  Writes target, descriptors.
#if NETWORK == 0
extern "C" __global__ void __launch_bounds__(BLOCK, LOOK_BACK_RESIDENT)
scan_look_back(int64 n, int32 exclusive, const element_t* source, element_t* target, Descriptor* descriptors,
               uint32 epoch, int32 stages) {
    __shared__ Workspace shared;
    __shared__ WarpSums ahead;
    __shared__ element_t before;
    extern __shared__ __align__(16) unsigned char dynamic[];
    const int64 tiles = (n + TILE - 1) / TILE;
    if (blockIdx.x == 0) {
        if (threadIdx.x < WARP) look_back(descriptors, static_cast<uint32>(tiles), epoch);
        return;
    }
    const int64 turn = gridDim.x - 1;
    const auto stage_of = [&](int slot) { return reinterpret_cast<uint4*>(dynamic) + slot * BLOCK * VECTORS; };
    int64 tile = -1, next = blockIdx.x - 1;
    for (int slot = 0; slot < stages; ++slot) {
        const int64 start = (next + slot * turn) * TILE;
        stage_tile(stage_of(slot), source + start, n - start);
    }
    Items items;
#pragma unroll 1
    for (int slot = 0;; slot = slot + 1 == stages ? 0 : slot + 1) {
        const int64 start = next * TILE;
        if (next < tiles) {
            if (stages == 1) {
                await_copies<0>();
            } else {
                await_copies<1>();
            }
            const element_t mine = staged_sum(stage_of(slot), source + start, n - start);
            element_t warps_before;
            const element_t total = block_sums(ahead, 0, warp_sum(mine), &warps_before);
            if (threadIdx.x == 0) publish(&descriptors[next], epoch, SUM, total);
        }
        if (tile >= 0) {
            if (threadIdx.x == 0) {
                element_t prefix = 0;
                spin_until(inspect(&descriptors[tile], epoch, &prefix) == PREFIX);
                before = prefix;
            }
            __syncthreads();
            add_to_tile(items, before);
            store_tile(items, target + tile * TILE, n - tile * TILE);
        }
        if (next >= tiles) break;
        load_staged(items, stage_of(slot), source + start, n - start);
        scan_tile(shared, 0, exclusive != 0, items);  // has a barrier, so that the slot has been read
        const int64 later = start + stages * turn * TILE;
        stage_tile(stage_of(slot), source + later, n - later);
        tile = next;
        next += turn;
    }
}
#endif
