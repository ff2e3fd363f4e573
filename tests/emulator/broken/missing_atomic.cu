// A histogram in global memory: two threads may count into the same bin.
template <bool broken>
__device__ void missing_atomic(const int* values, int n, unsigned* bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (broken) {
        bins[values[i]] += 1;
    } else {
        atomicAdd(&bins[values[i]], 1u);
    }
}
extern "C" __global__ void missing_atomic_broken(const int* values, int n, unsigned* bins) {
    missing_atomic<true>(values, n, bins);
}
extern "C" __global__ void missing_atomic_fixed(const int* values, int n, unsigned* bins) {
    missing_atomic<false>(values, n, bins);
}
