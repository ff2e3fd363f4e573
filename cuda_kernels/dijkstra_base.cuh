/*
What the compound-frontier kernels share: distances as words, the states of a vertex, and the sum of a path and an arc.

    distance (n)   order-preserving words: integers, or the bits of a float >= 0
    state (n)      UNRESOLVED, FRONTIER or RESOLVED, a byte each: the paper's flags u and f in one

Defines beside those of common.cuh:
    DISTANCE_BITS  32 | 64   width of a distance: of float weights their own, of integers 32 unless that overflows
*/
#ifndef GPUGRAPH_DIJKSTRA_BASE_CUH
#define GPUGRAPH_DIJKSTRA_BASE_CUH

#include "common.cuh"

#ifndef DISTANCE_BITS
#define DISTANCE_BITS 32
#endif

#if DISTANCE_BITS == 64
typedef uint64 distance_t;
#else
typedef uint32 distance_t;
#endif

typedef unsigned char state_t;
constexpr state_t UNRESOLVED = 0;
constexpr state_t FRONTIER = 1;
constexpr state_t RESOLVED = 2;

// UNREACHED is the largest word; as a float it is not infinity but lies above it, so that infinity is never reached.
constexpr distance_t UNREACHED = static_cast<distance_t>(-1);

// The length of a path extended by one arc, or UNREACHED where it leads nowhere: a float sum is infinite, an integer
// sum does not fit (then *overflow is set).
__device__ __forceinline__ distance_t extended(distance_t length, float32 w, uint32*) {
    const float32 sum = __uint_as_float(static_cast<uint32>(length)) + w;
    const uint32 bits = __float_as_uint(sum);
    return bits == 0x7f800000u ? UNREACHED : bits;
}

__device__ __forceinline__ distance_t extended(distance_t length, float64 w, uint32*) {
    const float64 sum = __longlong_as_double(static_cast<int64>(length)) + w;
    const uint64 bits = static_cast<uint64>(__double_as_longlong(sum));
    return bits == 0x7ff0000000000000ull ? UNREACHED : static_cast<distance_t>(bits);
}

template <typename Integer>
__device__ __forceinline__ distance_t extended(distance_t length, Integer w, uint32* overflow) {
    const uint64 room = static_cast<uint64>(UNREACHED) - 1 - length;
    if (static_cast<uint64>(w) > room) {
        *overflow = 1;  // race-allowed: every writer writes 1
        return UNREACHED;
    }
    return length + static_cast<distance_t>(w);
}

#endif
