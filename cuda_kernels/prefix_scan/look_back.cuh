/*
The descriptors of look-back: what each tile has told of itself so far, and how a later tile adds up what stands before
it.

A tile tells first the sum of its own elements (SUM), and once it knows what stands before it the sum of all elements up
to its end (PREFIX).  Value and status travel in one 64-bit word, so that no fence is needed; a 64-bit value travels in
two such words, each half with the status, and a reader that sees two statuses looks again.  Statuses begin anew in
every run (`epoch`), so that nothing has to be cleared between runs.
*/
#ifndef GPUGRAPH_PREFIX_SCAN_LOOK_BACK_CUH
#define GPUGRAPH_PREFIX_SCAN_LOOK_BACK_CUH

#include "prefix_scan/tile.cuh"

#ifndef LOOK
#define LOOK 4
#endif

constexpr int HALVES = sizeof(element_t) / 4;

struct alignas(8 * HALVES) Descriptor {
    uint64 half[HALVES];
};

enum Status : uint32 { NOTHING, SUM, PREFIX };

__device__ __forceinline__ uint64 element_bits(element_t value) {
    union {
        element_t value;
        uint32 word[HALVES];
    } parts;
    parts.value = value;
    return HALVES == 1 ? parts.word[0] : static_cast<uint64>(parts.word[HALVES - 1]) << 32 | parts.word[0];
}

__device__ __forceinline__ element_t element_of(uint64 bits) {
    union {
        element_t value;
        uint32 word[HALVES];
    } parts;
    parts.word[HALVES - 1] = static_cast<uint32>(bits >> 32 * (HALVES - 1));
    parts.word[0] = static_cast<uint32>(bits);
    return parts.value;
}

__device__ __forceinline__ void publish(Descriptor* descriptor, uint32 epoch, Status status, element_t value) {
    const uint64 tag = static_cast<uint64>(epoch + status) << 32, bits = element_bits(value);
#pragma unroll
    for (int h = 0; h < HALVES; ++h) {
        static_cast<volatile uint64*>(descriptor->half)[h] = tag | (bits >> 32 * h & 0xffffffffu);
    }
}

// What a tile has told in this run, and in *value its SUM or PREFIX.
__device__ __forceinline__ Status inspect(const Descriptor* descriptor, uint32 epoch, element_t* value) {
    const volatile uint64* const half = descriptor->half;
    const uint64 low = half[0], high = HALVES == 1 ? low : half[HALVES - 1];
    const uint32 told = static_cast<uint32>(low >> 32) - epoch;
    *value = element_of(HALVES == 1 ? low : high << 32 | (low & 0xffffffffu));
    if (told != SUM && told != PREFIX) return NOTHING;
    return low >> 32 == high >> 32 ? static_cast<Status>(told) : NOTHING;
}

// Look once at the 32 * LOOK tiles up to `nearest`, each lane at LOOK neighbours, the nearest tiles in lane 0.  True if
// all tiles down to the nearest PREFIX (or all of them) have told their sum; then *sum is that of those tiles, and
// *ended says whether a PREFIX was among them.  All 32 lanes must call; the same answer in every lane.
__device__ __forceinline__ bool look_once(const Descriptor* descriptors, int64 nearest, uint32 epoch, element_t* sum,
                                          bool* ended) {
    element_t mine = 0;
    Status met = SUM;  // SUM while nothing else was met, else what was met first
#pragma unroll
    for (int k = 0; k < LOOK; ++k) {
        const int64 tile = nearest - lane_id() * LOOK - k;
        element_t value = 0;
        const Status status = tile < 0 ? PREFIX : inspect(&descriptors[tile], epoch, &value);
        if (met == SUM && status != NOTHING) mine += tile < 0 ? element_t(0) : value;
        if (met == SUM) met = status;
    }
    const unsigned prefixes = __ballot_sync(FULL_MASK, met == PREFIX);
    const unsigned silent = __ballot_sync(FULL_MASK, met == NOTHING);
    const unsigned needed = prefixes == 0 ? FULL_MASK : prefixes ^ (prefixes - 1);  // up to the nearest PREFIX
    if ((silent & needed) != 0) return false;
    *ended = prefixes != 0;
    *sum = warp_sum(needed >> lane_id() & 1 ? mine : element_t(0));
    return true;
}

// Sum of all tiles before `tile`, in every lane.  Waits for tiles of smaller numbers only.  All 32 lanes must call.
__device__ __forceinline__ element_t look_back(const Descriptor* descriptors, int64 tile, uint32 epoch) {
    element_t prefix = 0;
    bool ended = false;
    for (int64 nearest = tile - 1; !ended; nearest -= WARP * LOOK) {
        element_t sum = 0;
        spin_until(look_once(descriptors, nearest, epoch, &sum, &ended));
        prefix = sum + prefix;
    }
    return prefix;
}

#endif
