/*
Edges on their way into rows: each arc becomes the key

    (tail - first) << head_bits | head

so that keys in ascending order are rows in ascending order.  What draws or reads edges hands them to `put`, one a
thread; from there they are appended to a list, in any order, for the sort that follows.

Where the keys of a whole graph and the room to sort them do not fit, only the tails of [first, last) are taken, and all
edges are drawn again for the next range, and so are they where several devices make the rows of a graph, a range
each.  A launch that only counts gives how many arcs a range has.

Counters, 64 bits each: KEYS appended · LOOPS dropped · NEGATIVE loops, those of negative weight · FIRST_NEGATIVE, the
first of them as item << 31 | vertex, ~0 if there is none.
*/
#ifndef GPUGRAPH_ARC_KEYS_CUH
#define GPUGRAPH_ARC_KEYS_CUH

#include "common.cuh"

enum { KEYS, LOOPS, NEGATIVE, FIRST_NEGATIVE };

// Values of Sink::mode below the shift by which tails are counted.
enum { TELL = -2, APPEND = -1 };

struct Sink {
    int64 begin;     // the first item to draw
    uint64* out;     // the list of keys; or, where arcs are counted, their number by tail >> mode
    int32 mode;      // APPEND keys, or only TELL their number, or count arcs
    int32 mirrored;  // every edge represents both its arcs
    int32 head_bits;
    int64 first, last;
    uint64* counters;
};

// Take the edge u - v of every thread that has one.  All threads of the block must call.
__device__ __forceinline__ void put(const Sink& sink, bool has, int64 u, int64 v) {
    has = has && u != v;
    const bool forward = has && sink.first <= u && u < sink.last;
    const bool backward = has && sink.mirrored && sink.first <= v && v < sink.last;
    if (sink.mode >= 0) {
        if (forward) atomicAdd(&sink.out[u >> sink.mode], 1ull);
        if (backward) atomicAdd(&sink.out[v >> sink.mode], 1ull);
        return;
    }
    // One atomic on the list's length for the whole block: warps take their places in the block's share first.
    __shared__ uint32 in_block;
    __shared__ uint64 block_base;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    const unsigned forwards = __ballot_sync(FULL_MASK, forward), backwards = __ballot_sync(FULL_MASK, backward);
    uint32 warp_base = 0;
    if (lane_id() == 0) warp_base = atomicAdd(&in_block, static_cast<uint32>(__popc(forwards) + __popc(backwards)));
    warp_base = __shfl_sync(FULL_MASK, warp_base, 0);
    __syncthreads();
    if (threadIdx.x == 0) block_base = atomicAdd(&sink.counters[KEYS], static_cast<uint64>(in_block));
    __syncthreads();
    if (sink.mode == TELL) return;
    const unsigned below = (1u << lane_id()) - 1;
    uint64* const place = sink.out + block_base + warp_base;
    const uint64 tail = static_cast<uint64>(u - sink.first), head = static_cast<uint64>(v - sink.first);
    if (forward) place[__popc(forwards & below)] = tail << sink.head_bits | static_cast<uint64>(v);
    if (backward) place[__popc(forwards) + __popc(backwards & below)] = head << sink.head_bits | static_cast<uint64>(u);
}

// Count the loop at u that item i is, in the range that u lies in.
__device__ __forceinline__ void drop_loop(const Sink& sink, int64 i, int64 u, bool negative) {
    if (sink.mode != APPEND || u < sink.first || u >= sink.last) return;
    atomicAdd(&sink.counters[LOOPS], 1ull);
    if (negative) {
        atomicAdd(&sink.counters[NEGATIVE], 1ull);
        atomicMin(&sink.counters[FIRST_NEGATIVE], static_cast<uint64>(i) << 31 | static_cast<uint64>(u));
    }
}

// Draw the items from the sink's first on, one a thread and step, and put the edges that they give.  draw(i, u, v)
// returns whether item i gives one, and negative(i, u) whether a loop of item i at u would have a negative weight.
template <typename Draw, typename Negative>
__device__ __forceinline__ void put_all(const Sink& sink, int64 items, Draw draw, Negative negative) {
    for (int64 begin = sink.begin + static_cast<int64>(blockIdx.x) * blockDim.x; begin < items;
         begin += grid_threads()) {
        const int64 i = begin + threadIdx.x;
        int64 u = 0, v = 0;
        const bool has = i < items && draw(i, u, v);
        if (has && u == v) drop_loop(sink, i, u, negative(i, u));
        put(sink, has, u, v);
    }
}

struct NeverNegative {
    __device__ __forceinline__ bool operator()(int64, int64) const { return false; }
};

#endif
