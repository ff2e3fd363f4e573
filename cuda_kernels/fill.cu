/*
Set every element of an array to one value: the patterns that a memset of bytes cannot write.

One kernel for each width of an element, whatever its type; the value comes as the bits of an unsigned integer.

Launch: any grid and block, one element per thread and step of a grid-stride loop.
Writes: every element of `cells` (n,), each by one thread; no atomics.
*/
#include "common.cuh"

template <typename T>
__device__ __forceinline__ void fill_with(T* cells, T value, int64 n) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) cells[i] = value;
}

extern "C" __global__ void fill_2_bytes(unsigned short* cells, unsigned short value, int64 n) {
    fill_with(cells, value, n);
}

extern "C" __global__ void fill_4_bytes(uint32* cells, uint32 value, int64 n) { fill_with(cells, value, n); }

extern "C" __global__ void fill_8_bytes(uint64* cells, uint64 value, int64 n) { fill_with(cells, value, n); }
