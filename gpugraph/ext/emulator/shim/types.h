// Qualifiers, vector types and built-in variables of CUDA C++.
//
// A kernel sees CUDA's own spelling of everything here.  `__shared__` is a thread-local variable, because the
// thread-local block of a shared object is one contiguous piece of memory that the scheduler can poison when a
// block starts and swap when another block takes its turn.  The sanitised build of a kernel without a grid barrier
// makes it a plain static instead: AddressSanitizer puts red zones round those only.
#pragma once

#include <climits>
#include <cstddef>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // no kernel needs a Bessel function, and to read them takes longer than all the rest
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#ifndef GPUGRAPH_EMULATED
#define GPUGRAPH_EMULATED 1
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifdef SIMT_STATIC_SHARED
#define __shared__ static
#else
#define __shared__ static thread_local
#endif

// CUDA's vector types: tightly packed, aligned to their size for two and four elements.
#define SIMT_VECTOR_TYPES(Element, name)                                                                              \
    struct name##1 { Element x; };                                                                                    \
    struct alignas(2 * sizeof(Element)) name##2 { Element x, y; };                                                    \
    struct name##3 { Element x, y, z; };                                                                              \
    struct alignas(4 * sizeof(Element) > 16 ? 16 : 4 * sizeof(Element)) name##4 { Element x, y, z, w; };              \
    inline name##1 make_##name##1(Element x) { return {x}; }                                                          \
    inline name##2 make_##name##2(Element x, Element y) { return {x, y}; }                                            \
    inline name##3 make_##name##3(Element x, Element y, Element z) { return {x, y, z}; }                              \
    inline name##4 make_##name##4(Element x, Element y, Element z, Element w) { return {x, y, z, w}; }

SIMT_VECTOR_TYPES(signed char, char)
SIMT_VECTOR_TYPES(unsigned char, uchar)
SIMT_VECTOR_TYPES(short, short)
SIMT_VECTOR_TYPES(unsigned short, ushort)
SIMT_VECTOR_TYPES(int, int)
SIMT_VECTOR_TYPES(unsigned, uint)
SIMT_VECTOR_TYPES(long, long)
SIMT_VECTOR_TYPES(unsigned long, ulong)
SIMT_VECTOR_TYPES(long long, longlong)
SIMT_VECTOR_TYPES(unsigned long long, ulonglong)
SIMT_VECTOR_TYPES(float, float)
SIMT_VECTOR_TYPES(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// The position of the running thread.  Declared const although the scheduler changes them: inside one thread they never
// change, so the compiler may keep them in registers across a switch.
extern "C" {
extern SIMT_PER_WORKER const uint3 simt_thread_index;
extern SIMT_PER_WORKER const uint3 simt_block_index;
extern SIMT_PER_WORKER const uint3 simt_block_shape;
extern SIMT_PER_WORKER const uint3 simt_grid_shape;
}
#define threadIdx simt_thread_index
#define blockIdx simt_block_index
#define blockDim simt_block_shape
#define gridDim simt_grid_shape
constexpr int warpSize = 32;
