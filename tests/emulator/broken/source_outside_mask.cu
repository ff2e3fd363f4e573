// Lane 0 of each half warp sums its half; a lane may not read a lane that the mask leaves out.  One warp.
template <bool broken>
__device__ void source_outside_mask(const int* values, int* sums) {
    const int lane = threadIdx.x;
    const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    int total = values[lane];
    for (int offset = 8; offset > 0; offset /= 2) {
        total += __shfl_down_sync(mask, total, broken ? 2 * offset : offset, broken ? 32 : 16);
    }
    if (lane % 16 == 0) sums[lane / 16] = total;
}
extern "C" __global__ void source_outside_mask_broken(const int* values, int* sums) {
    source_outside_mask<true>(values, sums);
}
extern "C" __global__ void source_outside_mask_fixed(const int* values, int* sums) {
    source_outside_mask<false>(values, sums);
}
