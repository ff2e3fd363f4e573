/*
Prim's step without the min-reduction primitive: the lightest candidate by atomics on single words of global memory, in
three passes over the list.  All else is prim.cu's: its kernels start, compare and update, and number the edges.

    from, to, weight (n)      the candidate list R1, R2, R3 (prim/candidates.cuh)
    least_weight (1)          lightest weight of a candidate, as a key        both all ones before a step
    least_ends (1)            among those of that weight, the least endpoints
    chosen (1)                the candidate that has both
    current (1)               C, the vertex that joined last

Invariants.  No two candidates have the same endpoints (one without an edge counts by its own vertex), so exactly one is
chosen, by the canonical order.

Source: the "non-primitive CUDA Prim's algorithm" with which W. Wang, Y. Huang, S. Guo, "Design and implementation of
GPU-based Prim's algorithm", 2011, section VI-A, compare theirs.  They give no listing, only that it "adopts common GPU
parallelization when finding minimum weighted edge"; atomics on one word are our reading of that.
*/
#include "common.cuh"
#include "prim/candidates.cuh"

// ------------------------------------------------------------------ kernels, in launch order

// Pass 1: the lightest weight.  Launch: any grid.  Lowers *least_weight by atomicMin.
extern "C" __global__ void prim_naive_least_weight(int32 vertices, int32 step, const weight_key_t* __restrict__ weight,
                                                   weight_key_t* least_weight) {
    for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) atomicMin(least_weight, weight[i]);
}

// Pass 2: the first endpoints among the candidates of that weight.  Launch: any grid.  Lowers *least_ends by atomicMin.
extern "C" __global__ void prim_naive_least_ends(int32 vertices, int32 step, int32* from, int32* to,
                                                 weight_key_t* weight, const weight_key_t* __restrict__ least_weight,
                                                 uint64* least_ends) {
    const Candidates list = {from, to, weight};
    for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) {
        if (weight[i] == *least_weight) atomicMin(least_ends, endpoints(list, static_cast<int32>(i)));
    }
}

// Pass 3: which candidate it is.  Launch: any grid.  The one thread that finds its own writes *chosen.
extern "C" __global__ void prim_naive_find(int32 vertices, int32 step, int32* from, int32* to, weight_key_t* weight,
                                           const weight_key_t* __restrict__ least_weight,
                                           const uint64* __restrict__ least_ends, int32* chosen) {
    const Candidates list = {from, to, weight};
    for (int64 i = step + grid_thread(); i < vertices - 1; i += grid_threads()) {
        if (weight[i] != *least_weight || endpoints(list, static_cast<int32>(i)) != *least_ends) continue;
        *chosen = static_cast<int32>(i);
    }
}

// It joins the tree, and the words are ready for the next step.
// Launch: one thread.  Writes the list, *current, *least_weight, *least_ends.
extern "C" __global__ void prim_naive_join(int32 step, int32* from, int32* to, weight_key_t* weight,
                                           const int32* __restrict__ chosen, int32* current,
                                           weight_key_t* least_weight, uint64* least_ends) {
    join_tree({from, to, weight}, step, *chosen, current);
    *least_weight = NO_KEY;
    *least_ends = ~0ull;
}
