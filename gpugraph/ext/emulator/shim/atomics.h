// Atomics on global and shared memory, for exactly the types CUDA has them for.
//
// With one worker a fiber is switched at known points only, so a plain load and store are already atomic; with several
// workers they become compare-and-swap loops.  An atomic is a place where a seeded schedule may pre-empt, and where a
// thread that spins without giving way is made to.
#pragma once

#include "bits.h"

namespace simt {

template <class T>
struct Same { using type = T; };
template <class T, class... Allowed>
constexpr bool one_of = (std::is_same_v<T, Allowed> || ...);

#ifdef SIMT_RACES
#define SIMT_UNSEEN __attribute__((no_sanitize("thread"), noinline))
#else
#define SIMT_UNSEEN inline __attribute__((always_inline))
#endif

// Replace *address by change(old) in one step and return old; `name` is the atomic's.
template <class T, class Change>
SIMT_UNSEEN T update(T* address, [[maybe_unused]] const char* name, Change change) {
    if (--simt_atomics_left < 0) simt_preempt();
#ifdef SIMT_RACES
    simt_race_atomic(address, sizeof(T), name, __builtin_return_address(0));
#endif
#ifdef SIMT_THREADS
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
    auto* cell = reinterpret_cast<Bits*>(address);
    Bits seen = __atomic_load_n(cell, __ATOMIC_RELAXED), wanted;
    do {
        wanted = bits_as<Bits>(change(bits_as<T>(seen)));
    } while (wanted != seen &&
             !__atomic_compare_exchange_n(cell, &seen, wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    simt_progress += wanted != seen;
    return bits_as<T>(seen);
#else
    const T old = *address;
    const T changed = change(old);
    simt_progress += memcmp(&changed, &old, sizeof(T)) != 0;
    *address = changed;
    return old;
#endif
}

}  // namespace simt

// Each atomic in its three scopes, which are one here.
#define SIMT_ATOMIC(name, expression, ...)                                                                            \
    template <class T>                                                                                                \
    inline T name(T* address, typename simt::Same<T>::type value) {                                                   \
        static_assert(simt::one_of<T, __VA_ARGS__>, "CUDA has no " #name " for this type");                           \
        return simt::update(address, #name, [=](T old) -> T { (void)old; return expression; });                       \
    }                                                                                                                 \
    template <class T>                                                                                                \
    inline T name##_block(T* address, typename simt::Same<T>::type value) { return name(address, value); }            \
    template <class T>                                                                                                \
    inline T name##_system(T* address, typename simt::Same<T>::type value) { return name(address, value); }

SIMT_ATOMIC(atomicAdd, old + value, int, unsigned, unsigned long long, float, double)
SIMT_ATOMIC(atomicSub, old - value, int, unsigned)
SIMT_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
SIMT_ATOMIC(atomicMin, value < old ? value : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicMax, value > old ? value : old, int, unsigned, long long, unsigned long long)
SIMT_ATOMIC(atomicAnd, old & value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicOr, old | value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicXor, old ^ value, int, unsigned, unsigned long long)
SIMT_ATOMIC(atomicInc, old >= value ? 0 : old + 1, unsigned)
SIMT_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, unsigned)

template <class T>
inline T atomicCAS(T* address, typename simt::Same<T>::type expected, typename simt::Same<T>::type value) {
    static_assert(simt::one_of<T, int, unsigned, unsigned long long, unsigned short>,
                  "CUDA has no atomicCAS for this type");
    return simt::update(address, "atomicCAS", [=](T old) -> T { return old == expected ? value : old; });
}
template <class T>
inline T atomicCAS_block(T* address, typename simt::Same<T>::type expected, typename simt::Same<T>::type value) {
    return atomicCAS(address, expected, value);
}
template <class T>
inline T atomicCAS_system(T* address, typename simt::Same<T>::type expected, typename simt::Same<T>::type value) {
    return atomicCAS(address, expected, value);
}
