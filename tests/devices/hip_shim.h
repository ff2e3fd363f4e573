// What CUDA C++ has and HIP lacks, so that the kernels compile for AMD's processors of 32 lanes a wave (gfx10 and later).
// It is for compiling alone, `make matrix-amd`: no kernel has run on such a device.  All masks of the kernels name lanes
// of one warp of 32, and a wave has as many there, so each operation on a mask is that on the wave.  With 64 lanes a
// wave holds two warps, and none of this would be right.
#pragma once
#include <hip/hip_runtime.h>

constexpr int WAVE_LANES = 32;
__device__ inline unsigned lanes_where(bool holds) { return static_cast<unsigned>(__ballot(holds)); }

#define __ballot_sync(mask, holds) lanes_where(holds)
#define __any_sync(mask, holds) (lanes_where(holds) != 0)
#define __all_sync(mask, holds) (lanes_where(!(holds)) == 0)
#define __shfl_sync(mask, ...) __shfl(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) __shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) __shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)
#define __syncwarp(...) __builtin_amdgcn_wave_barrier()
#define __nanosleep(time) __builtin_amdgcn_s_sleep(1)

// Loads and stores with a hint for the cache become plain ones.
#define __ldcg(address) (*(address))
#define __ldcs(address) (*(address))
#define __stcs(address, value) (*(address) = (value))

template <typename T>
__device__ inline unsigned __match_any_sync(unsigned, T value) {
    unsigned alike = 0;
    for (int lane = 0; lane < WAVE_LANES; ++lane) alike |= static_cast<unsigned>(__shfl(value, lane) == value) << lane;
    return alike;
}

__device__ inline unsigned __reduce_min_sync(unsigned, unsigned value) {
    for (int distance = WAVE_LANES / 2; distance > 0; distance /= 2) value = min(value, __shfl_xor(value, distance));
    return value;
}
