/*
The candidate list of Prim's algorithm as the papers have it, shared by prim.cu and prim_naive.cu: three arrays R1, R2,
R3 (from, to, weight), of which the first `step` entries are the tree.
*/
#ifndef GPUGRAPH_PRIM_CANDIDATES_CUH
#define GPUGRAPH_PRIM_CANDIDATES_CUH

#include "../common.cuh"

constexpr int32 NO_VERTEX = -1;  // vertices are not negative; a candidate without one has NO_KEY, as others may

struct Candidates {
    int32* from;
    int32* to;
    weight_key_t* weight;
};

// The endpoints of an edge as one word that compares as (smaller, larger).
__device__ __forceinline__ uint64 endpoints(int32 u, int32 v) {
    const uint32 low = u < v ? u : v, high = u < v ? v : u;
    return static_cast<uint64>(low) << 32 | high;
}

// The same of a candidate; one without an edge comes after all edges, and differs from all others.
__device__ __forceinline__ uint64 endpoints(const Candidates& list, int32 i) {
    const int32 from = list.from[i], to = list.to[i];
    return from == NO_VERTEX ? 0xffffffff00000000ull | static_cast<uint32>(to) : endpoints(from, to);
}

// The chosen candidate joins the tree: it is swapped to the front, and its vertex becomes C.  One thread calls.
__device__ __forceinline__ void join_tree(const Candidates& list, int32 step, int32 chosen, int32* current) {
    const int32 from = list.from[chosen], to = list.to[chosen];
    const weight_key_t weight = list.weight[chosen];
    list.from[chosen] = list.from[step];
    list.to[chosen] = list.to[step];
    list.weight[chosen] = list.weight[step];
    list.from[step] = from;
    list.to[step] = to;
    list.weight[step] = weight;
    *current = to;
}

#endif
