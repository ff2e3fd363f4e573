// Block after block hands its total on; the flag may not be seen before the total.  Blocks of 32 threads.
template <bool broken>
__device__ void missing_fence(const int* values, unsigned* ticket, int* totals, unsigned* flags) {
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicAdd(ticket, 1u);
    __syncthreads();
    const int sum = static_cast<int>(__reduce_add_sync(0xffffffffu, values[turn * 32 + threadIdx.x]));
    if (threadIdx.x != 0) return;
    int before = 0;
    if (turn > 0) {
        while (*static_cast<volatile unsigned*>(&flags[turn - 1]) == 0) __nanosleep(20);
        if (!broken) __threadfence();
        before = totals[turn - 1];
    }
    totals[turn] = before + sum;
    if (!broken) __threadfence();
    *static_cast<volatile unsigned*>(&flags[turn]) = 1;
}
extern "C" __global__ void missing_fence_broken(const int* values, unsigned* ticket, int* totals, unsigned* flags) {
    missing_fence<true>(values, ticket, totals, flags);
}
extern "C" __global__ void missing_fence_fixed(const int* values, unsigned* ticket, int* totals, unsigned* flags) {
    missing_fence<false>(values, ticket, totals, flags);
}
