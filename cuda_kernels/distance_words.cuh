/*
Distances as order-preserving words: an unsigned integer that compares as the distance does.  It is the integer
itself, or the bits of a float that is not negative, so that one atomicMin serves every type.

Defines in addition to those of common.cuh:
    DISTANCE_BITS  32 | 64   width of a distance: of integers 32 unless that overflows; of floats 64, for sums in
                             float64, or 32 for float32 weights whose sums are to be rounded to float32
*/
#ifndef GPUGRAPH_DISTANCE_WORDS_CUH
#define GPUGRAPH_DISTANCE_WORDS_CUH

#include "common.cuh"

#ifndef DISTANCE_BITS
#define DISTANCE_BITS 32
#endif

#if DISTANCE_BITS == 64
typedef uint64 distance_t;
#else
typedef uint32 distance_t;
#endif

// UNREACHED is the largest word; as a float it is not infinity but lies above it, so that infinity is never reached.
// No sum is it, by extended(); as a threshold it has no end, and nothing may be added to it, for the next word is 0.
constexpr distance_t UNREACHED = static_cast<distance_t>(-1);

// True where a sum can be too large for a word, and a wider one has to be tried; a float sum becomes infinite instead.
constexpr bool SUMS_OVERFLOW = static_cast<weight_t>(1) / 2 == 0;

// A float as a word, and the float that a word encodes: float64 in words of 64 bits, float32 in words of 32.
#if DISTANCE_BITS == 64
typedef float64 real_t;
constexpr distance_t INFINITE = 0x7ff0000000000000ull;
constexpr float64 MOST_REAL = 1.7e308;
__device__ __forceinline__ distance_t as_word(real_t x) { return static_cast<uint64>(__double_as_longlong(x)); }
__device__ __forceinline__ real_t as_real(distance_t word) { return __longlong_as_double(static_cast<int64>(word)); }
#else
typedef float32 real_t;
constexpr distance_t INFINITE = 0x7f800000u;
constexpr float64 MOST_REAL = 3.4e38;
__device__ __forceinline__ distance_t as_word(real_t x) { return __float_as_uint(x); }
__device__ __forceinline__ real_t as_real(distance_t word) { return __uint_as_float(word); }
#endif

// The length of a path extended by one arc, or UNREACHED where it leads nowhere: a float sum is infinite, an integer
// sum does not fit.
__device__ __forceinline__ distance_t extended_by_real(distance_t length, real_t w) {
    const distance_t word = as_word(as_real(length) + w);
    return word == INFINITE ? UNREACHED : word;
}
__device__ __forceinline__ distance_t extended(distance_t length, float32 w) { return extended_by_real(length, w); }
__device__ __forceinline__ distance_t extended(distance_t length, float64 w) {
    return extended_by_real(length, static_cast<real_t>(w));
}
template <typename Integer>
__device__ __forceinline__ distance_t extended(distance_t length, Integer w) {
    const distance_t room = UNREACHED - 1 - length;
    return static_cast<uint64>(w) > room ? UNREACHED : length + static_cast<distance_t>(w);
}

// The number that a word encodes, rounded where a double cannot hold it; the second argument has the type.
__device__ __forceinline__ float64 value_of(distance_t word, float32) { return as_real(word); }
__device__ __forceinline__ float64 value_of(distance_t word, float64) { return as_real(word); }
template <typename Integer>
__device__ __forceinline__ float64 value_of(distance_t word, Integer) {
    return static_cast<float64>(word);
}

// A word near the number `value` >= 0, or UNREACHED where it is too large.
__device__ __forceinline__ distance_t word_of_real(float64 value) {
    return value < MOST_REAL ? as_word(static_cast<real_t>(value)) : UNREACHED;
}
__device__ __forceinline__ distance_t word_of(float64 value, float32) { return word_of_real(value); }
__device__ __forceinline__ distance_t word_of(float64 value, float64) { return word_of_real(value); }
template <typename Integer>
__device__ __forceinline__ distance_t word_of(float64 value, Integer) {
    const float64 limit = DISTANCE_BITS == 64 ? 1.8446744073709550e19 : 4294967295.0;
    return value < limit ? static_cast<distance_t>(value) : UNREACHED;
}

// A word that other threads change, as it is now.
template <typename T>
__device__ __forceinline__ T current(const T* word) {
    // race-allowed: counters are read where nobody writes; a distance only falls, and is an upper bound
    return __ldcg(word);
}

// A distance as it was not long ago, read through the first-level cache, which does not see what others write.  An old
// one is an upper bound, too.
template <typename T>
__device__ __forceinline__ T recent(const T* distance) {
    return *distance;  // race-allowed: it only falls, and is an upper bound
}

// A word of the graph that is read once or twice and should not push distances out of the cache.
template <typename T>
__device__ __forceinline__ T streamed(const T* word) {
    return __ldcs(word);
}

#endif
