/*
The end of phase 4 of filter_boruvka.cu: when few components are left, most of the listed edges are parallel to a lighter
one.  A matrix then takes the lightest bid between each two components, and the last rounds read its rows instead of the
list.  Who hangs on whom is worked out by every block for itself, in shared memory, so that a round has one barrier.
*/
#ifndef GPUGRAPH_FILTER_BORUVKA_MATRIX_CUH
#define GPUGRAPH_FILTER_BORUVKA_MATRIX_CUH

#include "filter_boruvka/base.cuh"

// Two bids, 16 bytes, the most that one load brings.
struct alignas(16) BidPair {
    uint64 bid[2];
};

struct Matrix {
    uint64* cell;  // rows of `stride` bids; then those of rows in two rounds, and of roots in three, that take turns
    uint32 size;   // components

    __device__ __forceinline__ uint32 stride() const { return (size + 1) / 2 * 2; }
    __device__ __forceinline__ uint64* at(int32 a, int32 b) const { return cell + a * stride() + b; }
    __device__ __forceinline__ uint64* row_bids(uint32 round) const { return at(size, 0) + round % 2 * size; }
    __device__ __forceinline__ uint64* root_bids(uint32 round) const { return at(size, 0) + (2 + round % 3) * size; }
    __device__ __forceinline__ uint32 words() const { return size * (stride() + 5); }
};

// Every edge that joins two components bids in both their rows.  `number` is what became of the components of the round
// before, or nullptr.
template <typename Slots>
__device__ void fill_matrix(const Slots& pages, const Holding& held, const int32* number, const Matrix& matrix) {
    for (uint32 first = 0; first < held.edges; first += WARP * PER_THREAD) {
        uint64 bid[PER_THREAD];
        int32 a[PER_THREAD], b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            const uint32 i = first + k * WARP + lane_id();
            const slot_t slot = held.slot(i < held.edges ? i : first);
            const Edge& edge = *pages.at(slot);
            a[k] = edge.a;
            b[k] = i < held.edges ? edge.b : a[k];
            bid[k] = static_cast<uint64>(edge.key) << 32 | static_cast<uint32>(slot);
        }
        if (number != nullptr) {
#pragma unroll
            for (int k = 0; k < PER_THREAD; ++k) {
                a[k] = number[a[k]];
                b[k] = number[b[k]];
            }
        }
        uint64 at_a[PER_THREAD], at_b[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            at_a[k] = a[k] != b[k] ? *matrix.at(a[k], b[k]) : 0;  // race-allowed: the value only falls
            at_b[k] = a[k] != b[k] ? *matrix.at(b[k], a[k]) : 0;  // race-allowed: the value only falls
        }
#pragma unroll
        for (int k = 0; k < PER_THREAD; ++k) {
            if (bid[k] < at_a[k]) atomicMin(matrix.at(a[k], b[k]), bid[k]);
            if (bid[k] < at_b[k]) atomicMin(matrix.at(b[k], a[k]), bid[k]);
        }
    }
}

// Each row bids for the root of its component with the lightest edge that leads to another, and notes it and where it
// leads.
__device__ void bid_by_rows(const Matrix& matrix, const int32* root, uint64* bids, uint64* row_bid, int32* row_to) {
    for (int64 row = grid_thread() / WARP; row < matrix.size; row += grid_threads() / WARP) {
        const int32 own = root[row];
        const BidPair* const pairs = reinterpret_cast<const BidPair*>(matrix.at(static_cast<int32>(row), 0));
        const uint32 count = matrix.stride() / 2;
        uint64 least = NO_BID;
        int32 to = NO_LINK;
        for (uint32 first = lane_id(); first < count; first += WARP * IN_ROW) {
            BidPair pair[IN_ROW];
#pragma unroll
            for (int k = 0; k < IN_ROW; ++k) pair[k] = pairs[first + k * WARP < count ? first + k * WARP : first];
#pragma unroll
            for (int k = 0; k < IN_ROW; ++k) {
                const int32 column = 2 * (first + k * WARP < count ? first + k * WARP : first);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    if (pair[k].bid[i] < least && root[column + i] != own) {
                        least = pair[k].bid[i];
                        to = column + i;
                    }
                }
            }
        }
        const uint64 lightest = warp_min(least);
        if (lightest == NO_BID ? lane_id() == 0 : lightest == least) {
            row_bid[row] = lightest;
            row_to[row] = to;
            if (lightest != NO_BID) lower_to(&bids[own], lightest);
        }
    }
}

// The last rounds, on a matrix that is filled: until no component joins another.  Leaves the root of each in
// shared.root.  `leads_to` is of two words for each component.  Returns the rounds made.  All threads of all
// blocks must call.
template <typename Slots, typename Barrier>
__device__ uint32 finish_on_matrix(Shared& shared, const Matrix& matrix, const Slots& pages, int32* leads_to,
                                   edge_id_t* forest, uint32* forest_edges, const Barrier& barrier) {
    for (uint32 t = threadIdx.x; t < matrix.size; t += BLOCK) shared.root[t] = static_cast<int32>(t);
    __syncthreads();
    uint32 round = 0;
    for (uint32 left = matrix.size, joined = 1; left > 1 && joined != 0; left -= joined, ++round) {
        uint64 *const row_bid = matrix.row_bids(round), *const bids = matrix.root_bids(round);
        int32* const row_to = leads_to + round % 2 * matrix.size;
        bid_by_rows(matrix, shared.root, bids, row_bid, row_to);
        for (int64 t = grid_thread(); t < matrix.size; t += grid_threads()) matrix.root_bids(round + 1)[t] = NO_BID;
        for (uint32 t = threadIdx.x; t < matrix.size; t += BLOCK) shared.other[t] = NO_LINK;
        barrier();
        // The row that has won tells the root where it leads.
        for (uint32 t = threadIdx.x; t < matrix.size; t += BLOCK) {
            const int32 own = shared.root[t];
            const uint64 bid = row_bid[t];
            if (bid == NO_BID || bid != bids[own]) continue;
            shared.other[own] = shared.root[row_to[t]];
            shared.won[own] = static_cast<uint32>(bid);
        }
        __syncthreads();
        // Of two that picked each other the smaller stays a root.
        const auto above = [&](int32 t) {
            const int32 other = shared.other[t];
            return other == NO_LINK || (t < other && shared.other[other] == t) ? t : other;
        };
        joined = 0;
        for (uint32 first = 0; first < matrix.size; first += BLOCK) {
            const int32 t = static_cast<int32>(first + threadIdx.x);
            bool joins = false;
            if (t < matrix.size) {
                int32 root = shared.root[t];
                const bool was_root = root == t;
                for (int32 next = above(root); next != root; next = above(root)) root = next;
                shared.root[t] = root;
                joins = was_root && root != t;
            }
            joined += __syncthreads_count(joins);
        }
    }
    for (int64 first = grid_thread() - lane_id(); first < matrix.size; first += grid_threads()) {
        const int64 t = first + lane_id();
        const bool joined = t < matrix.size && shared.root[t] != t;
        const uint32 place = warp_append(forest_edges, joined);
        if (joined) forest[place] = pages.at(shared.won[t])->id;
    }
    return round;
}

#endif
