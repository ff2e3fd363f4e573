/*
What a device can do at most: copy and read bandwidth, launch latency, and whether kernels run at all.

An algorithm's own traffic is compared with these rates.

    probe_add_one   the one-line kernel of `gpugraph devices`
    probe_nothing   a launch and nothing else
    probe_wait      a launch that lasts, so that those behind it are queued meanwhile
    probe_copy      16-byte loads and stores, four in flight per thread
    probe_read      16-byte loads alone

Arrays are shaped (n,) of 16-byte cells unless said otherwise.
*/
#include "common.cuh"

// Launch: one block of one thread.  Writes: out (1,).
extern "C" __global__ void probe_add_one(uint32* out, uint32 value) { out[0] = value + 1; }

// Launch: any.  Writes: nothing.
extern "C" __global__ void probe_nothing() {}

// Launch: one block of one thread.  Writes: nothing.
extern "C" __global__ void probe_wait(uint64 nanoseconds) {
    for (const uint64 begun = device_nanoseconds(); device_nanoseconds() - begun < nanoseconds;) __nanosleep(1000);
}

// Launch: any grid and block; grid-stride.  Writes: every cell of `target`, each by one thread; no atomics.
extern "C" __global__ void probe_copy(uint4* __restrict__ target, const uint4* __restrict__ source, int64 n) {
    const int64 step = grid_threads();
    int64 i = grid_thread();
    for (; i + 3 * step < n; i += 4 * step) {
        const uint4 a = source[i], b = source[i + step], c = source[i + 2 * step], d = source[i + 3 * step];
        target[i] = a;
        target[i + step] = b;
        target[i + 2 * step] = c;
        target[i + 3 * step] = d;
    }
    for (; i < n; i += step) target[i] = source[i];
}

__device__ __forceinline__ uint32 folded(uint4 cell) { return cell.x ^ cell.y ^ cell.z ^ cell.w; }

// Launch: any grid and block; grid-stride.  Writes: the exclusive or of all words into sink (1,), by one atomic per
// warp, so that no load can be left out.
extern "C" __global__ void probe_read(uint32* sink, const uint4* __restrict__ source, int64 n) {
    const int64 step = grid_threads();
    int64 i = grid_thread();
    uint32 word = 0;
    for (; i + 3 * step < n; i += 4 * step) {
        const uint4 a = source[i], b = source[i + step], c = source[i + 2 * step], d = source[i + 3 * step];
        word ^= folded(a) ^ folded(b) ^ folded(c) ^ folded(d);
    }
    for (; i < n; i += step) word ^= folded(source[i]);
    for (int offset = WARP / 2; offset > 0; offset /= 2) word ^= __shfl_xor_sync(FULL_MASK, word, offset);
    if (lane_id() == 0) atomicXor(sink, word);
}
