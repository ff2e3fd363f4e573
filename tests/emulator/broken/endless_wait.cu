// The last thread raises the flag that all wait for; the broken one raises another.
template <bool broken>
__device__ void endless_wait(unsigned* flags, int* passed) {
    if (threadIdx.x == blockDim.x - 1) atomicExch(&flags[broken ? 1 : 0], 1u);
    while (atomicAdd(&flags[0], 0u) == 0) __nanosleep(20);
    passed[threadIdx.x] = 1;
}
extern "C" __global__ void endless_wait_broken(unsigned* flags, int* passed) { endless_wait<true>(flags, passed); }
extern "C" __global__ void endless_wait_fixed(unsigned* flags, int* passed) { endless_wait<false>(flags, passed); }
