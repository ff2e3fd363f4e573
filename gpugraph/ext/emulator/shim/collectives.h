// Block barriers, warp collectives and the calls by which a thread gives way.
//
// Every function takes the place it was called from, so that a report can name file and line.  A value travels as 64
// raw bits; the runtime computes the results of all lanes when the last lane of the mask arrives.
#pragma once

#include "bits.h"

#define SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(SIMT_PLACE) { simt_barrier(simt::PLAIN, 0, {file, line}); }
inline int __syncthreads_count(int predicate, SIMT_PLACE) { return simt_barrier(simt::COUNT, predicate, {file, line}); }
inline int __syncthreads_and(int predicate, SIMT_PLACE) { return simt_barrier(simt::AND, predicate, {file, line}); }
inline int __syncthreads_or(int predicate, SIMT_PLACE) { return simt_barrier(simt::OR, predicate, {file, line}); }
inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_PLACE) {
    simt_collective(simt::SYNC, mask, 0, 0, 32, {file, line});
}

inline void __nanosleep(unsigned, SIMT_PLACE) { simt_sleep({file, line}); }
inline void __threadfence() { simt_fence(); }
inline void __threadfence_block() { simt_fence(); }
inline void __threadfence_system() { simt_fence(); }
inline long long clock64() { return static_cast<long long>(simt_clock()); }
namespace simt {
inline unsigned long long globaltimer() { return simt_clock(); }  // replaces the PTX register, in nanoseconds
}
[[noreturn]] inline void __trap(SIMT_PLACE) { simt_fail("__trap()", {file, line}); }

// Legal at its strictest: code may not hope for more lanes than itself.
inline unsigned __activemask() { return 1u << simt_lane(); }

namespace simt {

template <class T>
inline uint64_t pack(T value) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "CUDA shuffles int, unsigned, long, long long, float and double only");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
inline T unpack(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
inline T shuffle(Collective how, unsigned mask, T value, int argument, int width, Place place) {
    return unpack<T>(simt_collective(how, mask, pack(value), argument, width, place));
}

}  // namespace simt

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_PLACE) {
    return simt::shuffle(simt::SHUFFLE, mask, value, source, width, {file, line});
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_PLACE) {
    return simt::shuffle(simt::SHUFFLE_UP, mask, value, static_cast<int>(delta), width, {file, line});
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_PLACE) {
    return simt::shuffle(simt::SHUFFLE_DOWN, mask, value, static_cast<int>(delta), width, {file, line});
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, SIMT_PLACE) {
    return simt::shuffle(simt::SHUFFLE_XOR, mask, value, lanes, width, {file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<unsigned>(simt_collective(simt::BALLOT, mask, predicate != 0, 0, 32, {file, line}));
}
inline int __any_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<int>(simt_collective(simt::ANY, mask, predicate != 0, 0, 32, {file, line}));
}
inline int __all_sync(unsigned mask, int predicate, SIMT_PLACE) {
    return static_cast<int>(simt_collective(simt::ALL, mask, predicate != 0, 0, 32, {file, line}));
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, SIMT_PLACE) {
    return static_cast<unsigned>(simt_collective(simt::MATCH_ANY, mask, simt::pack(value), 0, 32, {file, line}));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all_equal, SIMT_PLACE) {
    const uint64_t same = simt_collective(simt::MATCH_ALL, mask, simt::pack(value), 0, 32, {file, line});
    *all_equal = same != 0;
    return static_cast<unsigned>(same);
}

#define SIMT_REDUCE(name, T, operation)                                                                               \
    inline T __reduce_##name##_sync(unsigned mask, T value, SIMT_PLACE) {                                             \
        return simt::unpack<T>(simt_collective(simt::operation, mask, simt::pack(value), 0, 32, {file, line}));       \
    }
SIMT_REDUCE(add, unsigned, REDUCE_ADD)
SIMT_REDUCE(add, int, REDUCE_ADD)
SIMT_REDUCE(min, unsigned, REDUCE_MIN)
SIMT_REDUCE(min, int, REDUCE_MIN_SIGNED)
SIMT_REDUCE(max, unsigned, REDUCE_MAX)
SIMT_REDUCE(max, int, REDUCE_MAX_SIGNED)
SIMT_REDUCE(and, unsigned, REDUCE_AND)
SIMT_REDUCE(or, unsigned, REDUCE_OR)
SIMT_REDUCE(xor, unsigned, REDUCE_XOR)

// An assertion that fails, or an assumption that does not hold, ends the launch with a report.
#undef assert
#define assert(condition) \
    (__builtin_expect(!!(condition), 1) ? (void)0 : simt_fail("assertion failed: " #condition, {__FILE__, __LINE__}))
#define __builtin_assume(condition)               \
    (__builtin_expect(!!(condition), 1) ? (void)0 \
                                        : simt_fail("assumption does not hold: " #condition, {__FILE__, __LINE__}))
