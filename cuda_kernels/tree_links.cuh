/*
Links between the trees of a round of Boruvka's algorithm, or between the vertices of a component: link[t] is what t
has chosen to join, t itself if none.
*/
#ifndef GPUGRAPH_TREE_LINKS_CUH
#define GPUGRAPH_TREE_LINKS_CUH

#include "common.cuh"

// Remove the cycle that tree t may be in: of two trees that chose the same edge the smaller number becomes the root.
// True if t links away, and so adds its edge to the forest.
__device__ __forceinline__ bool links_away(int32 t, int32* link) {
    const int32 other = link[t];
    if (other == t) return false;
    // Only the smaller of a pair changes its link, to itself, and the larger does not care.
    const bool pair = link[other] == t;  // race-allowed: the answer matters to the smaller one only
    if (!pair || t > other) return true;
    link[t] = t;  // race-allowed: see the read above
    return false;
}

// Pointer jumping: follow up to MOST links from every tree, so that the deepest is at least MOST times less deep after
// it; and as each link found is kept for those below, where neighbours follow a chain together, 2^MOST times.  True if
// this thread moved a link.  Where SOME_ARE_NONE a negative number means no tree at all.
template <int MOST, bool SOME_ARE_NONE = false>
__device__ __forceinline__ bool shorten_links(uint32 trees, int32* link) {
    bool moved = false;
    for (int64 t = grid_thread(); t < trees; t += grid_threads()) {
        const int32 start = link[t];  // race-allowed: only thread t writes it
        if (SOME_ARE_NONE && start < 0) continue;
        int32 root = start;
        for (int jump = 0; jump < MOST; ++jump) {
            const int32 next = link[root];  // race-allowed: any value it holds leads to the same root
            if (next == root) break;
            root = next;
            link[t] = root;  // race-allowed: a shortcut to the same root
        }
        moved |= root != start;
    }
    return moved;
}

#endif
