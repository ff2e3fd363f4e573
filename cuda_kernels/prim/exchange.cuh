/*
How the blocks of a cooperative launch agree on the lightest candidate: every block writes its own into a slot, and
every block reads all slots.  That is one trip through the L2 cache, where a barrier with a read behind it would be two.

    slots (2 * blocks * SLOT_WORDS), 0 at the start     32 bits of the candidate and the step's number in each word

A word that carries the step's number is complete, so nothing needs a fence.  Two sets of slots are used in turns: a
block writes step s + 2 only after it has read all of s + 1, and those were written by blocks that had read all of s.
*/
#ifndef GPUGRAPH_PRIM_EXCHANGE_CUH
#define GPUGRAPH_PRIM_EXCHANGE_CUH

#include "tournament.cuh"

constexpr int SLOT_WORDS = sizeof(weight_key_t) == 8 ? 4 : 3;  // from, to, and the key in one or two

constexpr int32 STOPS = -2;  // in place of a vertex outside: all blocks are to end

// Write this block's candidate of one step.  All lanes of one warp call with the same candidate.
__device__ __forceinline__ void publish(uint64* slots, uint32 step, const Candidate& mine) {
    if (lane_id() >= SLOT_WORDS) return;
    uint32 half = static_cast<uint32>(mine.from);
    if (lane_id() == 1) half = static_cast<uint32>(mine.to);
    if (lane_id() == 2) half = static_cast<uint32>(mine.key);
    if (lane_id() == 3) half = static_cast<uint32>(static_cast<uint64>(mine.key) >> 32);
    const int64 slot = static_cast<int64>(step & 1) * gridDim.x + blockIdx.x;
    *static_cast<volatile uint64*>(&slots[slot * SLOT_WORDS + lane_id()]) = static_cast<uint64>(half) << 32 | step;
}

// Read one slot; false until all of its words are of this step.  The loads are under way together.
__device__ __forceinline__ bool read_slot(const uint64* slot, uint32 step, Candidate* candidate) {
    uint64 word[SLOT_WORDS];
#pragma unroll
    for (int i = 0; i < SLOT_WORDS; ++i) word[i] = *static_cast<const volatile uint64*>(&slot[i]);
    bool complete = true;
#pragma unroll
    for (int i = 0; i < SLOT_WORDS; ++i) complete &= static_cast<uint32>(word[i]) == step;
    candidate->from = static_cast<int32>(word[0] >> 32);
    candidate->to = static_cast<int32>(word[1] >> 32);
    uint64 key = word[2] >> 32;
    if (SLOT_WORDS == 4) key |= word[SLOT_WORDS - 1] >> 32 << 32;
    candidate->key = static_cast<weight_key_t>(key);
    return complete;
}

// The lightest candidate of all blocks; nobody, in a step where that `may_stop`, if block 0 published a candidate that
// stops.  All lanes of one warp of every block call, after they have published.
__device__ __forceinline__ Candidate lightest_of_all(const uint64* slots, uint32 step, bool may_stop) {
    const uint64* const set = slots + static_cast<int64>(step & 1) * gridDim.x * SLOT_WORDS;
    Candidate least = nobody();
    bool stops = false;
    for (uint32 block = lane_id(); block < gridDim.x; block += WARP) {
        Candidate other;
        spin_until(read_slot(set + block * SLOT_WORDS, step, &other));
        stops |= other.to == STOPS;
        if (before(other, least)) least = other;
    }
    if (may_stop && __any_sync(FULL_MASK, stops)) return nobody();
    return broadcast(least, lightest_lane(least));
}

#endif
