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
    out (n,) int32                                  vertices of others to be sent, those of rank r from cuts[r] on
    pieces (2 * arcs / PIECE + 1,) uint64           parts of long rows: the vertex, and above it which part
    counts (BY_OWNER + P,) uint32                   of far, next; whether a sum overflowed; of pieces, out by owner
    cuts (P + 1,) int32                             the first vertex of every rank

A vertex is in a list once: whoever sets its mark appends it.  Whoever takes it off a list clears the mark before it
reads the distance, and whoever lowers the distance does so before it sets the mark, so that no improvement is lost.
A warp appends with one atomic for all its lanes, and a row too long for a few lanes is cut into pieces that warps of
the whole device share: a phase of a power-law graph would otherwise wait for its greatest hub.

Source: Meyer & Sanders 2003, Delta-stepping: a parallelizable shortest path algorithm; messages by owner as in
Chakaravarthy et al. 2014, Scalable single source shortest path algorithms for massively parallel systems.
*/
#include "distance_words.cuh"

enum Mark : uint32 { NEAR = 1, FAR = 2, OUT = 4 };
constexpr int32 PIECE = 512;  // arcs; longer rows are cut
enum Count { FAR_COUNT, NEXT_COUNT, OVERFLOWED, PIECES, BY_OWNER };

// The vertices of this rank, and the lists that an improvement goes to.
struct Search {
    int32 first, last, ranks;
    const int32* cuts;
    distance_t limit;
    distance_t* distance;
    uint32* marks;
    int32 *next, *far, *out;
    uint32* counts;
};

__device__ __forceinline__ int owner_of(int32 v, const Search& search) {
    int low = 0, high = search.ranks;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (search.cuts[middle] <= v) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Put the own vertex of every lane that has one, whose distance has just become `length`, on the list that it belongs
// to.  All 32 lanes must call.
__device__ __forceinline__ void enter(bool there, int32 v, distance_t length, const Search& search) {
    bool near = false, far = false;
    if (there) {
        __threadfence();  // the distance before the mark
        near = length < search.limit;
        const uint32 mark = near ? NEAR : FAR;
        if ((atomicOr(search.marks + v, mark) & mark) != 0) {
            near = false;
        } else {
            far = !near;
        }
    }
    if (!__any_sync(FULL_MASK, near || far)) return;
    const uint32 near_slot = warp_append(search.counts + NEXT_COUNT, near);
    const uint32 far_slot = warp_append(search.counts + FAR_COUNT, far);
    if (near) search.next[near_slot] = v;
    if (far) search.far[far_slot] = v;
}

// Note the vertex of every lane that has one to be sent to its owner.  All 32 lanes must call.
__device__ __forceinline__ void note_out(bool there, int32 v, const Search& search) {
    const bool asks = there && (atomicOr(search.marks + v, OUT) & OUT) == 0;
    if (!__any_sync(FULL_MASK, asks)) return;
    const int owner = asks ? owner_of(v, search) : -1;
    const unsigned same = __match_any_sync(FULL_MASK, owner);
    const int leader = first_lane(same);
    uint32 slot = 0;
    if (asks && lane_id() == leader) {
        slot = atomicAdd(search.counts + BY_OWNER + owner, static_cast<uint32>(__popc(same)));
    }
    slot = __shfl_sync(FULL_MASK, slot, leader) + __popc(same & lanes_before());
    if (asks) search.out[search.cuts[owner] + slot] = v;
}

// Offer every lane's arc, where it has one, to its head.  All 32 lanes must call.
__device__ __forceinline__ void offer(bool there, int64 arc, distance_t length, const int32* __restrict__ targets,
                                      const weight_t* __restrict__ weights, const Search& search) {
    int32 t = search.first;
    distance_t sum = UNREACHED;
    if (there) {
        t = targets[arc];
        sum = extended(length, weights[arc]);
        if (SUMS_OVERFLOW && sum == UNREACHED) atomicOr(search.counts + OVERFLOWED, 1u);
        there = sum < *static_cast<volatile distance_t*>(search.distance + t) &&  // race-allowed: only falls
                sum < atomicMin(search.distance + t, sum);
    }
    if (!__any_sync(FULL_MASK, there)) return;
    const bool own = t >= search.first && t < search.last;
    enter(there && own, t, sum, search);
    note_out(there && !own, t, search);
}

// Launch: any grid, blocks of whole warps; 2^group_shift lanes for every near vertex, of which there are *size.
// Writes: distance, marks by atomics; next, far, out, pieces, slots by atomicAdd; counts.
extern "C" __global__ void delta_stepping_distributed_relax(
    const uint32* __restrict__ size, const int32* __restrict__ near, int32 group_shift,
    const int64* __restrict__ offsets, const int32* __restrict__ targets, const weight_t* __restrict__ weights,
    int32 first, int32 last, int32 ranks, const int32* __restrict__ cuts, distance_t limit, distance_t* distance,
    uint32* marks, int32* next, int32* far, int32* out, uint32* counts, uint64* pieces) {
    const Search search = {first, last, ranks, cuts, limit, distance, marks, next, far, out, counts};
    const int32 group = 1 << group_shift, rank_in_group = lane_id() & (group - 1), rows = WARP >> group_shift;
    const int64 count = *size;
    for (int64 base = grid_thread() / WARP * rows; base < count; base += grid_threads() / WARP * rows) {
        const int64 i = base + (lane_id() >> group_shift);
        const int32 v = i < count ? near[i] : first;
        if (i < count && rank_in_group == 0) {
            atomicAnd(marks + v, ~NEAR);
            __threadfence();  // the mark before the distance
        }
        __syncwarp();
        const distance_t length = *static_cast<volatile distance_t*>(distance + v);  // race-allowed: only falls
        int64 begin = 0, end = 0;
        if (i < count) {
            begin = offsets[v - first];
            end = offsets[v - first + 1];
        }
        if (end - begin > PIECE) {
            const uint32 parts = static_cast<uint32>((end - begin + PIECE - 1) / PIECE);
            if (rank_in_group == 0) {
                const uint32 slot = atomicAdd(counts + PIECES, parts);
                for (uint32 part = 0; part < parts; ++part) {
                    pieces[slot + part] = static_cast<uint64>(part) << 32 | static_cast<uint32>(v);
                }
            }
            end = begin;
        }
        int32 steps = static_cast<int32>((end - begin + group - 1) >> group_shift);
        for (int step = WARP / 2; step > 0; step /= 2) {
            const int32 other = __shfl_xor_sync(FULL_MASK, steps, step);
            if (other > steps) steps = other;
        }
        for (int64 arc = begin + rank_in_group; steps > 0; --steps, arc += group) {
            offer(arc < end, arc, length, targets, weights, search);
        }
    }
}

// Launch: any grid, blocks of whole warps; a warp for every piece.  Writes: as relax does, but for pieces.
extern "C" __global__ void delta_stepping_distributed_relax_pieces(
    const uint64* __restrict__ pieces, const int64* __restrict__ offsets, const int32* __restrict__ targets,
    const weight_t* __restrict__ weights, int32 first, int32 last, int32 ranks, const int32* __restrict__ cuts,
    distance_t limit, distance_t* distance, uint32* marks, int32* next, int32* far, int32* out, uint32* counts) {
    const Search search = {first, last, ranks, cuts, limit, distance, marks, next, far, out, counts};
    const int64 count = counts[PIECES];
    for (int64 i = grid_thread() / WARP; i < count; i += grid_threads() / WARP) {
        const int32 v = static_cast<int32>(pieces[i]);
        const distance_t length = *static_cast<volatile distance_t*>(distance + v);  // race-allowed: only falls
        const int64 begin = offsets[v - first] + static_cast<int64>(pieces[i] >> 32) * PIECE;
        const int64 row_end = offsets[v - first + 1], end = begin + PIECE < row_end ? begin + PIECE : row_end;
        for (int64 at = begin; at < end; at += WARP) {
            offer(at + lane_id() < end, at + lane_id(), length, targets, weights, search);
        }
    }
}

// Launch: any; a thread for every vertex to be sent.  Writes: vertex (size,), in the owner's numbers, and word (size,),
// by owner; marks.
extern "C" __global__ void delta_stepping_distributed_pack(uint32 size, const int32* __restrict__ out,
                                                           const distance_t* __restrict__ distance, uint32* marks,
                                                           const int32* __restrict__ cuts,
                                                           const uint32* __restrict__ counts, int32* vertex,
                                                           distance_t* word) {
    for (int64 i = grid_thread(); i < size; i += grid_threads()) {
        int owner = 0;
        int64 before = 0;
        while (i - before >= counts[BY_OWNER + owner]) before += counts[BY_OWNER + owner++];
        const int32 v = out[cuts[owner] + (i - before)];
        vertex[i] = v - cuts[owner];
        word[i] = distance[v];
        marks[v] = 0;  // what is not an own vertex is on no other list
    }
}

// Launch: any grid, blocks of whole warps; a thread for every message.
// Writes: distance, marks by atomics; next, far, slots by atomicAdd; counts.
extern "C" __global__ void delta_stepping_distributed_receive(uint32 size, const int32* __restrict__ vertex,
                                                              const distance_t* __restrict__ word, int32 first,
                                                              distance_t limit, distance_t* distance, uint32* marks,
                                                              int32* next, int32* far, uint32* counts) {
    const Search search = {first, 0, 0, nullptr, limit, distance, marks, next, far, nullptr, counts};
    for (int64 base = grid_thread() - lane_id(); base < size; base += grid_threads()) {
        const int64 i = base + lane_id();
        const int32 v = i < size ? first + vertex[i] : first;
        const distance_t length = i < size ? word[i] : UNREACHED;
        enter(i < size && length < atomicMin(distance + v, length), v, length, search);
    }
}

// Launch: any grid, blocks of whole warps; a thread for every far vertex, of which there are *size.
// Writes: least (1,), lowered by atomicMin to the least distance from `base` on; what lies below has been settled.
extern "C" __global__ void delta_stepping_distributed_least(const uint32* __restrict__ size,
                                                            const int32* __restrict__ far,
                                                            const distance_t* __restrict__ distance, distance_t base,
                                                            distance_t* least) {
    distance_t own = UNREACHED;
    for (int64 i = grid_thread(); i < *size; i += grid_threads()) {
        const distance_t length = distance[far[i]];
        if (length >= base && length < own) own = length;
    }
    own = warp_min(own);
    if (lane_id() == 0) lower_to(least, own);
}

// Launch: any grid, blocks of whole warps; a thread for every far vertex, of which there are *size.
// Writes: next and far_out, slots by atomicAdd; marks, its own each.
extern "C" __global__ void delta_stepping_distributed_split(const uint32* __restrict__ size,
                                                            const int32* __restrict__ far,
                                                            const distance_t* __restrict__ distance, distance_t base,
                                                            distance_t limit, uint32* marks, int32* next,
                                                            int32* far_out, uint32* counts) {
    const int64 count = *size;
    for (int64 start = grid_thread() - lane_id(); start < count; start += grid_threads()) {
        const int64 i = start + lane_id();
        const int32 v = i < count ? far[i] : 0;
        const distance_t length = i < count ? distance[v] : UNREACHED;
        const bool near = i < count && length >= base && length < limit, stays = i < count && length >= limit;
        if (i < count) marks[v] = near ? NEAR : stays ? FAR : 0;  // no vertex is near between two buckets
        const uint32 near_slot = warp_append(counts + NEXT_COUNT, near);
        const uint32 far_slot = warp_append(counts + FAR_COUNT, stays);
        if (near) next[near_slot] = v;
        if (stays) far_out[far_slot] = v;
    }
}
