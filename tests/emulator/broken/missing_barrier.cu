// A tree reduction in shared memory needs a barrier after every step.  Blocks of 128 threads.
template <bool broken>
__device__ void missing_barrier(const int* values, int* sums) {
    __shared__ int part[128];
    const int i = threadIdx.x;
    part[i] = values[blockIdx.x * 128 + i];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (i < half) part[i] += part[i + half];
        if (!broken) __syncthreads();
    }
    if (i == 0) sums[blockIdx.x] = part[0];
}
extern "C" __global__ void missing_barrier_broken(const int* values, int* sums) { missing_barrier<true>(values, sums); }
extern "C" __global__ void missing_barrier_fixed(const int* values, int* sums) { missing_barrier<false>(values, sums); }
