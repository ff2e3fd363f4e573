// Kernels whose work is counted by hand in test_counters.py.
#include "common.cuh"

extern "C" __global__ void copy(const uint32* from, uint32* to) { to[grid_thread()] = from[grid_thread()]; }

extern "C" __global__ void strided(const uint32* from, uint32* to) { to[grid_thread()] = from[8 * grid_thread()]; }

extern "C" __global__ void broadcast(const uint32* from, uint32* to) { to[grid_thread()] = from[0]; }

extern "C" __global__ void quads(const uint4* from, uint4* to) { to[grid_thread()] = from[grid_thread()]; }

// Bins of equal lanes: lane l updates bin l % 4.
extern "C" __global__ void histogram(uint32* bins) { atomicAdd(&bins[threadIdx.x % 4], 1u); }

extern "C" __global__ void histogram_in_blocks(uint32* bins) {
    __shared__ uint32 own[4];
    if (threadIdx.x < 4) own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[threadIdx.x % 4], 1u);
    __syncthreads();
    if (threadIdx.x < 4) atomicMax(&bins[threadIdx.x], own[threadIdx.x]);
}

// Lane l takes the loop 1 + l % 4 times, and reads a sector of its own each time.
extern "C" __global__ void diverging(const uint32* from, uint32* to) {
    uint32 sum = 0;
    for (int i = 0; i <= threadIdx.x % 4; ++i) sum += from[8 * (32 * i + threadIdx.x % 32)];
    to[grid_thread()] = sum;
}

// Two accesses that a shuffle parts: what lanes do before it is never one with what they do after it.
extern "C" __global__ void parted(uint32* cell) {
    if (threadIdx.x % 2) static_cast<volatile uint32*>(cell)[0] = 1;
    __syncwarp();
    if (threadIdx.x % 2 == 0) static_cast<volatile uint32*>(cell)[0] = 1;
}

extern "C" __global__ void waiting(uint32* arrivals, const uint32* from, uint32* to) {
    uint32 barriers = 0;
    for (int i = 0; i < 3; ++i) {
        to[grid_thread()] = from[grid_thread()];
        grid_barrier(arrivals, &barriers);
    }
}

// Notes the time before and after it reads, as kernels note their phases.
extern "C" __global__ void timed(const uint32* from, uint32* to, uint64* timeline) {
    if (threadIdx.x == 0) timeline[0] = device_nanoseconds();
    __syncthreads();
    to[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) timeline[1] = device_nanoseconds();
}
