// All threads of a block must meet at the same barrier.
template <bool broken>
__device__ void divergent_barrier(int* values) {
    __shared__ int first;
    if (threadIdx.x == 0) first = values[0];
    if (!broken) {
        __syncthreads();
    } else if (threadIdx.x % 2 == 0) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    values[threadIdx.x] = first;
}
extern "C" __global__ void divergent_barrier_broken(int* values) { divergent_barrier<true>(values); }
extern "C" __global__ void divergent_barrier_fixed(int* values) { divergent_barrier<false>(values); }
