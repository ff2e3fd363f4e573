/*
What the compound-frontier kernels share: the states of a vertex, and the sum of a path and an arc.

    distance (n)   order-preserving words (distance_words.cuh)
    state (n)      UNRESOLVED, FRONTIER or RESOLVED, a byte each: the paper's flags u and f in one
*/
#ifndef GPUGRAPH_DIJKSTRA_BASE_CUH
#define GPUGRAPH_DIJKSTRA_BASE_CUH

#include "distance_words.cuh"

typedef unsigned char state_t;
constexpr state_t UNRESOLVED = 0;
constexpr state_t FRONTIER = 1;
constexpr state_t RESOLVED = 2;

// The length of a path extended by one arc, or UNREACHED where it leads nowhere; *overflow is set where that is because
// an integer sum does not fit.
__device__ __forceinline__ distance_t extended(distance_t length, weight_t w, uint32* overflow) {
    const distance_t sum = extended(length, w);
    if (SUMS_OVERFLOW && sum == UNREACHED) *overflow = 1;  // race-allowed: every writer writes 1
    return sum;
}

// Lower a distance.
template <bool ATOMIC>
__device__ __forceinline__ void lower_distance(distance_t* cell, distance_t offered) {
    if (ATOMIC) {
        lower_to(cell, offered);
    } else {
        if (offered < *cell) *cell = offered;  // another lane may write a lower one between look and write
    }
}

// Step 3 for one vertex: the frontier is resolved, and what is unresolved at the least distance is the new frontier.
__device__ __forceinline__ void advance(int64 v, const distance_t* __restrict__ distance, distance_t least,
                                        state_t* state) {
    const state_t now = state[v];
    if (now == FRONTIER) {
        state[v] = RESOLVED;
    } else if (now == UNRESOLVED && least != UNREACHED && distance[v] == least) {
        state[v] = FRONTIER;
    }
}

#endif
