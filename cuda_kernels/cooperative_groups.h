/*
What kernels mostly use of CUDA's cooperative groups, without the toolkit: #include <cooperative_groups.h> finds it, on
GPUs and on the emulated device.  A block and its warps are there.  For a barrier of the whole grid see grid_barrier() of
common.cuh, which says where its counters lie.
*/
#ifndef GPUGRAPH_COOPERATIVE_GROUPS_H
#define GPUGRAPH_COOPERATIVE_GROUPS_H

namespace cooperative_groups {

struct thread_block {
    static __device__ void sync() { __syncthreads(); }
    static __device__ unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static __device__ unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static __device__ unsigned num_threads() { return size(); }
};

struct grid_group {
    template <bool Never = false>
    __device__ void sync() const {
        static_assert(Never, "take grid_barrier(arrivals, barriers) of common.cuh, and launch with cooperative=True");
    }
    static __device__ unsigned long long thread_rank() {
        return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + thread_block::thread_rank();
    }
    static __device__ unsigned long long size() {
        return static_cast<unsigned long long>(gridDim.x) * thread_block::size();
    }
};

template <unsigned Size>
struct thread_block_tile {
    static_assert(Size == 32, "tiles of fewer than 32 threads are not offered");
    static __device__ void sync() { __syncwarp(); }
    static __device__ unsigned thread_rank() { return thread_block::thread_rank() % Size; }
    static __device__ unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static __device__ constexpr unsigned size() { return Size; }
    template <typename T>
    __device__ T shfl(T value, int lane) const { return __shfl_sync(0xffffffffu, value, lane); }
    template <typename T>
    __device__ T shfl_down(T value, unsigned by) const { return __shfl_down_sync(0xffffffffu, value, by); }
    template <typename T>
    __device__ T shfl_up(T value, unsigned by) const { return __shfl_up_sync(0xffffffffu, value, by); }
    template <typename T>
    __device__ T shfl_xor(T value, unsigned by) const { return __shfl_xor_sync(0xffffffffu, value, by); }
    __device__ int any(int holds) const { return __any_sync(0xffffffffu, holds); }
    __device__ int all(int holds) const { return __all_sync(0xffffffffu, holds); }
    __device__ unsigned ballot(int holds) const { return __ballot_sync(0xffffffffu, holds); }
};

static __device__ inline thread_block this_thread_block() { return {}; }
static __device__ inline grid_group this_grid() { return {}; }
template <unsigned Size>
__device__ inline thread_block_tile<Size> tiled_partition(const thread_block&) { return {}; }

}  // namespace cooperative_groups

#endif
