/*
Delta-stepping on the rows of one rank: the local part of every phase; messages between the ranks lie in between.

A rank owns the vertices of its rows, [first, last).  It holds a distance for every vertex of the graph: of its own ones
the right one so far, of all others the least that it knows of or has sent, so that nothing is sent that cannot help,
and of several offers in a phase only the best.  A phase relaxes the arcs of the near vertices (relax); offers to
vertices of other ranks are packed by owner (pack), exchanged, and taken (receive).  Once no rank has near vertices or
messages, the least far distance of all ranks begins the next bucket (least), whose vertices become near (split).

Arrays:
    offsets (rows + 1,) int64, targets, weights (arcs,)   the rows
    distance (n,) distance_t                        UNREACHED at first
    marks (n,) uint32                               in which of the lists a vertex is: NEAR, FAR, OUT
    near, next, far, far_out (rows,) int32          own vertices; next: those of the next phase
    out (n,) int32                                  vertices of others to be sent
    counts (4 + P,) uint32                          of next, far, out; whether a sum overflowed; of out by owner
    cuts (P + 1,) int32                             the first vertex of every rank

A vertex is in a list once: whoever sets its mark appends it.  Whoever takes it off a list clears the mark before it
reads the distance, and whoever lowers the distance does so before it sets the mark, so that no improvement is lost.

Source: Meyer & Sanders 2003, Delta-stepping: a parallelizable shortest path algorithm; messages by owner as in
Chakaravarthy et al. 2014, Scalable single source shortest path algorithms for massively parallel systems.
*/
#include "distance_words.cuh"

constexpr uint32 NEAR = 1, FAR = 2, OUT = 4;
enum Count { NEXT_COUNT, FAR_COUNT, OUT_COUNT, OVERFLOWED, BY_OWNER };

__device__ __forceinline__ int owner_of(int32 v, const int32* cuts, int ranks) {
    int low = 0, high = ranks;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (cuts[middle] <= v) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Put an own vertex whose distance has just become `length` on the list that it belongs to.
__device__ __forceinline__ void enter(int32 v, distance_t length, distance_t limit, uint32* marks, int32* next,
                                      int32* far, uint32* counts) {
    __threadfence();  // the distance before the mark
    if (length < limit) {
        if ((atomicOr(marks + v, NEAR) & NEAR) == 0) next[atomicAdd(counts + NEXT_COUNT, 1u)] = v;
    } else if ((atomicOr(marks + v, FAR) & FAR) == 0) {
        far[atomicAdd(counts + FAR_COUNT, 1u)] = v;
    }
}

// Launch: any grid, blocks of whole warps; a warp for every near vertex.
// Writes: distance, marks by atomics; next, far, out, slots by atomicAdd; counts.
extern "C" __global__ void delta_stepping_distributed_relax(
    uint32 size, const int32* __restrict__ near, int32 first, int32 last, const int64* __restrict__ offsets,
    const int32* __restrict__ targets, const weight_t* __restrict__ weights, distance_t limit, distance_t* distance,
    uint32* marks, int32* next, int32* far, int32* out, uint32* counts, const int32* __restrict__ cuts, int32 ranks) {
    const int64 warps = grid_threads() / WARP;
    for (int64 i = grid_thread() / WARP; i < size; i += warps) {
        const int32 v = near[i];
        if (lane_id() == 0) {
            atomicAnd(marks + v, ~NEAR);
            __threadfence();  // the mark before the distance
        }
        __syncwarp();
        const distance_t length = *static_cast<volatile distance_t*>(distance + v);  // race-allowed: only falls
        const int32 row = v - first;
        for (int64 arc = offsets[row] + lane_id(); arc < offsets[row + 1]; arc += WARP) {
            const distance_t sum = extended(length, weights[arc]);
            if (sum == UNREACHED) {
                if (SUMS_OVERFLOW) atomicOr(counts + OVERFLOWED, 1u);
                continue;
            }
            const int32 t = targets[arc];
            if (sum >= *static_cast<volatile distance_t*>(distance + t)) continue;  // race-allowed: only falls
            if (sum >= atomicMin(distance + t, sum)) continue;
            if (t >= first && t < last) {
                enter(t, sum, limit, marks, next, far, counts);
            } else if ((atomicOr(marks + t, OUT) & OUT) == 0) {
                out[atomicAdd(counts + OUT_COUNT, 1u)] = t;
                atomicAdd(counts + BY_OWNER + owner_of(t, cuts, ranks), 1u);
            }
        }
    }
}

// Launch: any; a thread for every vertex to be sent.  Writes: vertex (size,), in the owner's numbers, and word (size,),
// slots by atomicAdd on cursors (P,), which hold where each owner's stretch begins; marks.
extern "C" __global__ void delta_stepping_distributed_pack(uint32 size, const int32* __restrict__ out,
                                                           const distance_t* __restrict__ distance, uint32* marks,
                                                           const int32* __restrict__ cuts, int32 ranks,
                                                           uint32* cursors, int32* vertex, distance_t* word) {
    for (int64 i = grid_thread(); i < size; i += grid_threads()) {
        const int32 v = out[i];
        const int owner = owner_of(v, cuts, ranks);
        const uint32 slot = atomicAdd(cursors + owner, 1u);
        vertex[slot] = v - cuts[owner];
        word[slot] = distance[v];
        marks[v] = 0;  // what is not an own vertex is on no other list
    }
}

// Launch: any; a thread for every message.  Writes: distance, marks by atomics; next, far, slots by atomicAdd; counts.
extern "C" __global__ void delta_stepping_distributed_receive(uint32 size, const int32* __restrict__ vertex,
                                                              const distance_t* __restrict__ word, int32 first,
                                                              distance_t limit, distance_t* distance, uint32* marks,
                                                              int32* next, int32* far, uint32* counts) {
    for (int64 i = grid_thread(); i < size; i += grid_threads()) {
        const int32 v = first + vertex[i];
        if (word[i] < atomicMin(distance + v, word[i])) enter(v, word[i], limit, marks, next, far, counts);
    }
}

// Launch: any; a thread for every far vertex.  Writes: least (1,), lowered by atomicMin to the least distance from
// `base` on; what lies below has been settled since.
extern "C" __global__ void delta_stepping_distributed_least(uint32 size, const int32* __restrict__ far,
                                                            const distance_t* __restrict__ distance, distance_t base,
                                                            distance_t* least) {
    for (int64 i = grid_thread(); i < size; i += grid_threads()) {
        if (distance[far[i]] >= base) lower_to(least, distance[far[i]]);
    }
}

// Launch: any; a thread for every far vertex.  Writes: next and far_out, slots by atomicAdd; marks, its own each.
extern "C" __global__ void delta_stepping_distributed_split(uint32 size, const int32* __restrict__ far,
                                                            const distance_t* __restrict__ distance, distance_t base,
                                                            distance_t limit, uint32* marks, int32* next,
                                                            int32* far_out, uint32* counts) {
    for (int64 i = grid_thread(); i < size; i += grid_threads()) {
        const int32 v = far[i];
        const distance_t length = distance[v];
        marks[v] = length < base ? 0 : length < limit ? NEAR : FAR;  // no vertex is near between two buckets
        if (length < base) continue;
        if (length < limit) {
            next[atomicAdd(counts + NEXT_COUNT, 1u)] = v;
        } else {
            far_out[atomicAdd(counts + FAR_COUNT, 1u)] = v;
        }
    }
}
