// Shared memory holds nothing useful when a block starts.  Blocks of 64 threads.
template <bool broken>
__device__ void uninitialised_shared(const int* values, unsigned* counts) {
    __shared__ unsigned bins[4];
    if (!broken && threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[values[threadIdx.x] % 4], 1u);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void uninitialised_shared_broken(const int* values, unsigned* counts) {
    uninitialised_shared<true>(values, counts);
}
extern "C" __global__ void uninitialised_shared_fixed(const int* values, unsigned* counts) {
    uninitialised_shared<false>(values, counts);
}
