// Lanes exchange values through shared memory; they run in lock-step only where they say so.  One warp.
template <bool broken>
__device__ void missing_warp_sync(const int* values, int* turned) {
    __shared__ int row[32];
    const int lane = threadIdx.x;
    row[lane] = values[lane];
    if (!broken) __syncwarp();
    turned[lane] = row[31 - lane];
}
extern "C" __global__ void missing_warp_sync_broken(const int* values, int* turned) {
    missing_warp_sync<true>(values, turned);
}
extern "C" __global__ void missing_warp_sync_fixed(const int* values, int* turned) {
    missing_warp_sync<false>(values, turned);
}
