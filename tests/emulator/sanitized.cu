// What the sanitised build is tried on: small, because that build compiles slowly.
#include "broken/missing_barrier.cu"
#include "broken/off_by_one.cu"
#include "broken/shared_off_by_one.cu"

extern "C" __global__ void past_dynamic_shared(int* out, int n) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x + n] = 1;
    __syncthreads();
    out[threadIdx.x] = scratch[threadIdx.x];
}
