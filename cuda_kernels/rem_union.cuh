/*
Union by Rem's algorithm, by all threads at once: trees of vertices in which every parent is smaller than its child, so
that a root is the smallest vertex of its tree.

Source: P. Manne, M. M. A. Patwary, "A scalable parallel union-find algorithm for distributed memory computers", PPAM
2009 (Rem's algorithm in parallel).
*/
#ifndef GPUGRAPH_REM_UNION_CUH
#define GPUGRAPH_REM_UNION_CUH

#include "common.cuh"

// Join the trees of a and b: of the two the one with the larger parent climbs, and a root is linked.
// True if this call joined two trees.
__device__ __forceinline__ bool join(int32* up, int32 a, int32 b) {
    for (;;) {
        int32 above_a = static_cast<volatile int32*>(up)[a];  // race-allowed: an ancestor, if an old one
        int32 above_b = static_cast<volatile int32*>(up)[b];  // race-allowed: likewise
        if (above_a == above_b) return false;
        if (above_a < above_b) {
            int32 swap = a;
            a = b;
            b = swap;
            swap = above_a;
            above_a = above_b;
            above_b = swap;
        }
        if (above_a == a) {
            if (atomicCAS(&up[a], a, above_b) == a) return true;
            continue;
        }
        const int32 higher = static_cast<volatile int32*>(up)[above_a];  // race-allowed: an ancestor
        if (higher != above_a) atomicCAS(&up[a], above_a, higher);
        a = above_a;
    }
}

#endif
