// Half of a warp waits at the barrier while the other half waits for it in a shuffle.  One warp.
template <bool broken>
__device__ void deadlock(int* values) {
    const int lane = threadIdx.x;
    int mine = lane;
    if (broken && lane < 16) __syncthreads();
    mine = __shfl_xor_sync(0xffffffffu, mine, 1);
    if (!broken || lane >= 16) __syncthreads();
    values[lane] = mine;
}
extern "C" __global__ void deadlock_broken(int* values) { deadlock<true>(values); }
extern "C" __global__ void deadlock_fixed(int* values) { deadlock<false>(values); }
