// Kernels that fail while they run, and patterns that must not be taken for races.
#include "common.cuh"

extern "C" __global__ void null_pointer(int* values, int64 offset) { values[offset + threadIdx.x] = 1; }
extern "C" __global__ void divide(const int* values, int* out) { out[threadIdx.x] = 100 / values[threadIdx.x]; }
extern "C" __global__ void check(const int* values) { assert(values[threadIdx.x] < 5); }
extern "C" __global__ void assume(const int* values) { __builtin_assume(values[threadIdx.x] < 5); }
extern "C" __global__ void trap() { __trap(); }
extern "C" __global__ void __launch_bounds__(64, 2) bounded(int* out) { out[threadIdx.x] = threadIdx.x; }

extern "C" __global__ void deep(int* out) {
    volatile char room[60000];
    room[threadIdx.x] = 1;
    out[threadIdx.x] = room[threadIdx.x];
}

extern "C" __global__ void too_deep(int* out, int n) {
    volatile char room[66000];
    for (int i = 0; i < n; ++i) room[i] = 1;
    out[threadIdx.x] = room[n - 1];
}

// A lock without a pause: the emulator makes the thread that spins give way.
extern "C" __global__ void lock(uint32* lock, int* counter) {
    while (atomicCAS(lock, 0u, 1u) != 0) {
    }
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0u);
}

// Every thread of every block reads what thread 0 of the last block to arrive has summed up.
extern "C" __global__ void last_block(const int* values, int* parts, uint32* arrived, int* total) {
    __shared__ bool last;
    const int sum = __reduce_add_sync(FULL_MASK, values[grid_thread()]);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    const int mine = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0;
    const int all = __reduce_add_sync(FULL_MASK, mine);
    if (threadIdx.x == 0) *total = all;
}

extern "C" __global__ void allowed(int* flag, int* other) {
    *flag = 1;  // race-allowed: every writer writes 1
    // race-allowed: on a line of its own
    other[0] = 1;
    other[1] = 1;  // race-allowed:
}

// Neighbouring bytes belong to different threads.
extern "C" __global__ void bytes(unsigned char* marks) { marks[threadIdx.x] = 1; }

extern "C" __global__ void schedule(uint32* ticket, uint32* order) { order[grid_thread()] = atomicAdd(ticket, 1u); }
