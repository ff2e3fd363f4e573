/*
Graph500: the edge list of the reference code, made on the device.

    words          seed (5), scrambling (2), and from word 7 on the matrices (5, 5) that jump 2^k edges ahead
    edges (3 m)    tuples in three words: the lower 32 bits of either end, and the upper 16 bits of both
    weights (m)    of the tuples

Source: Graph500 specification 2.0; the generator's formulas are in gpugraph/graph500/generator.py.
*/
#include "csr.cuh"

constexpr uint64 PRIME = 2147483647;

// ------------------------------------------------------------------ edges

struct Numbers {
    uint64 z[5];
    // A product of two residues is below 2^62, so that three of them and a residue fit a word.
    __device__ __forceinline__ void jump(const uint64* __restrict__ matrix) {
        uint64 next[5];
        for (int row = 0; row < 5; ++row) {
            const uint64* const m = matrix + 5 * row;
            const uint64 first = (m[0] * z[0] + m[1] * z[1] + m[2] * z[2]) % PRIME;
            next[row] = (first + m[3] * z[3] + m[4] * z[4]) % PRIME;
        }
        for (int row = 0; row < 5; ++row) z[row] = next[row];
    }
    __device__ __forceinline__ uint32 draw() {
        const uint64 next = (107374182ull * z[0] + 104480ull * z[4]) % PRIME;
        for (int i = 4; i > 0; --i) z[i] = z[i - 1];
        z[0] = next;
        return static_cast<uint32>(next);
    }
};

__device__ __forceinline__ uint64 reversed(uint64 x, int32 bits) { return __brevll(x) >> (64 - bits); }

__device__ __forceinline__ uint64 scrambled(uint64 v, int32 bits, uint64 first, uint64 second) {
    v = reversed((v + first + second) * (first | 0x4519840211493211ull), bits);
    return reversed(v * (second | 0x3050852102C843A5ull), bits);
}

// Launch: 2^lanes threads, or more, which have nothing to do.  Thread t makes the edges t, t + 2^lanes, and so on.
// Writes edges and weights, each by one thread; no atomics.
extern "C" __global__ void graph500_generate(int64 count, int32 scale, int32 lanes, const uint64* __restrict__ words,
                                             uint32* edges, float32* weights) {
    const int64 thread = grid_thread(), step = 1ll << lanes;
    if (thread >= step) return;
    const uint64* const jumps = words + 7;
    Numbers at;
    for (int i = 0; i < 5; ++i) at.z[i] = words[i];
    for (int bit = 0; bit < lanes; ++bit) {
        if (thread >> bit & 1) at.jump(jumps + 25 * bit);
    }
    for (int64 i = thread; i < count; i += step) {
        Numbers own = at;
        uint64 u = 0, v = 0;
        for (int level = 0; level < scale; ++level) {
            uint32 x = own.draw();
            while (x < PRIME % 10000) x = own.draw();
            x %= 10000;
            uint64 down = x >= 1900 && (x < 3800 || x >= 9500), right = x < 1900 || x >= 9500;
            if (u == v && down > right) {
                down = 0;
                right = 1;
            }
            u = u << 1 | down;
            v = v << 1 | right;
        }
        weights[i] = static_cast<float32>(static_cast<float64>(static_cast<float32>(own.draw())) *
                                          0.000000000465661287524579692);
        u = scrambled(u, scale, words[5], words[6]);
        v = scrambled(v, scale, words[5], words[6]);
        edges[3 * i] = static_cast<uint32>(u);
        edges[3 * i + 1] = static_cast<uint32>(v);
        edges[3 * i + 2] = static_cast<uint32>(u >> 32 | v >> 32 << 16);
        at.jump(jumps + 25 * lanes);
    }
}
