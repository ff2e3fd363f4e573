/*
Components of the arcs of two devices from the components of each: labels, of every vertex the smallest vertex of its
component, are trees as Rem's algorithm wants them.

    label, others (n)  the labels of this device's arcs, and those of another's
    changed (steps)    whether a step of follow moved a label

In launch order: join for every other device, follow.

Source: rem_union.cuh.
*/
#include "rem_union.cuh"
#include "tree_links.cuh"

constexpr int BLOCK = 256;
constexpr int JUMPS = 32;  // links that a launch of follow climbs

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
