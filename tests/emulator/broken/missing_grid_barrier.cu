// Two phases over the whole grid: the second reads what other blocks wrote in the first.  Cooperative.
#include "common.cuh"

template <bool broken>
__device__ void missing_grid_barrier(int* phase_one, int* phase_two, uint32* arrivals) {
    const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32 barriers = 0;
    for (int round = 0; round < 3; ++round) {
        phase_one[i] = i + round;
        if (!broken) grid_barrier(arrivals, &barriers);
        phase_two[i] = phase_one[n - 1 - i];
        if (!broken) grid_barrier(arrivals, &barriers);
    }
}
extern "C" __global__ void missing_grid_barrier_broken(int* phase_one, int* phase_two, uint32* arrivals) {
    missing_grid_barrier<true>(phase_one, phase_two, arrivals);
}
extern "C" __global__ void missing_grid_barrier_fixed(int* phase_one, int* phase_two, uint32* arrivals) {
    missing_grid_barrier<false>(phase_one, phase_two, arrivals);
}
