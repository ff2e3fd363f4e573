/*
A graph as compressed sparse rows: the arcs of vertex v are those from offsets[v] on, before offsets[v + 1].
*/
#ifndef GPUGRAPH_CSR_CUH
#define GPUGRAPH_CSR_CUH

#include "common.cuh"

struct Graph {
    int32 vertices;
    index_t arcs;
    const index_t* __restrict__ offsets;
    const int32* __restrict__ targets;
    const weight_t* __restrict__ weights;
};

// Load the targets or the weights of COUNT arcs side by side, from `first` on, a multiple of COUNT: by loads of 16
// bytes where memory allows, and 0 beyond the last arc of the graph.  They are read once or twice, and should not push
// distances out of the cache.
template <int COUNT, typename T>
__device__ __forceinline__ void load_streamed(const T* values, index_t first, index_t arcs, T (&loaded)[COUNT]) {
    constexpr int LOADS = COUNT * sizeof(T) / sizeof(uint4);
    union {
        uint4 words[LOADS];
        T value[COUNT];
    } side_by_side;
    if (reinterpret_cast<uint64>(values) % sizeof(uint4) == 0 && (!UNSIGNED_INDEX || arcs >= COUNT) &&
        first <= arcs - COUNT) {
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            side_by_side.words[i] = __ldcs(reinterpret_cast<const uint4*>(values + first) + i);
        }
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) side_by_side.value[i] = first + i < arcs ? __ldcs(&values[first + i]) : T();
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) loaded[i] = side_by_side.value[i];
}

#endif
