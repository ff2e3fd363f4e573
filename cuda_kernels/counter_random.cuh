/*
Counter-based random numbers: draw number i is a hash of (seed, i), so that any thread can make any draw, and a graph is
the same bit for bit whoever makes it.  All arithmetic is on unsigned 64-bit integers that wrap.

    mix            the finaliser of SplitMix64, a bijection that spreads every bit over all others
    hash64         one step of SplitMix64
    unhash64       its inverse: of what number it is the hash
    high_product   the upper 64 bits of a product: uniform in 0..k-1 for a uniform first factor
    Shuffle        a bijection of 0..2^bits - 1, made of odd multipliers and shifts
    nth_distinct   the j-th of a pseudo-random order of 0..size-1: a shuffle, walked until it lands inside

The host's side, which gives the same bits, is gpugraph/graph/counter_random.py.

Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014; J. Black,
P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, section 3 (walking along a cycle back into the
domain).
*/
#ifndef GPUGRAPH_COUNTER_RANDOM_CUH
#define GPUGRAPH_COUNTER_RANDOM_CUH

#include "common.cuh"

constexpr uint64 GOLDEN = 0x9E3779B97F4A7C15ull;

__device__ __forceinline__ uint64 mix(uint64 z) {
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9ull;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ __forceinline__ uint64 hash64(uint64 z) { return mix(z + GOLDEN); }

__device__ __forceinline__ uint64 unhash64(uint64 z) {
    z ^= (z >> 31) ^ (z >> 62);
    z *= 0x319642B2D24D8EC3ull;  // the inverses of mix's factors modulo 2^64
    z ^= (z >> 27) ^ (z >> 54);
    z *= 0x96DE1B173F119089ull;
    z ^= (z >> 30) ^ (z >> 60);
    return z - GOLDEN;
}

__device__ __forceinline__ uint64 high_product(uint64 x, uint64 k) { return __umul64hi(x, k); }

struct Shuffle {
    uint64 k1, k2, mask;
    int half;

    __device__ __forceinline__ Shuffle(uint64 key, int bits)
        : k1(hash64(key * 3 + 1) | 1), k2(hash64(key * 3 + 2) | 1), mask((1ull << bits) - 1), half((bits + 1) / 2) {}

    __device__ __forceinline__ uint64 operator()(uint64 x) const {
        x = (x * k1) & mask;
        x ^= x >> half;
        x = (x * k2) & mask;
        x ^= x >> half;
        x = (x * k1) & mask;
        return x ^ (x >> half);
    }
};

__device__ __forceinline__ int bit_width(uint64 x) { return 64 - __clzll(static_cast<int64>(x)); }

// The shuffle is of the bit width of size - 1, so that fewer than two steps are made on average.
__device__ __forceinline__ uint64 nth_distinct(const Shuffle& shuffle, uint64 j, uint64 size) {
    uint64 x = j;
    do {
        x = shuffle((x + (shuffle.k2 >> 32)) & shuffle.mask);  // adding a key first keeps zero from being a fixed point
    } while (x >= size);
    return x;
}

#endif
