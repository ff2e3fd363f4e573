/*
The three networks by which a block may scan a tile in shared memory, one level of the network at a time:

    NETWORK 1  Brent-Kung    2 log2(TILE) - 1 levels, O(TILE) additions: sums up a tree, and down again
    NETWORK 2  Sklansky      log2(TILE) levels, TILE/2 additions each: left halves' sums fan out over right halves
    NETWORK 3  Kogge-Stone   log2(TILE) levels, up to TILE additions each: everyone adds the element 2^k before

Source: R. P. Brent, H. T. Kung, "A regular layout for parallel adders", 1982; J. Sklansky, "Conditional-sum addition
logic", 1960; P. M. Kogge, H. S. Stone, "A parallel algorithm for the efficient solution of a general class of
recurrence equations", 1973.  Included by tile.cuh.
*/
static_assert((TILE & (TILE - 1)) == 0, "a network scans a power of two");

struct alignas(16) Workspace {
    element_t at[TILE];
};

#if NETWORK == 1
__device__ __forceinline__ void run_network(element_t* at) {
    for (int half = 1; half < TILE; half *= 2) {
        for (int i = (threadIdx.x + 1) * 2 * half - 1; i < TILE; i += BLOCK * 2 * half) at[i] += at[i - half];
        __syncthreads();
    }
    for (int half = TILE / 4; half > 0; half /= 2) {
        for (int i = (threadIdx.x + 1) * 2 * half - 1 + half; i < TILE; i += BLOCK * 2 * half) at[i] += at[i - half];
        __syncthreads();
    }
}
#elif NETWORK == 2
__device__ __forceinline__ void run_network(element_t* at) {
    for (int half = 1; half < TILE; half *= 2) {
        for (int pair = threadIdx.x; pair < TILE / 2; pair += BLOCK) {
            const int middle = pair / half * 2 * half + half;
            at[middle + pair % half] += at[middle - 1];
        }
        __syncthreads();
    }
}
#else
__device__ __forceinline__ void run_network(element_t* at) {
    for (int distance = 1; distance < TILE; distance *= 2) {
        element_t below[TILE / BLOCK];
#pragma unroll
        for (int k = 0; k < TILE / BLOCK; ++k) {
            const int i = k * BLOCK + threadIdx.x;
            below[k] = i >= distance ? at[i - distance] : element_t(0);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE / BLOCK; ++k) at[k * BLOCK + threadIdx.x] += below[k];
        __syncthreads();
    }
}
#endif

// Scan a tile by the network.  Returns the sum of the tile, in every thread.  All threads must call.
__device__ __forceinline__ element_t scan_tile(Workspace& space, int turn, bool exclusive, Items& items) {
    __syncthreads();  // everyone has read the tile before
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) *reinterpret_cast<uint4*>(space.at + place(v)) = items.row[v].word;
    __syncthreads();
    run_network(space.at);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) {
            const int i = place(v) + e - (exclusive ? 1 : 0);
            items.row[v].at[e] = i < 0 ? element_t(0) : space.at[i];
        }
    }
    return space.at[TILE - 1];
}
