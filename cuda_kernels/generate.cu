/*
Random and structured graphs, made on the device: the edges of a family as sorting keys, and the weights of the arcs
once they lie in rows.

Each family is one function from a number to an edge.  A thread takes some numbers, nobody waits for anybody, and what
comes out does not depend on who drew it: the draws are hashes of (seed, number) (counter_random.cuh).  build.cu sorts
the keys and makes the rows; repeats merge there, which no weight minds, since weights are a hash of the edge too:

    h = hash64(hash64(seed + 99) ^ (((u << 32) | (u >> 32)) ^ v))     u < v, or u -> v where arcs are directed
    LO + high_product(h, HI - LO + 1)              whole numbers, then converted to the type of the weights
    LO + (HI - LO) * ((h >> 11) * 2^-53)           reals, each operation rounded to float64, then converted
    HI where h >> 63 is 1, else LO                 one of the two, converted by way of float64

The families' formulas, and where they are from, are in gpugraph/ext/generators/, a file for each kind; the host
makes the same graphs there.

    begin, out, mode, mirrored, head_bits, first, last, counters      where edges go: arc_keys.cuh
    rule (1)                          where the weights lie
    starts (cliques+1)                of ssca2 the first vertex of each clique, and n
    inside (cliques+1)                the first edge of each clique, and how many there are

Kernels: one of generate_rmat, _random, _regular, _lattice, _complete, _dense, _tree, or both _cliques and _bridges; in
the end generate_weights.  Where vertices take other numbers, generate_order_keys and, once the keys are sorted,
generate_numbers.
*/
#include "arc_keys.cuh"
#include "counter_random.cuh"

// ------------------------------------------------------------------ weights

enum { UINT32, INT32, UINT64, INT64, FLOAT32, FLOAT64 };  // WEIGHT_DTYPES of csr.py, in that order

// A record of 64-bit words, the same on the host.
struct WeightRule {
    uint64 seed;
    uint64 type;
    uint64 directed;
    uint64 whole;      // else reals
    uint64 ends;       // LO and HI alone
    uint64 is_signed;  // LO is below zero
    uint64 low, span;  // of whole numbers, as two's complement; a span of 0 means 2^64
    float64 real_low, real_high, real_span;
};

// The 64 bits of a weight: of whole numbers the number, of reals the float64.
__device__ __forceinline__ uint64 hashed_weight(const WeightRule& rule, uint64 u, uint64 v) {
    if (!rule.directed && u > v) {
        const uint64 swap = u;
        u = v;
        v = swap;
    }
    const uint64 h = hash64(hash64(rule.seed + 99) ^ (((u << 32) | (u >> 32)) ^ v));
    const bool at_high = rule.ends && h >> 63 != 0;
    if (rule.whole && rule.ends) return at_high ? rule.low + rule.span - 1 : rule.low;
    if (rule.whole) return rule.low + (rule.span != 0 ? high_product(h, rule.span) : h);
    if (rule.ends) return static_cast<uint64>(__double_as_longlong(at_high ? rule.real_high : rule.real_low));
    const float64 unit = static_cast<float64>(h >> 11) * 0x1p-53;
    return static_cast<uint64>(__double_as_longlong(rule.real_low + rule.real_span * unit));
}

template <typename Real>
__device__ __forceinline__ Real as_real(const WeightRule& rule, uint64 bits) {
    if (!rule.whole) return static_cast<Real>(__longlong_as_double(static_cast<int64>(bits)));
    if (rule.ends) {
        const auto whole = static_cast<int64>(bits);
        const float64 wide = rule.is_signed ? static_cast<float64>(whole) : static_cast<float64>(bits);
        return static_cast<Real>(wide);
    }
    return rule.is_signed ? static_cast<Real>(static_cast<int64>(bits)) : static_cast<Real>(bits);
}

__device__ __forceinline__ void store_weight(const WeightRule& rule, void* weights, int64 i, uint64 bits) {
    // Adding zero makes +0.0 of the -0.0 that a tiny negative number may be rounded to.
    if (rule.type == FLOAT32) {
        static_cast<float32*>(weights)[i] = as_real<float32>(rule, bits) + 0.0f;
    } else if (rule.type == FLOAT64) {
        static_cast<float64*>(weights)[i] = as_real<float64>(rule, bits) + 0.0;
    } else if (rule.type == UINT32 || rule.type == INT32) {
        static_cast<uint32*>(weights)[i] = static_cast<uint32>(bits);
    } else {
        static_cast<uint64*>(weights)[i] = bits;
    }
}

// Whether a loop, which is dropped, had a negative weight: shortest paths would miss it.
struct HashedNegative {
    const WeightRule* rule;
    __device__ __forceinline__ bool operator()(int64, int64 u) const {
        if (!rule->is_signed) return false;
        const uint64 bits = hashed_weight(*rule, static_cast<uint64>(u), static_cast<uint64>(u));
        return rule->type == FLOAT32 ? as_real<float32>(*rule, bits) < 0.0f : as_real<float64>(*rule, bits) < 0.0;
    }
};

constexpr int ARC_TILE = 1024;  // consecutive arcs that a warp takes

// Launch: any grid of whole warps.  Writes: every weight, by one thread; no atomics.
extern "C" __global__ void generate_weights(int32 vertices, int64 arcs, const index_t* __restrict__ offsets,
                                            const int32* __restrict__ targets, const WeightRule* __restrict__ rule,
                                            void* weights) {
    const WeightRule how = *rule;
    walk_arcs<ARC_TILE>(offsets, vertices, 0, static_cast<index_t>(arcs), [&](int32 u, index_t at, bool there) {
        if (!there) return;
        store_weight(how, weights, at, hashed_weight(how, static_cast<uint64>(u), static_cast<uint64>(targets[at])));
    });
}

// ------------------------------------------------------------------ edges drawn at random

// What the kernels below have in common.  Launch: any grid, blocks of whole warps.  Writes: out and counters, by
// atomics; the order of the list is left to chance, and the sort after it does not mind.
#define SINK_PARAMETERS                                                                                          \
    int64 items, int64 begin, uint64 *out, int32 mode, int32 mirrored, int32 head_bits, int64 first, int64 last, \
        uint64 *counters
#define SINK \
    Sink { begin, out, mode, mirrored, head_bits, first, last, counters }

// An edge falls down the quadrants of the adjacency matrix, one bit of both ends a level; a draw serves four levels.
extern "C" __global__ void generate_rmat(SINK_PARAMETERS, const WeightRule* __restrict__ rule, int32 scale, uint64 seed,
                                         uint32 a, uint32 ab, uint32 abc) {
    const Shuffle shuffle(seed, scale);
    const uint64 base = hash64(seed);
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        uint64 state = base ^ hash64(static_cast<uint64>(i) + 77), bits = 0, u = 0, v = 0;
        for (int level = 0; level < scale; level++) {
            if ((level & 3) == 0) {
                state += GOLDEN;
                bits = mix(state);
            }
            const uint32 x = static_cast<uint32>(bits & 0xFFFF);
            bits >>= 16;
            const uint64 quadrant = static_cast<uint64>((x >= a) + (x >= ab) + (x >= abc));
            u = u << 1 | quadrant >> 1;
            v = v << 1 | (quadrant & 1);
        }
        tail = static_cast<int64>(shuffle(u));
        head = static_cast<int64>(shuffle(v));
        return true;
    };
    put_all(SINK, items, draw, HashedNegative{rule});
}

// Two ends, each anywhere.
extern "C" __global__ void generate_random(SINK_PARAMETERS, const WeightRule* __restrict__ rule, int64 n, uint64 seed) {
    const uint64 base = hash64(seed);
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        const uint64 r = hash64(base + static_cast<uint64>(i));
        tail = static_cast<int64>(high_product(r, static_cast<uint64>(n)));
        head = static_cast<int64>(high_product(hash64(r ^ 0x1234567), static_cast<uint64>(n)));
        return true;
    };
    put_all(SINK, items, draw, HashedNegative{rule});
}

// Item v * degree + j is the j-th neighbour of v, of a pseudo-random order of all others.
extern "C" __global__ void generate_regular(SINK_PARAMETERS, int64 n, int64 degree, int32 into, uint64 seed) {
    const uint64 base = hash64(seed + 31), others = static_cast<uint64>(n - 1);
    const int bits = bit_width(static_cast<uint64>(n > 2 ? n - 2 : 0));
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        const int64 v = i / degree;
        const Shuffle order(hash64(base + static_cast<uint64>(v)), bits);
        int64 other = static_cast<int64>(nth_distinct(order, static_cast<uint64>(i - v * degree), others));
        if (other >= v) other++;
        tail = into ? other : v;
        head = into ? v : other;
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

// ------------------------------------------------------------------ plain structures

// Pair number r(r+1)/2 + c, 0 <= c <= r, is (c, r).  The square root only has to land near: the two loops make it
// exact.
__device__ __forceinline__ void numbered_pair(int64 p, int64& c, int64& r) {
    r = static_cast<int64>((sqrt(8.0 * static_cast<float64>(p) + 1.0) - 1.0) / 2.0);
    while (r * (r + 1) / 2 > p) r--;
    while ((r + 1) * (r + 2) / 2 <= p) r++;
    c = p - r * (r + 1) / 2;
}

// Two items for each crossing of a grid: the edge to the right, and the edge downwards, of which a road network keeps
// those of the first column, and a quarter of the others.
extern "C" __global__ void generate_lattice(SINK_PARAMETERS, int64 width, int64 height, int32 road, uint64 seed) {
    const uint64 base = hash64(seed + 5);
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        tail = i / 2;
        const int64 y = tail / width, x = tail - y * width;
        if (i % 2 == 0) {
            head = tail + 1;
            return x + 1 < width;
        }
        head = tail + width;
        return y + 1 < height && (!road || x == 0 || (hash64(base + static_cast<uint64>(tail)) & 3) == 0);
    };
    put_all(SINK, items, draw, NeverNegative());
}

// Every pair.
extern "C" __global__ void generate_complete(SINK_PARAMETERS) {
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        numbered_pair(i, tail, head);
        head++;
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

// A path, and after it pairs in a pseudo-random order of all others.
extern "C" __global__ void generate_dense(SINK_PARAMETERS, int64 n, uint64 seed) {
    const uint64 pairs = static_cast<uint64>(n - 1) * static_cast<uint64>(n - 2) / 2;
    const Shuffle order(hash64(seed + 21), pairs != 0 ? bit_width(pairs - 1) : 0);
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        if (i < n - 1) {
            tail = i;
            head = i + 1;
            return true;
        }
        numbered_pair(static_cast<int64>(nth_distinct(order, static_cast<uint64>(i - (n - 1)), pairs)), tail, head);
        head += 2;
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

enum { PATH, SHUFFLED_PATH, STAR, CATERPILLAR };

// Trees of n vertices: a path in the order of the numbers or in a random one that begins with 0; all vertices around
// the one called `hub`; or a path of half the vertices, each with a leaf.
extern "C" __global__ void generate_tree(SINK_PARAMETERS, int32 shape, int64 n, int64 hub, uint64 seed) {
    const uint64 others = static_cast<uint64>(n - 1);
    const Shuffle order(hash64(seed + 41), bit_width(static_cast<uint64>(n > 2 ? n - 2 : 0)));
    const auto at = [&](int64 place) {
        if (shape == PATH || place == 0) return place;
        return 1 + static_cast<int64>(nth_distinct(order, static_cast<uint64>(place - 1), others));
    };
    const auto draw = [&](int64 i, int64& tail, int64& head) {
        const int64 spine = (n + 1) / 2;
        if (shape == STAR) {
            tail = hub;
            head = i < hub ? i : i + 1;
        } else if (shape == CATERPILLAR) {
            tail = i < spine - 1 ? i : i - (spine - 1);
            head = i + 1;
        } else {
            tail = at(i);
            head = at(i + 1);
        }
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

// ------------------------------------------------------------------ cliques with bridges (SSCA#2)

// Item e is pair number e - inside[c] of the clique c that e falls into.  Cliques of one vertex have no edges: the last
// of those that begin at inside[c] is the one that has some.
extern "C" __global__ void generate_cliques(SINK_PARAMETERS, int32 scale, uint64 seed, int64 cliques,
                                            const int64* __restrict__ starts, const int64* __restrict__ inside) {
    const Shuffle shuffle(seed, scale);
    const auto draw = [&](int64 e, int64& tail, int64& head) {
        const int64 c = row_of_arc(inside, e, static_cast<int64>(0), cliques - 1);
        numbered_pair(e - inside[c], tail, head);
        tail = static_cast<int64>(shuffle(static_cast<uint64>(starts[c] + tail)));
        head = static_cast<int64>(shuffle(static_cast<uint64>(starts[c] + head + 1)));
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

// Item i * (scale - 1) + t - 1 may join vertex i to one about 2^t further, t = 1, 2, ..., half as probable with each t.
extern "C" __global__ void generate_bridges(SINK_PARAMETERS, int32 scale, uint64 seed, int64 cliques,
                                            const int64* __restrict__ starts, uint64 limit) {
    const Shuffle shuffle(seed, scale);
    const uint64 base = hash64(seed + 12);
    const auto draw = [&](int64 item, int64& tail, int64& head) {
        const int64 i = item / (scale - 1);
        const int t = static_cast<int>(item - i * (scale - 1)) + 1;
        const uint64 x = hash64(base + static_cast<uint64>(64 * i + t));
        if (x >> 32 >= limit >> (t - 1)) return false;
        const uint64 spread = (x & 0xFFFFFFFF) << (t - 1) >> 32;
        const int64 j = (i + (1ll << t) + static_cast<int64>(spread)) & static_cast<int64>(shuffle.mask);
        const int64 c = row_of_arc(starts, i, static_cast<int64>(0), cliques - 1);
        if (starts[c] <= j && j < starts[c + 1]) return false;
        tail = static_cast<int64>(shuffle(static_cast<uint64>(i)));
        head = static_cast<int64>(shuffle(static_cast<uint64>(j)));
        return true;
    };
    put_all(SINK, items, draw, NeverNegative());
}

// ------------------------------------------------------------------ the order of the vertices

// By which vertices are sorted: the hash of base + v where they are shuffled; else by degree, the greatest first, and
// vertices of one degree by number, which takes head_bits.  Launch: any grid.  Writes keys, where degrees may lie.
extern "C" __global__ void generate_order_keys(int64 n, int32 by_degree, uint64 base, int32 head_bits, uint64* keys) {
    for (int64 v = grid_thread(); v < n; v += grid_threads()) {
        const auto number = static_cast<uint64>(v);
        keys[v] = by_degree ? ~keys[v] << head_bits | number : hash64(base + number);
    }
}

// Launch: any grid; keys are sorted.  Writes the place of every vertex among them.
extern "C" __global__ void generate_numbers(int64 n, int32 by_degree, uint64 base, int32 head_bits,
                                            const uint64* __restrict__ keys, int32* numbers) {
    for (int64 i = grid_thread(); i < n; i += grid_threads()) {
        const uint64 v = by_degree ? keys[i] & ((1ull << head_bits) - 1) : unhash64(keys[i]) - base;
        numbers[v] = static_cast<int32>(i);
    }
}
