/*
A tournament over the candidates of one block: who is the lightest stays known while candidates improve and leave.

Leaf i is the candidate edge of one vertex: its weight as a key, and the tree's end of it.  The leaves lie in groups
of a warp's width; the winner of each group, of each group of groups, and so on up to one, is noted as the number of its
leaf.  An improved candidate climbs as long as it wins; one that leaves has its groups played again by a warp.

    key, from (size)     the leaves; from = NO_VERTEX: no edge yet, JOINED: in the tree
    winner (winners)     the levels behind each other, the winner of all last; NOBODY if all of a group have joined

Invariant.  Between steps every winner is the lightest of its group by (key, smaller endpoint, larger endpoint); a
candidate without an edge comes after all that have one.
*/
#ifndef GPUGRAPH_PRIM_TOURNAMENT_CUH
#define GPUGRAPH_PRIM_TOURNAMENT_CUH

#include "../common.cuh"

// Vertices and leaves are not negative.
constexpr int32 NO_VERTEX = -1;
constexpr int32 JOINED = -2;
constexpr int32 NOBODY = -1;

// ------------------------------------------------------------------ candidates and their order

// An edge from the tree to a vertex outside.
struct Candidate {
    weight_key_t key;
    int32 from;  // in the tree, or NO_VERTEX
    int32 to;    // outside, or NO_VERTEX if there is no candidate at all

    __device__ __forceinline__ uint32 low() const {
        return from == NO_VERTEX ? ~0u : static_cast<uint32>(from < to ? from : to);
    }
    __device__ __forceinline__ uint32 high() const {
        return from == NO_VERTEX ? ~0u : static_cast<uint32>(from < to ? to : from);
    }
};

__device__ __forceinline__ Candidate nobody() { return {NO_KEY, NO_VERTEX, NO_VERTEX}; }

__device__ __forceinline__ bool before(const Candidate& a, const Candidate& b) {
    if (a.to == NO_VERTEX || b.to == NO_VERTEX) return a.to != NO_VERTEX;
    if (a.key != b.key) return a.key < b.key;
    return a.low() != b.low() ? a.low() < b.low() : a.high() < b.high();
}

// Least word of the warp, in every lane: one instruction since sm_80.
__device__ __forceinline__ uint32 least_word(uint32 word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return warp_min(word);
#else
    return __reduce_min_sync(FULL_MASK, word);
#endif
}

// Those of the lanes in `rivals` whose word is the least; all 32 lanes must call with the same rivals.
__device__ __forceinline__ unsigned narrow(unsigned rivals, uint32 word) {
    if ((rivals & (rivals - 1)) == 0) return rivals;  // one is left, or none
    const bool among = (rivals >> lane_id() & 1) != 0;
    const uint32 least = least_word(among ? word : ~0u);
    return __ballot_sync(FULL_MASK, among && word == least);
}

// The lane whose candidate comes first, or -1 if no lane has one.  All 32 lanes must call.
__device__ __forceinline__ int lightest_lane(const Candidate& candidate) {
    unsigned rivals = __ballot_sync(FULL_MASK, candidate.to != NO_VERTEX);
    const uint64 key = candidate.key;
    if (sizeof(weight_key_t) == 8) rivals = narrow(rivals, static_cast<uint32>(key >> 32));
    rivals = narrow(rivals, static_cast<uint32>(key));
    rivals = narrow(rivals, candidate.low());
    rivals = narrow(rivals, candidate.high());
    return first_lane(rivals);
}

// The candidate of one lane, in every lane; of any lane if `lane` is -1, for then none has one.
__device__ __forceinline__ Candidate broadcast(const Candidate& candidate, int lane) {
    const int source = lane < 0 ? 0 : lane;
    return {__shfl_sync(FULL_MASK, candidate.key, source), __shfl_sync(FULL_MASK, candidate.from, source),
            __shfl_sync(FULL_MASK, candidate.to, source)};
}

// ------------------------------------------------------------------ the tournament

// Number of groups that `entries` form, and of winners that a tournament of `size` leaves has on all levels.
__device__ __forceinline__ int32 groups(int32 entries) { return (entries - 1) / WARP + 1; }

__device__ __forceinline__ int32 winners(int32 size) {
    int32 total = 0;
    do {
        size = groups(size);
        total += size;
    } while (size > 1);
    return total;
}

struct Tournament {
    int32 first;  // the vertex of leaf 0
    int32 size;   // leaves, at least 1
    int32 top;    // index of the winner of all
    weight_key_t* key;
    int32* from;
    int32* winner;

    __device__ __forceinline__ bool has(int32 vertex) const { return vertex >= first && vertex - first < size; }

    __device__ __forceinline__ Candidate leaf(int32 i) const {
        if (i == NOBODY || from[i] == JOINED) return nobody();
        return {key[i], from[i], first + i};
    }

    __device__ __forceinline__ Candidate best() const { return leaf(winner[top]); }

    // Every leaf without an edge, the first of each group its winner.  All threads of the block call.
    __device__ __forceinline__ void start() const {
        for (uint32 i = threadIdx.x; i < static_cast<uint32>(size); i += blockDim.x) {
            key[i] = NO_KEY;
            from[i] = NO_VERTEX;
        }
        int32* level = winner;
        int32 entries = size, width = 1;
        do {
            entries = groups(entries);
            width *= WARP;
            const uint32 groups_of_level = static_cast<uint32>(entries);
            for (uint32 g = threadIdx.x; g < groups_of_level; g += blockDim.x) level[g] = static_cast<int32>(g) * width;
            level += entries;
        } while (entries > 1);
    }

    // Leaf i has joined the tree: its groups are played without it.  All lanes of one warp call.
    __device__ __forceinline__ void leave(int32 i) const {
        if (lane_id() == 0) from[i] = JOINED;
        __syncwarp();
        int32* level = winner;
        int32 group = i / WARP, count = groups(size);
        const int32 entry = group * WARP + lane_id();
        Candidate player = leaf(entry < size ? entry : NOBODY);
        for (;;) {
            // The others of the level above are loaded while this one is played, whose winner is yet to be noted.
            const int32 other = group / WARP * WARP + lane_id();
            Candidate above = nobody();
            if (count > 1 && other != group) above = leaf(other < count ? level[other] : NOBODY);
            player = broadcast(player, lightest_lane(player));
            if (lane_id() == 0) level[group] = player.to == NO_VERTEX ? NOBODY : player.to - first;
            if (count == 1) return;
            if (lane_id() != group % WARP) player = above;
            level += count;
            group /= WARP;
            count = groups(count);
        }
    }

    // Offer leaf i the edge of `offered` to `vertex` in the tree; true if it is lighter than what the leaf had.  At
    // most one thread per leaf and step calls.  Of two equal edges to one vertex, that with the smaller other end comes
    // first, whichever end is the smaller of either.
    __device__ __forceinline__ bool offer(int32 i, weight_key_t offered, int32 vertex) const {
        const int32 held = from[i];
        if (held == JOINED || offered > key[i]) return false;
        if (offered == key[i] && held != NO_VERTEX && held < vertex) return false;
        key[i] = offered;
        from[i] = vertex;
        return true;
    }

    // Leaf i has improved: it wins every group up to the first that a lighter one holds.  The leaves do not change
    // meanwhile; several threads may climb at once, and each goes on only from a group that it holds.
    __device__ __forceinline__ void climb(int32 i) const {
        const Candidate mine = leaf(i);
        int32* level = winner;
        int32 entries = size, group = i / WARP;
        for (;;) {
            int32* const cell = &level[group];
            int32 holder = *static_cast<volatile int32*>(cell);
            while (holder != i) {
                if (before(leaf(holder), mine)) return;
                const int32 seen = atomicCAS(cell, holder, i);
                if (seen == holder) break;
                holder = seen;
            }
            entries = groups(entries);
            if (entries == 1) return;
            level += entries;
            group /= WARP;
        }
    }
};

#endif
