/*
The descriptors of look-back: what each tile publishes of itself, and what it learns.

A tile publishes the sum of its own elements (SUM), and learns the sum of all elements before it (PREFIX).  Value and
status travel in one 64-bit word, so that no fence is needed; a 64-bit value travels in two such words, each half with
the status, and a reader that sees two statuses looks again.  Statuses begin anew in every run (`epoch`), so that
nothing has to be cleared between runs.

In Merrill and Garland's scan every tile looks back for itself, and many then ask for the same few descriptors.  Here
one warp looks for all: nobody else reads the sums, a tile asks for its own descriptor only, and since it published its
sum a whole tile ago, the answer is there.
*/
#ifndef GPUGRAPH_PREFIX_SCAN_LOOK_BACK_CUH
#define GPUGRAPH_PREFIX_SCAN_LOOK_BACK_CUH

#include "prefix_scan/tile.cuh"

constexpr int LOOKS = 4;  // rows of 32 tiles looked at together
// Blocks of a multiprocessor, at least, and vectors that a thread adds up together.  Three blocks of 256 threads are
// fastest on an H200; newer code needs more registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int LOOK_BACK_RESIDENT = 512 / BLOCK;
constexpr int SUMMED = 2;
#else
constexpr int LOOK_BACK_RESIDENT = BLOCK == 256 ? 3 : 512 / BLOCK;
constexpr int SUMMED = VECTORS;
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

// What a tile has published in this run, and in *value its SUM or PREFIX.
__device__ __forceinline__ Status inspect(const Descriptor* descriptor, uint32 epoch, element_t* value) {
    const volatile uint64* const half = descriptor->half;
    const uint64 low = half[0], high = HALVES == 1 ? low : half[HALVES - 1];
    const uint32 status = static_cast<uint32>(low >> 32) - epoch;
    *value = element_of(HALVES == 1 ? low : high << 32 | (low & 0xffffffffu));
    if (status != SUM && status != PREFIX) return NOTHING;
    return low >> 32 == high >> 32 ? static_cast<Status>(status) : NOTHING;
}

// Give every tile the sum before it, in order, as soon as all tiles before it have published theirs.  One warp does
// so for all tiles.  All 32 lanes must call.
__device__ __forceinline__ void look_back(Descriptor* descriptors, uint32 tiles, uint32 epoch) {
    element_t before = 0;
    for (uint32 first = 0; first < tiles;) {
        element_t sum[LOOKS];
        uint32 summed[LOOKS];  // by tile first + 32 k + lane
        const auto look = [&]() {
#pragma unroll
            for (int k = 0; k < LOOKS; ++k) {
                const uint32 tile = first + k * WARP + lane_id();
                sum[k] = 0;
                summed[k] =
                    __ballot_sync(FULL_MASK, tile < tiles && inspect(&descriptors[tile], epoch, &sum[k]) == SUM);
            }
            return (summed[0] & 1) != 0;
        };
        spin_until(look());
        uint32 row = first;
        bool all = true;
#pragma unroll
        for (int k = 0; k < LOOKS; ++k, row += WARP) {
            if (!all) continue;
            const int ready = summed[k] == FULL_MASK ? WARP : first_lane(~summed[k]);
            const element_t inclusive = warp_scan(lane_id() < ready ? sum[k] : element_t(0));
            const element_t preceding = __shfl_up_sync(FULL_MASK, inclusive, 1);
            const element_t prefix = before + (lane_id() == 0 ? element_t(0) : preceding);
            if (lane_id() < ready) publish(&descriptors[row + lane_id()], epoch, PREFIX, prefix);
            before += __shfl_sync(FULL_MASK, inclusive, WARP - 1);
            first = row + ready;
            all = ready == WARP;
        }
    }
}

// ------------------------------------------------------------------ tiles on their way

// Begin to copy a whole tile to shared memory; every thread copies what it will read.  All threads must call, also for
// a tile that is not whole or not there (`count`), of which nothing is copied.
__device__ __forceinline__ void stage_tile(uint4* staged, const element_t* source, int64 count) {
    if (count >= TILE) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            copy_async(&staged[v * BLOCK + threadIdx.x], reinterpret_cast<const uint4*>(source + place(v)));
        }
    }
    end_copies();
}

// Read a tile that was staged, or from where it lies one that is not whole.
__device__ __forceinline__ void load_staged(Items& items, const uint4* staged, const element_t* source, int64 count) {
    if (count < TILE) {
        load_tile<true>(items, source, count);
        return;
    }
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) items.row[v].word = staged[v * BLOCK + threadIdx.x];
}

// Sum of this thread's elements of such a tile.
__device__ __forceinline__ element_t staged_sum(const uint4* staged, const element_t* source, int64 count) {
    element_t sum = 0;
    if (count < TILE) {
#pragma unroll 1
        for (int64 i = threadIdx.x; i < count; i += BLOCK) sum += source[i];
        return sum;
    }
#pragma unroll SUMMED
    for (int v = 0; v < VECTORS; ++v) {
        Vector vector;
        vector.word = staged[v * BLOCK + threadIdx.x];
#pragma unroll
        for (int e = 0; e < WIDTH; ++e) sum += vector.at[e];
    }
    return sum;
}

#endif
