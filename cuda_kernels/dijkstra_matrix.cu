/*
Dijkstra's algorithm with a compound frontier on an adjacency matrix, for dense graphs.

    matrix (n, n)             matrix[u][v] is the weight of the arc u -> v, NO_ARC where there is none
    distance (n), state (n)   see dijkstra_base.cuh

A thread has to look at a whole row or column, so the threads of a block work together: what all of them need comes
through shared memory, a chunk at a time, and the matrix is read along its rows, by neighbouring threads.
Start, minimum and update are dijkstra.cu's.

Defines in addition to those of dijkstra_base.cuh:
    CELL    uint32 | uint64 | float32 | float64   an element of the matrix: the weight as an unsigned integer or
                                                  as it is; twice as wide if a weight equals the NO_ARC of 32 bits

Source: P. J. Martin, R. Torres, A. Gavilanes, "CUDA solutions for the SSSP problem", ICCS 2009, section 5.
*/
#include "dijkstra_base.cuh"

#ifndef CELL
#define CELL uint32
#endif

typedef CELL cell_t;

constexpr int COLUMNS = 256;  // threads of a block of matrix_pull: one for each column
constexpr int ROWS = 128;     // threads of a block of matrix_push: one for each row
constexpr int TILE = WARP;    // columns of a tile of matrix_push

// ------------------------------------------------------------------ helpers

// NO_ARC is the greatest word, or infinity, over which no path leads anyway.  Where a weight of 32 bits is that word
// cells have 64; one of 64 bits is longer than any distance, which the driver reports.
__device__ __forceinline__ bool is_arc(uint32 w) { return w != 0xffffffffu; }
__device__ __forceinline__ bool is_arc(uint64 w) { return w != 0xffffffffffffffffull; }
__device__ __forceinline__ bool is_arc(float32 w) { return __float_as_uint(w) != 0x7f800000u; }
__device__ __forceinline__ bool is_arc(float64 w) { return __double_as_longlong(w) != 0x7ff0000000000000ll; }

// ------------------------------------------------------------------ kernels, in launch order

// Preparation: write the arcs into the matrix, which holds NO_ARC everywhere.  A warp takes a row at a time.
// Launch: any grid of whole warps.  Writes matrix, each element by one thread at most.
extern "C" __global__ void matrix_write_arcs(int32 vertices, const index_t* __restrict__ offsets,
                                             const int32* __restrict__ targets, const weight_t* __restrict__ weights,
                                             cell_t* matrix) {
    for (int64 u = grid_thread() / WARP; u < vertices; u += grid_threads() / WARP) {
        const index_t end = offsets[u + 1];
        for (index_t arc = offsets[u] + lane_id(); arc < end; arc += WARP) {
            matrix[u * vertices + targets[arc]] = static_cast<cell_t>(weights[arc]);
        }
    }
}

// Step 1, relax, from the unresolved vertices: thread t goes down the column of its vertex.  A chunk of states and
// distances comes into shared memory; of the matrix, only the rows of the frontier are read.
// Launch: a block of COLUMNS threads for every COLUMNS vertices.  Writes distance, each by its own thread; reads only
// final distances of others.
extern "C" __global__ void matrix_pull(int32 vertices, const cell_t* __restrict__ matrix, const state_t* state,
                                       distance_t* distance, uint32* overflow) {
    __shared__ distance_t length[COLUMNS];
    __shared__ bool is_frontier[COLUMNS];
    const int64 v = static_cast<int64>(blockIdx.x) * COLUMNS + threadIdx.x;
    const bool unresolved = v < vertices && state[v] == UNRESOLVED;
    if (!__syncthreads_or(unresolved)) return;
    const distance_t held = unresolved ? distance[v] : 0;
    distance_t least = held;
    for (int64 first = 0; first < vertices; first += COLUMNS) {
        const int64 u = first + threadIdx.x;
        const bool offers = u < vertices && state[u] == FRONTIER;
        is_frontier[threadIdx.x] = offers;
        if (offers) length[threadIdx.x] = distance[u];
        const bool any = __syncthreads_or(offers);
        if (any && unresolved) {
            for (int row = 0; row < COLUMNS; ++row) {
                if (!is_frontier[row]) continue;
                const cell_t w = matrix[(first + row) * vertices + v];
                if (!is_arc(w)) continue;
                const distance_t offered = extended(length[row], w, overflow);
                if (offered < least) least = offered;
            }
        }
        __syncthreads();  // before the next chunk overwrites this one
    }
    if (least < held) distance[v] = least;
}

// Step 1, relax, from the frontier: thread t goes along the row of its vertex.  The block brings a tile of TILE columns
// into shared memory, row by row and of frontier rows only, with the states of its columns; then each thread takes
// its row of the tile, beginning at its own lane, so that a warp lowers different distances at a time.
template <bool ATOMIC>
__device__ __forceinline__ void push_rows(int32 vertices, int32 splits, const cell_t* __restrict__ matrix,
                                          const state_t* __restrict__ state, distance_t* distance, uint32* overflow) {
    __shared__ cell_t tile[ROWS * TILE];
    __shared__ bool is_frontier[ROWS];
    __shared__ bool is_open[TILE];
    const int64 first_row = static_cast<int64>(blockIdx.x) / splits * ROWS;
    const int64 u = first_row + threadIdx.x;
    const bool offers = u < vertices && state[u] == FRONTIER;
    is_frontier[threadIdx.x] = offers;
    if (!__syncthreads_or(offers)) return;
    const distance_t length = offers ? distance[u] : 0;
    for (int64 first = blockIdx.x % splits * TILE; first < vertices; first += static_cast<int64>(splits) * TILE) {
        const int64 column = first + lane_id();
        if (threadIdx.x < TILE) is_open[threadIdx.x] = column < vertices && state[column] == UNRESOLVED;
        for (int row = threadIdx.x / WARP; row < ROWS; row += ROWS / WARP) {
            if (is_frontier[row] && column < vertices) {
                tile[row * TILE + lane_id()] = matrix[(first_row + row) * vertices + column];
            }
        }
        __syncthreads();
        for (int step = 0; offers && step < TILE; ++step) {
            const int at = (lane_id() + step) % TILE;
            if (!is_open[at]) continue;
            const cell_t w = tile[threadIdx.x * TILE + at];
            if (!is_arc(w)) continue;
            lower_distance<ATOMIC>(&distance[first + at], extended(length, w, overflow));
        }
        __syncthreads();  // before the next tile overwrites this one
    }
}

// Launch: splits * ceil(vertices / ROWS) blocks of ROWS threads; a group of rows has `splits` blocks, which take the
// tiles in turns.  Lowers distance.
extern "C" __global__ void matrix_push(int32 vertices, int32 splits, const cell_t* __restrict__ matrix,
                                       const state_t* __restrict__ state, distance_t* distance, uint32* overflow) {
    push_rows<true>(vertices, splits, matrix, state, distance, overflow);
}

// The same without atomics: a lower distance may be lost.
extern "C" __global__ void matrix_push_no_atomic(int32 vertices, int32 splits, const cell_t* __restrict__ matrix,
                                                 const state_t* __restrict__ state, distance_t* distance,
                                                 uint32* overflow) {
    push_rows<false>(vertices, splits, matrix, state, distance, overflow);
}
