/*
Components of the arcs of two devices from the components of each: labels, of every vertex the smallest vertex of its
component, are trees as Rem's algorithm wants them: every parent is smaller than its child.

    label, others (n)  the labels of this device's arcs, and those of another's
    changed (steps)    whether a step of follow moved a label
    giants (ranks)     of each rank a vertex of its giant component, or NO_GIANT
    apart (1)          whether they are of several components

In launch order: join for every other device, follow, giants.

Source: P. Manne, M. M. A. Patwary, "A scalable parallel union-find algorithm for distributed memory computers", PPAM
2009 (Rem's algorithm in parallel).
*/
#include "tree_links.cuh"

constexpr int BLOCK = 256;
constexpr uint32 NO_GIANT = 0x80000000u;  // as components.cu has it
constexpr int JUMPS = 32;  // links that a launch of follow climbs

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

// Launch: any grid.  Writes label, by atomics.
extern "C" __global__ void merge_labels_join(int32 vertices, const int32* __restrict__ others, int32* label) {
    for (int64 v = grid_thread(); v < vertices; v += grid_threads()) {
        if (others[v] != v) join(label, static_cast<int32>(v), others[v]);
    }
}

// Pointer jumping: every vertex learns its root, the smallest vertex of the component.  A launch that follows one
// without change returns at once, so that the host need not ask.
// Launch: any grid, ceil(log_JUMPS n) + 1 times with step = 0, 1, ...; `changed` is 0.  Writes label, changed[step].
extern "C" __global__ void merge_labels_follow(int32 step, int32 vertices, int32* label, uint32* changed) {
    if (step > 0 && changed[step - 1] == 0) return;
    if (shorten_links<JUMPS>(vertices, label)) changed[step] = 1;  // race-allowed: every writer writes 1
}

// Launch: one thread.  Writes apart.
extern "C" __global__ void merge_labels_giants(int32 ranks, const uint32* __restrict__ giants,
                                               const int32* __restrict__ label, uint32* apart) {
    if (grid_thread() != 0) return;
    int32 one = -1;
    bool several = false;
    for (int32 rank = 0; rank < ranks; ++rank) {
        if (giants[rank] == NO_GIANT) continue;
        const int32 other = label[giants[rank]];
        several |= one >= 0 && other != one;
        one = other;
    }
    *apart = several;
}
