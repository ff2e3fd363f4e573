// Warp collectives and block barriers: the points at which threads run in lock-step.
//
// A collective is complete when every lane of its mask that has not ended waits in the same operation with the same
// mask.  The last lane to arrive computes the results of all of them.
#pragma once

#include "scheduler.h"

namespace simt {

constexpr uint64_t POISON = 0xdeadbeefdeadbeefull;  // what a lane outside the mask yields

void complete_barrier(Block& block);

// The lane that `lane` reads from; beyond its segment a lane reads itself.
inline int source_lane(const Thread& lane) {
    const int self = lane.lane, width = lane.width, first = self & ~(width - 1), end = first + width;
    int source = self;
    switch (lane.operation) {
        case SHUFFLE: return first + (lane.argument & (width - 1));
        case SHUFFLE_UP: source = self - lane.argument; return source < first ? self : source;
        case SHUFFLE_DOWN: source = self + lane.argument; return source >= end || source < self ? self : source;
        default: source = self ^ lane.argument; return source >= end || source < 0 ? self : source;
    }
}

inline uint64_t combine(Collective operation, uint64_t a, uint64_t b) {
    const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
    const auto signed_x = static_cast<int32_t>(x), signed_y = static_cast<int32_t>(y);
    switch (operation) {
        case REDUCE_ADD: return static_cast<uint32_t>(x + y);
        case REDUCE_MIN: return x < y ? x : y;
        case REDUCE_MAX: return x > y ? x : y;
        case REDUCE_MIN_SIGNED: return signed_x < signed_y ? x : y;
        case REDUCE_MAX_SIGNED: return signed_x > signed_y ? x : y;
        case REDUCE_AND: return x & y;
        case REDUCE_OR: return x | y;
        default: return x ^ y;
    }
}

// The result that all lanes share: a vote or a reduction.
inline uint64_t joint_result(Collective operation, const Warp& warp, uint32_t lanes) {
    uint32_t votes = 0;
    bool equal = true;
    const uint64_t first = warp.threads[__builtin_ctz(lanes)].value;
    uint64_t total = first;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const uint64_t value = warp.threads[lane].value;
        if (value) votes |= 1u << lane;
        equal &= value == first;
        if (operation >= REDUCE_ADD && rest != lanes) total = combine(operation, total, value);
    }
    switch (operation) {
        case BALLOT: return votes;
        case ANY: return votes != 0;
        case ALL: return votes == lanes;
        case MATCH_ALL: return equal ? lanes : 0;
        default: return total;
    }
}

inline void compute(Collective operation, Warp& warp, uint32_t lanes) {
    if (operation == SYNC) return;
    if (operation >= SHUFFLE && operation <= SHUFFLE_XOR) {
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            Thread& lane = warp.threads[__builtin_ctz(rest)];
            const int source = source_lane(lane);
            lane.result = lanes >> source & 1 ? warp.threads[source].value : POISON;
        }
        return;
    }
    const uint64_t joint = joint_result(operation, warp, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Thread& lane = warp.threads[__builtin_ctz(rest)];
        lane.result = joint;
        if (operation != MATCH_ANY) continue;
        lane.result = 0;
        for (uint32_t others = lanes; others; others &= others - 1) {
            const int other = __builtin_ctz(others);
            if (warp.threads[other].value == lane.value) lane.result |= 1u << other;
        }
    }
}

// Complete the collective that `lane` waits in, if all are there.
inline bool try_complete(Warp& warp, const Thread& lane) {
    const uint32_t lanes = lane.mask & ~warp.ended;
    if ((warp.waiting & lanes) != lanes) return false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const Thread& other = warp.threads[__builtin_ctz(rest)];
        if (other.mask != lane.mask || other.operation != lane.operation) return false;
    }
    compute(lane.operation, warp, lanes);
#ifdef SIMT_RACES
    race_warp_sync(warp, lanes);
#endif
    warp.waiting &= ~lanes;
    ++simt_progress;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Thread& other = warp.threads[__builtin_ctz(rest)];
        if (other.state == State::IN_WARP) scheduler->make_ready(&other);
    }
    return true;
}

// A lane has ended: those that waited for it alone can go on.
inline void complete_waiting(Warp& warp) {
    for (uint32_t rest = warp.waiting; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (warp.waiting >> lane & 1) try_complete(warp, warp.threads[lane]);
    }
}

inline uint64_t collective(Collective operation, unsigned mask, uint64_t value, int argument, int width, Place place) {
    Thread& self = *scheduler->current;
    Warp& warp = *self.warp;
    self.place = place;
    self.operation = operation;
    self.mask = mask;
    self.value = value;
    self.argument = argument;
    self.width = width;
    if (!(mask >> self.lane & 1)) scheduler->fail(bad_mask(self));
    if (width < 1 || width > 32 || (width & (width - 1))) scheduler->fail(bad_width(self));
    self.block->communicated = true;
    warp.waiting |= 1u << self.lane;
    if (!try_complete(warp, self)) scheduler->park(State::IN_WARP);
    return self.result;
}

// All live threads have arrived: give each the result and let it go on.
inline void complete_barrier(Block& block) {
    uint64_t result = 0;
    if (block.barrier_kind == COUNT) result = static_cast<uint64_t>(block.count);
    if (block.barrier_kind == AND) result = block.count == static_cast<int>(block.at_barrier);
    if (block.barrier_kind == OR) result = block.count != 0;
    block.at_barrier = 0;
    ++block.epoch;
    ++simt_progress;
#ifdef SIMT_RACES
    race_block_sync(block);
#endif
    for (Thread& thread : block.threads) {
        thread.result = result;
        if (thread.state == State::AT_BARRIER) scheduler->make_ready(&thread);
    }
}

inline int barrier(Barrier kind, int predicate, Place place) {
    Thread& self = *scheduler->current;
    Block& block = *self.block;
    self.place = place;
    if (block.at_barrier++ == 0) {
        block.barrier_kind = kind;
        block.barrier_place = place;
        block.count = 0;
    } else if (block.barrier_kind != kind || block.barrier_place.line != place.line) {
        scheduler->fail(divergent_barrier(self));
    }
    block.count += predicate != 0;
    block.communicated = true;
    if (block.at_barrier == block.live) complete_barrier(block);
    else scheduler->park(State::AT_BARRIER);
    return static_cast<int>(self.result);
}

}  // namespace simt
