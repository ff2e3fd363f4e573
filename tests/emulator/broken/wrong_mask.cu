// Twenty lanes add up their values; the mask must name exactly those.  One warp.
template <bool broken>
__device__ void wrong_mask(const int* values, int* sum) {
    const int lane = threadIdx.x;
    if (lane >= 20) return;
    const unsigned mask = broken ? 0x0000ffffu : 0x000fffffu;
    int total = 0;
    for (int source = 0; source < 20; ++source) total += __shfl_sync(mask, values[lane], source);
    if (lane == 0) *sum = total;
}
extern "C" __global__ void wrong_mask_broken(const int* values, int* sum) { wrong_mask<true>(values, sum); }
extern "C" __global__ void wrong_mask_fixed(const int* values, int* sum) { wrong_mask<false>(values, sum); }
